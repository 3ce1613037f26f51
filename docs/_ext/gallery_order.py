"""The order of the gallery: what most readers want first comes first."""

from __future__ import annotations

from pathlib import Path

ORDER = (
    *("docstrings", "coloured_words", "number_of_topics", "editing", "seed_words"),
    *("time_and_groups", "labels", "authors", "beside_tfidf", "pipeline"),
    *("cells", "combination", "own_factor"),
)


class ReadingOrder:
    """A sort key of sphinx-gallery: the place of an example in `ORDER`."""

    def __init__(self, src_dir: str) -> None:
        pass

    def __call__(self, filename: str | Path) -> int:
        return ORDER.index(Path(filename).stem.removeprefix("plot_"))

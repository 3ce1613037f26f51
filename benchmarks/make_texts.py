"""Text of any size, from synthetic topics: `python -m benchmarks.make_texts FOLDER --gib 3`.

Words are made up, their frequencies fall as 1 / rank, and each document mixes a few topics. To see
that a fit needs less memory than the texts have:

    python -m benchmarks.make_texts /tmp/texts --gib 3
    (ulimit -v 6000000; topoi fit '/tmp/texts/*.jsonl' --out-of-core --n-components 50)
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

N_TOPICS, N_WORDS, WORDS_PER_DOCUMENT = 100, 50_000, 150
PER_FILE, AT_ONCE = 100_000, 5_000  # documents
SYLLABLES = [a + b for a in "bdfgklmnprstvz" for b in "aeiou"]


def make_texts(folder: Path, gib: float, seed: int = 0) -> int:
    """Write whole .jsonl files until they have so many GiB. Returns the number of documents."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    words = np.array([_word(number) for number in range(N_WORDS)], dtype=object)
    rank = 1 / np.arange(1, N_WORDS + 1)
    topics = [np.cumsum(rank[rng.permutation(N_WORDS)]) for _ in range(N_TOPICS)]
    written, n_docs, n_files = 0, 0, 0
    while written < gib * 2**30:
        with (folder / f"part{n_files:04}.jsonl").open("w") as file:
            for _ in range(PER_FILE // AT_ONCE):
                for row in words[_draw(rng, topics)]:
                    line = json.dumps({"id": str(n_docs), "text": " ".join(row)})
                    written += file.write(line + "\n")
                    n_docs += 1
        n_files += 1
    return n_docs


def _draw(rng: np.random.Generator, topics: list[np.ndarray]) -> np.ndarray:
    """(AT_ONCE, WORDS_PER_DOCUMENT) words, a third of each document from one topic."""
    drawn = np.empty((AT_ONCE, 3, WORDS_PER_DOCUMENT // 3), np.int64)
    chosen = rng.integers(N_TOPICS, size=(AT_ONCE, 3))
    uniform = rng.random(drawn.shape)
    for k, topic in enumerate(topics):
        drawn[chosen == k] = np.searchsorted(topic, uniform[chosen == k] * topic[-1])
    return drawn.reshape(AT_ONCE, -1)


def _word(number: int) -> str:
    """A word of its own for each number."""
    parts = []
    for _ in range(3):
        number, part = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[part])
    return "".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_texts", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gib", type=float, default=3.0, help="size of all files (default 3)")
    args = parser.parse_args()
    print(f"{make_texts(args.folder, args.gib):,} documents")


if __name__ == "__main__":
    main()

"""What a page says about the whole model: what was fitted, how, and how good it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from topoi.evaluate import topic_diversity
from topoi.report.markup import Html, element
from topoi.report.pieces import drawing, facts, percent, small
from topoi.report.words import held_counts

if TYPE_CHECKING:
    from topoi.protocols import FittedModel

__all__ = ["about"]

WIDTH, HEIGHT, LEFT, BOTTOM = 320, 170, 58, 40  # of the curve, in pixels
RISES = 0.05  # of the height of the curve: a rise at its end that people see, and wonder


def about(model: FittedModel, measured: dict[str, float | None] | None) -> Html:
    """A section about the model. measured: what `evaluate.quality` found."""
    return element(
        "section",
        element("h2", "About this model"),
        facts(_facts(model, measured)),
        _curve(model),
        class_="about",
        id="about",
    )


def _facts(
    model: FittedModel, measured: dict[str, float | None] | None
) -> list[tuple[str, Sequence[object]]]:
    found: list[tuple[str, Sequence[object]]] = []
    if hasattr(model, "doc_topic_"):
        found.append(
            (
                "Documents",
                [
                    f"{len(model.doc_topic_):,}, with ",
                    f"{_topics_per_document(model.doc_topic_):.1f} topics on average ",
                    small("(as if equally large)"),
                ],
            )
        )
    tokens = held_counts(model).sum()
    found += [
        ("Words", [f"{model.components_.shape[1]:,} different, {tokens:,.0f} in all"]),
        ("Fitted", [_length(model)]),
        *_convergence(model),
        (
            "Diversity",
            [f"{topic_diversity(model):.2f} ", small("of the topics' top 25 words are different")],
        ),
    ]
    if hasattr(model, "link_weight_"):
        part = percent(model.link_weight_)
        found.append(("Links", [f"linked documents decide {part} of a document's topics"]))
    return found if measured is None else [*found, *_quality(measured)]


def _topics_per_document(doc_topic: np.ndarray) -> float:
    """The mean over documents of exp(entropy of its proportions)."""
    logs = np.log(np.maximum(doc_topic, 1e-300))
    return float(np.exp(-(doc_topic * logs).sum(axis=1)).mean())


def _length(model: FittedModel) -> str:
    """What it is, how long it learned, and in what."""
    history = getattr(model, "history_", None)
    unit = (
        "batches" if not history else "passes" if history[-1]["schedule"] == "batches" else "sweeps"
    )
    asked = model.tol != 0 and not getattr(model, "converged_", True)
    end = ", stopped before it converged" if asked else ""
    return f"{type(model).__name__}, {model.n_iter_} {unit}{end}"


def _convergence(model: FittedModel) -> list[tuple[str, Sequence[object]]]:
    """How far the last sweep was from a fixed point, if there were sweeps."""
    history = getattr(model, "history_", None)
    if not history or history[-1]["schedule"] == "batches":
        return []
    scale = small("largest change of a document's messages in the last sweep: 0 to 2")
    return [("Convergence", [f"{history[-1]['violation']:.2g} ", scale])]


def _quality(measured: dict[str, float | None]) -> list[tuple[str, Sequence[object]]]:
    interval = f"{measured['perplexity_low']:.1f} to {measured['perplexity_high']:.1f}"
    n, seen = measured["documents"], measured["seen_in_training"]
    if seen is None:
        whose = f"{n:,} test documents; without ids it is unknown if the model was trained on them"
    elif seen:
        whose = f"{n:,} documents, {seen:,} of which it was trained on: it looks better than it is"
    else:
        whose = f"{n:,} documents it was not trained on"
    return [
        ("Perplexity", [f"{measured['perplexity']:.1f} ", small(f"({interval}), on {whose}")]),
        ("Coherence", [f"{measured['npmi']:.3f} ", small("NPMI of top words in these documents")]),
    ]


def _curve(model: FittedModel) -> Html:
    """Training perplexity over sweeps, if it was measured."""
    seen = [
        (record["sweep"], record["perplexity"])
        for record in getattr(model, "history_", [])
        if record.get("perplexity") is not None
    ]
    if len(seen) < 2:
        return Html()
    x, y = np.array(seen, dtype=float).T
    across = LEFT + (WIDTH - LEFT - 12) * (x - x[0]) / (x[-1] - x[0])
    down = 10 + (HEIGHT - BOTTOM - 20) * (y.max() - y) / max(np.ptp(y), 1e-12)
    base = HEIGHT - BOTTOM
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(across, down, strict=True))
    middle = (LEFT + WIDTH - 12) / 2
    curve = drawing(
        f"Training perplexity from {y[0]:.0f} in sweep {x[0]:.0f} to {y[-1]:.0f} in {x[-1]:.0f}",
        WIDTH,
        HEIGHT,
        element("line", x1=LEFT, y1=base, x2=WIDTH - 12, y2=base),
        element("line", x1=LEFT, y1=6, x2=LEFT, y2=base),
        element("polyline", points=points),
        element("text", f"{y.max():.0f}", x=LEFT - 6, y=14, class_="end"),
        element("text", f"{y.min():.0f}", x=LEFT - 6, y=base - 6, class_="end"),
        element("text", f"{x[0]:.0f}", x=LEFT, y=base + 15, class_="mid"),
        element("text", f"{x[-1]:.0f}", x=WIDTH - 12, y=base + 15, class_="mid"),
        element("text", "sweep", x=middle, y=base + 32, class_="mid"),
        class_="curve",
    )
    said = [element("h3", "Training perplexity"), curve]
    if y[-1] - y.min() > RISES * np.ptp(y):
        said.append(element("p", _why_it_rises(model), class_="faint"))
    return element("div", *said, class_="learning")


def _why_it_rises(model: FittedModel) -> str:
    if hasattr(model, "link_weight_"):
        return (
            "It may rise: the model fits words and links together, and the more weight it gives to"
            " linked documents, the less closely it fits the words of each document alone."
        )
    if any(record["schedule"] == "afresh" for record in model.history_):
        return (
            "It rises in the last rounds: they infer each document from its words alone, as new"
            " documents will be, so the model fits its training documents less closely."
        )
    return (
        "It may rise: priors are learned, which keeps a model from fitting its training documents"
        " too closely. Only documents it has not seen show how good it is."
    )

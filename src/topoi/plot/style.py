"""What figures share: axes, colours, names of topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from topoi.protocols import FittedModel

__all__ = [
    "ACCENT",
    "COLOUR",
    "FAINT",
    "GRID",
    "INK",
    "axes_for",
    "colours",
    "joined",
    "short_name",
]

COLOUR, INK, FAINT, GRID = "#2b6cb0", "#222222", "#6b7280", "#e5e7eb"
ACCENT = "#c2410c"
LONGEST = 28  # characters of a name that are shown
# Told apart by people with colour vision deficiency as far as so many colours can be.
PALETTE = (
    "#2b6cb0", "#e07b00", "#2f855a", "#b83280", "#7c4fc4", "#0e9aa7", "#c53030", "#8d6e3f",
    "#5a6b7b", "#9aa600", "#63a4e8", "#f5b461", "#7cc79a", "#e48fc0", "#b9a0ea", "#7fd3da",
    "#f08a8a", "#c7ad85", "#a7b3bf", "#d3dc5e",
)  # fmt: skip


def axes_for(ax: Axes | None, width: float, height: float) -> Axes:
    """`ax`, or the axes of a new figure of this size in inches."""
    if ax is None:
        try:
            import matplotlib.pyplot as plt
        except ImportError as error:
            raise ImportError(
                "Figures need matplotlib, which is not installed. Run: pip install 'topoi[plot]'"
            ) from error
        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(GRID)
    ax.tick_params(color=GRID, labelcolor=INK)
    return ax


def figure_of(ax: Axes) -> Figure:
    """The figure that holds the axes."""
    figure = ax.get_figure(root=True)
    assert figure is not None  # axes that were removed from theirs
    return figure


def colours(n: int) -> list[str]:
    """A colour for each of n things; they repeat after twenty."""
    return [PALETTE[i % len(PALETTE)] for i in range(n)]


def short_name(model: FittedModel, topic: int) -> str:
    """The name of a topic beside its number, or its number alone."""
    name = model.topic_names_[topic]
    if name == f"topic{topic}":
        return str(topic)
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1].rstrip()}…"
    return f"{topic}  {joined([short])}"


def joined(words: Sequence[str]) -> str:
    """Words as one line; matplotlib would read dollar signs as mathematics."""
    return "  ".join(words).replace("$", r"\$")

"""Figures of fits: how they converge, and the choice of the number of topics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from topoi.evaluate.selection import Choice
from topoi.plot.style import ACCENT, COLOUR, FAINT, GRID, INK, axes_for

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from topoi.protocols import FittedModel

__all__ = ["choice", "convergence"]


def convergence(model: FittedModel, *, ax: Axes | None = None) -> Axes:
    """Training perplexity after each sweep, with the kinds of sweeps that "auto" made.

    Parameters
    ----------
    model : fitted model
        A topoi model whose fit measured perplexity (`evaluate_every`).
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, plot
    >>> model = LDA(3, max_iter=15).fit(datasets.make_lda()[0])
    >>> plot.convergence(model).get_ylabel()
    'training perplexity'
    """
    check_is_fitted(model)
    measured = [
        record for record in getattr(model, "history_", []) if record["perplexity"] is not None
    ]
    if not measured:
        raise ValueError(
            "The fit measured no perplexity, so there is nothing to draw; fit with"
            " evaluate_every=1 or more."
        )
    sweeps = np.array([record["sweep"] for record in measured])
    kinds = [record["schedule"] for record in measured]
    ax = axes_for(ax, 6.5, 4)
    ax.plot(
        sweeps, [record["perplexity"] for record in measured], "o-", color=COLOUR, markersize=3.5
    )
    starts = [i for i, kind in enumerate(kinds) if i == 0 or kind != kinds[i - 1]]
    for i in starts if len(set(kinds)) > 1 else []:
        ax.axvline(sweeps[i], color=GRID, linewidth=1, zorder=0)
        ax.annotate(
            kinds[i], (sweeps[i], 1), (3, -2), xycoords=("data", "axes fraction"),
            textcoords="offset points", rotation=90, va="top", size=8, color=FAINT,
        )  # fmt: skip
    rises = measured[-1]["perplexity"] > measured[0]["perplexity"]
    why = "\nIt may rise on training documents while priors are learned." if rises else ""
    ax.set(xlabel=f"sweep{why}", ylabel="training perplexity")
    said = "converged" if model.converged_ else "not converged"
    ax.set_title(f"{said} after {model.n_iter_} sweeps", loc="left", color=INK)
    return ax


def choice(found: Choice, *, ax: Axes | None = None) -> Axes:
    """Held-out perplexity and stability over the number of topics.

    Parameters
    ----------
    found : Choice
        What `evaluate.choose_n_components` returned.
    ax : matplotlib.axes.Axes, default=None
        Where to draw; None makes a figure. Stability gets an axis on the right side.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from topoi import LDA, datasets, evaluate, plot
    >>> corpus, _ = datasets.make_blocks(n_topics=3)
    >>> found = evaluate.choose_n_components(LDA(max_iter=20), corpus, [2, 3, 6], n_seeds=2)
    >>> plot.choice(found).get_title(loc="left")
    'Recommended: 3 topics'
    """
    table = found.table
    ax = axes_for(ax, 6.5, 4)
    right = ax.twinx()
    right.plot(table.index, table["stability"], "s--", color=FAINT, markersize=4, linewidth=1)
    right.set(ylim=(0, 1.05))
    right.set_ylabel("stability (dashed)", color=FAINT)
    right.tick_params(color=GRID, labelcolor=FAINT)
    for spine in right.spines.values():
        spine.set_visible(False)
    ax.set_zorder(right.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.errorbar(
        table.index, table["perplexity"], table["perplexity_se"], fmt="o-", color=COLOUR,
        markersize=5, capsize=3, label="held-out perplexity",
    )  # fmt: skip
    if found.best is not None:
        at = table.loc[found.best, "perplexity"]
        ax.plot(found.best, at, "o", markersize=13, fillstyle="none", color=ACCENT, mew=2)
    if table.index.min() > 0 and table.index.max() / table.index.min() > 5:
        ax.set_xscale("log")
        ax.minorticks_off()
    ax.set_xticks(table.index, [f"{k:g}" for k in table.index])
    ax.set(xlabel="topics", ylabel="held-out perplexity")
    title = (
        "No recommendation: try more topics"
        if found.best is None
        else f"Recommended: {found.best} topics"
    )
    ax.set_title(title, loc="left", color=INK)
    return ax

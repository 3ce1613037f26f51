"""The links of CORA that the paper used point at the neighbours of the cited papers: the evidence,
by text, author and class.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from experiments.harness import Cell, Part, cells, corpus
from experiments.page import YES, Claim, Report, as_markdown, panels
from topoi.evaluate import cosine_scores, link_pairs, random_non_links

SHIFTS = range(-3, 4)
RIGHT, TOOLBOX, RANDOM = "links of the R package", "links of the paper's toolbox", "random pairs"
ALIKE = ("TF-IDF cosine", "common author", "same class")


def grid(quick: bool) -> list[Cell]:
    return cells(set=["cora"])


def measure_pairs(data: Path, set: str) -> list[dict[str, Any]]:
    """How much documents have in common that links of each kind join."""
    whole, (directed, toolbox) = corpus(data, set), both_links(data)
    pairs = {
        RIGHT: directed,
        TOOLBOX: toolbox[toolbox[:, 0] != toolbox[:, 1]],
        RANDOM: random_non_links(directed, whole.n_docs, 20_000),
        **{shifted(shift): moved(directed, whole.n_docs, shift) for shift in SHIFTS if shift},
    }
    return [{"pairs": name, **alike(whole, ends)} for name, ends in pairs.items()]


def measure_matrices(data: Path, set: str) -> list[dict[str, Any]]:
    return same_matrix(*both_links(data), corpus(data, set).n_docs)


PARTS = (
    Part("shift", measure_pairs, grid, processes=1),
    Part("shift_matrices", measure_matrices, grid, processes=1),
)


def report(frames: dict[str, pd.DataFrame], quick: bool) -> Report:
    results, facts = frames["shift"], frames["shift_matrices"]
    shown = results.drop(columns=["set", "seconds", "code"], errors="ignore").set_index("pairs")
    shown["number"] = shown["number"].map("{:,}".format)
    shown[list(ALIKE)] = shown[list(ALIKE)].map("{:.3f}".format)
    numbers = facts.set_index("fact")["number"]
    tables = {
        "shift": as_markdown(shown),
        "shift, matrices": as_markdown(numbers.map("{:,}".format).to_frame()),
    }
    right, toolbox, chance = (
        results.set_index("pairs").loc[name] for name in (RIGHT, TOOLBOX, RANDOM)
    )
    claim = Claim(
        "CORA has 8651 links",
        YES
        if toolbox["same class"] > (right["same class"] + chance["same class"]) / 2
        else "only as a count: they are shifted by one",
        f"same class: {toolbox['same class']:.3f}, right links {right['same class']:.3f}, random"
        f" pairs {chance['same class']:.3f}",
        f"The matrix has {numbers.iloc[0]:,} entries, and {numbers.iloc[2]:,} of them are the"
        " right links with the cited end moved by one; pairs that it joins are of one class in"
        f" {toolbox['same class']:.3f} of the cases, random pairs in {chance['same class']:.3f},"
        f" right links in {right['same class']:.3f}.",
    )
    return Report(tables, [claim], lambda: figure(results))


def both_links(data: Path) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of the R package and of the paper's toolbox."""
    with np.load(data / "cora" / "cora.npz", allow_pickle=False) as arrays:
        return arrays["links"], arrays["links_paper"]


def shifted(shift: int) -> str:
    return f"cited paper moved by {shift:+d}" if shift else RIGHT


def moved(links: np.ndarray, n_docs: int, shift: int) -> np.ndarray:
    """Links whose second end points `shift` documents further on; those that fall off the edge, or
    on themselves, are left out.
    """
    ends = links + np.array([0, shift])
    return ends[(ends[:, 1] >= 0) & (ends[:, 1] < n_docs) & (ends[:, 0] != ends[:, 1])]


def alike(whole: Any, pairs: np.ndarray) -> dict[str, Any]:
    """How much the two documents of a pair have in common, on average; classes only where both are
    known.
    """
    words = sparse.csr_array(TfidfTransformer().fit_transform(whole.counts))
    authors = whole.authors.matrix
    labels = np.array([row[0] if row else "" for row in whole.labels])
    first, second = pairs.T
    known = (labels[first] != "") & (labels[second] != "")
    shared = np.asarray(authors[first].multiply(authors[second]).sum(axis=1)).ravel()
    return {
        "number": len(pairs),
        "TF-IDF cosine": round(float(cosine_scores(words, pairs).mean()), 4),
        "common author": round(float((shared > 0).mean()), 4),
        "same class": round(float((labels[first] == labels[second])[known].mean()), 4),
    }


def same_matrix(directed: np.ndarray, toolbox: np.ndarray, n_docs: int) -> list[dict[str, Any]]:
    """Move the cited end of the right links by -1, make them symmetric: is that the toolbox's
    matrix, entry by entry?
    """
    ends = directed + np.array([0, -1])
    ends = ends[ends[:, 1] >= 0]
    made = {tuple(pair) for pair in np.vstack([ends, ends[:, ::-1]]).tolist()}
    there = {tuple(pair) for pair in toolbox.tolist()}
    facts = {
        "entries of the toolbox's matrix": len(there),
        "entries of the right links, cited end moved by -1, made symmetric": len(made),
        "entries in both": len(made & there),
        "self-links in the toolbox's matrix": sum(a == b for a, b in there),
        "pairs in the right links that are in the toolbox's matrix too": len(
            {tuple(pair) for pair in link_pairs(directed, n_docs).tolist()} & there
        ),
    }
    return [{"fact": fact, "number": number} for fact, number in facts.items()]


def figure(results: pd.DataFrame):
    """Similarity of the two ends when the cited one is moved."""
    drawn, axes = panels(["cora"], "mean TF-IDF cosine", "cited paper moved by")
    cosine = results.set_index("pairs")["TF-IDF cosine"]
    axes["cora"].bar(list(SHIFTS), [cosine[shifted(shift)] for shift in SHIFTS])
    return drawn

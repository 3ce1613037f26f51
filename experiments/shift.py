"""The links of CORA that the paper used point at the neighbours of the cited papers: the evidence,
by text, author and class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from experiments.harness import Run, as_markdown, corpus, panels
from topoi.evaluate import cosine_scores, link_pairs, random_non_links

SHIFTS = range(-3, 4)


def experiment(run: Run) -> None:
    whole = corpus(run.data, "cora")
    with np.load(run.data / "cora" / "cora.npz", allow_pickle=False) as arrays:
        directed, toolbox = arrays["links"], arrays["links_paper"]
    pairs = {
        "links of the R package": directed,
        "links of the paper's toolbox": toolbox[toolbox[:, 0] != toolbox[:, 1]],
        "random pairs": random_non_links(directed, whole.n_docs, 20_000),
        **{
            f"cited paper moved by {shift:+d}": moved(directed, whole.n_docs, shift)
            for shift in SHIFTS
            if shift
        },
    }
    results = pd.DataFrame([{"pairs": name, **alike(whole, ends)} for name, ends in pairs.items()])
    shown = results.set_index("pairs").assign(
        number=results["number"].map("{:,}".format).to_numpy()
    )
    shown[["TF-IDF cosine", "common author", "same class"]] = shown[
        ["TF-IDF cosine", "common author", "same class"]
    ].map("{:.3f}".format)
    tables = {
        "shift": as_markdown(shown),
        "shift, matrices": as_markdown(same_matrix(directed, toolbox, whole.n_docs)),
    }
    run.publish("shift", results, tables, figure(whole, directed))


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


def same_matrix(directed: np.ndarray, toolbox: np.ndarray, n_docs: int) -> pd.DataFrame:
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
    return pd.DataFrame(
        {"number": [f"{value:,}" for value in facts.values()]}, index=pd.Index(facts, name="fact")
    )


def figure(whole: Any, directed: np.ndarray):
    """Similarity of the two ends when the cited one is moved."""
    drawn, axes = panels(["cora"], "mean TF-IDF cosine", "cited paper moved by")
    axes["cora"].bar(
        list(SHIFTS),
        [alike(whole, moved(directed, whole.n_docs, shift))["TF-IDF cosine"] for shift in SHIFTS],
    )
    return drawn

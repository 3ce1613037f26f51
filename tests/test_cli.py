"""The command, and the corpus it shows off with."""

from __future__ import annotations

import numpy as np
from typer.testing import CliRunner

from topoi import datasets
from topoi.cli import app


def test_help_lists_the_commands():
    result = CliRunner().invoke(app, ["--help"])
    assert result.exit_code == 0
    assert "demo" in result.output


def test_demo_corpus_is_real():
    corpus = datasets.load_demo()
    assert corpus.n_docs > 1500
    assert corpus.counts.sum(axis=1).min() >= 0
    assert len(corpus.links) > 1000
    assert corpus.links.max() < corpus.n_docs
    assert (corpus.links[:, 0] != corpus.links[:, 1]).all()
    names = np.asarray(corpus.doc_names)
    butter = np.flatnonzero(names == "scipy.signal.butter")[0]
    assert "filter" in np.asarray(corpus.vocabulary)[corpus.counts[[butter]].indices]
    assert corpus.labels[butter] == ["scipy.signal"]
    assert any("Breiman" in author for row in corpus.authors for author in row)


def test_demo_shows_four_models():
    result = CliRunner().invoke(app, ["demo", "--topics", "10"])
    assert result.exit_code == 0, result.output
    for title in ("LDA:", "Author-topic model:", "Relational model:", "Labeled LDA:", "held-out perplexity"):
        assert title in result.output


def test_bad_number_of_topics_is_refused():
    result = CliRunner().invoke(app, ["demo", "--topics", "0"])
    assert result.exit_code == 2

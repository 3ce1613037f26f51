"""The factor graph made visible: in words, as a drawing, and edge by edge."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from support import ask, run

import topoi
from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel


@pytest.fixture(scope="module")
def models(authored, linked, labeled, mixed, fitted):
    return {
        "LDA": (fitted, mixed[0]),
        "AuthorTopicModel": (AuthorTopicModel(5, max_iter=5).fit(authored[0]), authored[0]),
        "RelationalTopicModel": (
            RelationalTopicModel(6, link_weight=0.2, max_iter=5).fit(linked[0]),
            linked[0],
        ),
        "LabeledLDA": (LabeledLDA(max_iter=5).fit(labeled[0]), labeled[0]),
    }


KINDS = ["LDA", "AuthorTopicModel", "RelationalTopicModel", "LabeledLDA"]


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_is_described_by_its_factors(models, kind):
    text = str(models[kind][0].graph())
    assert text.startswith(f"Factor graph of {kind}: ")
    assert ("theta[a]" in text) == (kind == "AuthorTopicModel")
    assert ("eta[c]" in text) == (kind == "RelationalTopicModel")
    assert ("labels" in text) == (kind == "LabeledLDA")


@pytest.mark.parametrize("kind", KINDS)
def test_drawings_show_all_nodes_of_the_fragment(models, kind):
    graph = models[kind][0].graph()
    root = ElementTree.fromstring(graph.svg())
    shown = [node.text for node in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {"z[w,d]", "z[-w,d]", "z[w,-d]", "phi[w]"} <= set(shown)
    assert graph._repr_svg_() == graph.svg()
    dot = graph.dot()
    assert all(f'label="{name}"' in dot for name in shown)
    assert dot.count(" -- ") == (6 if kind == "RelationalTopicModel" else 4)
    arrows = [n for n in root.iter("{http://www.w3.org/2000/svg}line") if n.get("marker-end")]
    assert len(arrows) == (3 if kind == "RelationalTopicModel" else 2), (
        "one per factor that sends it a message"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_message_of_an_edge_is_the_product_of_those_it_hears(models, kind):
    model, corpus = models[kind]
    word = corpus.words[corpus.counts.indices[2]]
    edge = model.graph(corpus).edge(0 if corpus.doc_names is None else corpus.doc_names[0], word)
    messages = edge.messages
    product = messages.iloc[:, 2] * messages.iloc[:, 3]
    np.testing.assert_allclose(messages["message"], product / product.sum(), atol=1e-6)
    np.testing.assert_allclose(messages["message"], model.messages(corpus)[2], atol=1e-6)
    np.testing.assert_allclose(messages.iloc[:, 2:].sum(), 1)
    assert edge.count == corpus.counts.data[2]
    assert len(edge.same_document) == np.diff(corpus.counts.indptr)[0] - 1
    assert word not in edge.same_document
    assert bool(edge.authors) == (corpus.authors is not None)


def test_the_document_says_what_its_other_words_say(fitted, mixed):
    counts = mixed[0].counts
    messages = fitted.messages(counts).astype(np.float64)[: counts.indptr[1]]
    others = np.delete(counts.data[: len(messages), None] * messages, 4, axis=0).sum(axis=0)
    expected = others + fitted.doc_topic_prior_
    edge = fitted.graph(counts).edge(0, f"word{counts.indices[4]}" if fitted.vocabulary_ is None
                                     else fitted.vocabulary_[counts.indices[4]])  # fmt: skip
    found = edge.messages["from document"]
    np.testing.assert_allclose(found, expected / expected.sum(), atol=5e-3)


def test_documents_with_names_also_have_numbers():
    corpus = topoi.read(
        [{"id": name, "text": "cat dog"} for name in "xy"], doc_names="id", max_df=1.0
    )
    graph = LDA(2, max_iter=2).fit(corpus).graph(corpus)
    assert graph.edge(1, "cat").document == graph.edge("y", "cat").document == "y"
    with pytest.raises(ValueError, match="'2' is not a document of X"):
        graph.edge(2, "cat")


def test_edges_that_are_not_there_are_refused(fitted, mixed):
    with pytest.raises(ValueError, match="give them"):
        fitted.graph().edge(0, "x")
    graph = fitted.graph(mixed[0])
    with pytest.raises(ValueError, match="not a document of X"):
        graph.edge("nowhere", mixed[0].words[0])
    with pytest.raises(ValueError, match="not a word of the model"):
        graph.edge(0, "nothing")
    absent = next(w for w in range(80) if mixed[0].counts[0, w] == 0)
    with pytest.raises(ValueError, match="does not hold the word"):
        graph.edge(0, mixed[0].words[absent])


def test_the_command_describes_and_draws(work, tmp_path):
    assert run("graph", work / "links.topoi").stdout.startswith("Factor graph of Relational")
    run("graph", work / "lda.topoi", "--svg", tmp_path / "g.svg", "--dot", tmp_path / "g.dot")
    assert (tmp_path / "g.svg").read_text() == ask("graph", work / "lda.topoi")["svg"]
    assert (tmp_path / "g.dot").read_text().startswith("graph topoi {")
    run("graph", work / "lda.topoi", "--svg", tmp_path / "g.svg", code=2)

"""Author-topic, relational, labeled and mixed models: equivalences, twins, recovery of planted
truth, questions one can ask.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from conftest import COMBINATIONS, every_model_combination, infer_twin, tune
from scipy import sparse
from sklearn import config_context
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from topoi import (
    LDA,
    Authors,
    AuthorTopicModel,
    Documents,
    LabeledLDA,
    Labels,
    Links,
    RelationalTopicModel,
    TopicModel,
    Words,
    datasets,
    read,
)
from topoi.corpus.metadata import adjacency
from topoi.evaluate import completion_perplexity, match_topics
from topoi.graph.factors import compile_factors, make_plan
from topoi.graph.wiring import build_graph
from topoi.infer import reference
from topoi.infer.engine import sweep
from topoi.infer.recipe import named_schedule
from topoi.infer.rules import make_rule
from topoi.infer.state import State
from topoi.infer.tables import blank_tables
from topoi.infer.threads import ThreadPool

pytestmark = pytest.mark.usefixtures("warm_up_always")


@pytest.fixture(scope="module")
def small():
    corpus, _ = datasets.make_lda(60, 40, 4, doc_length=25, random_state=3)
    return corpus.counts


def several_blocks(monkeypatch):
    tune(monkeypatch, edges_per_cell=60)


# ------------------------------------------------------------------------------------- equivalences


@every_model_combination
def test_models_reduce_to_lda_bit_for_bit(small, rule, schedule, monkeypatch):
    several_blocks(monkeypatch)
    options = {"rule": rule, "schedule": schedule, "max_iter": 12, "tol": 0}
    lda = LDA(4, **options).fit(small)
    n = small.shape[0]
    private = [[f"author{(7 * d) % n}"] for d in range(n)]
    twins = [
        AuthorTopicModel(4, **options).fit(small, authors=private),
        AuthorTopicModel(4, **options).fit(small),
        RelationalTopicModel(4, link_weight=0.0, **options).fit(small, links=[(0, 1), (2, 3)]),
        RelationalTopicModel(4, link_weight=0.3, **options).fit(small),
        LabeledLDA(**options).fit(small, np.ones((n, 4))),
        TopicModel([Words(small), Labels([[0, 1, 2, 3]] * n)], **options).fit(),
    ]
    for model in twins:
        np.testing.assert_array_equal(
            model.components_, lda.components_, err_msg=type(model).__name__
        )
        np.testing.assert_array_equal(
            model.doc_topic_, lda.doc_topic_, err_msg=type(model).__name__
        )


# -------------------------------------------------------------------------------------------- twins


def factor_lists(n_docs):
    rng = np.random.default_rng(5)
    authors = [
        [f"a{j}" for j in rng.choice(8, rng.integers(0, 4), replace=False)] for _ in range(n_docs)
    ]
    links = [(int(a), int(b)) for a, b in rng.integers(0, n_docs, (25, 2))]
    labels = [
        [int(k) for k in rng.choice(4, rng.integers(0, 4), replace=False)] for _ in range(n_docs)
    ]
    return {
        "authors": lambda: [Authors(authors)],
        "authors with learned proportions": lambda: [Authors(authors, "learned")],
        "links": lambda: [Documents(), Links(links, 0.2)],
        "links as in the paper": lambda: [Documents(), Links(links, 0.2, "paper")],
        "labels": lambda: [Documents(), Labels(labels, 1, np.arange(4))],
        "all of them": lambda: [
            Authors(authors, "learned"),
            Links(links, 0.2, "identity"),
            Labels(labels, 1, np.arange(4)),
        ],
    }


@pytest.mark.parametrize("name", list(factor_lists(1)))
@pytest.mark.parametrize(("rule_name", "schedule_name"), COMBINATIONS)
def test_kernels_equal_their_twins_with_every_factor(small, name, rule_name, schedule_name):
    counts = small[:25]
    rule = make_rule(rule_name)
    schedule = replace(named_schedule(schedule_name, rule), relax_after=0)
    graph = compile_factors(
        [Words(counts), *factor_lists(25)[name]()], 5, tokens=rule.tokens, blocks=3
    )
    with ThreadPool(2) as pool:
        state = State.start(graph, rule, np.linspace(0.05, 0.2, 5), 0.05, seed=1, pool=pool)
        tables, mu, z = (
            reference.doubled(state.tables),
            state.messages.mu.astype(float),
            state.messages.z.copy(),
        )
        for _ in range(3):
            params = state.params(
                rule, in_place=schedule.in_place, relaxation=schedule.relaxation_at(state.sweep)
            )
            sweep(
                state, rule, schedule, pool
            )  # the twin sees the order and the fields that this sweep used
            if rule.draws:
                reference.gibbs(graph, tables, z, state.messages, state.fields, params)
            elif schedule.afresh:
                _, tables = infer_twin(state, rule, tables, mu, params)
            else:
                read, seen = rule.seen(tables, params)
                write = (
                    tables
                    if schedule.in_place
                    else reference.doubled(blank_tables(graph, graph.word_base))
                )
                reference.sweep(graph, read, write, mu, state.messages, state.fields, seen)
                tables = write
            for ours, twin in zip(state.tables, tables, strict=True):
                np.testing.assert_allclose(ours, twin, rtol=1e-4, atol=2e-4)
            np.testing.assert_array_equal(state.messages.z, z)
            np.testing.assert_allclose(state.messages.mu, mu, rtol=0, atol=1e-5)


@pytest.mark.parametrize("factor", ["paper", "learned", "identity"])
def test_link_field_is_the_equation(small, factor):
    counts = small[:12]
    links = Links([(0, 1), (1, 2), (5, 5), (3, 7)], 0.2, factor)
    graph = compile_factors([Words(counts), Documents(), links], 4)
    assert graph.fields == (links,)
    rng = np.random.default_rng(0)
    proportions, tokens = rng.dirichlet(np.ones(4), 12), counts.sum(axis=1)
    message = links.learned_message(proportions, tokens, {})[0]
    neighbours = {0: [1], 1: [0, 2], 2: [1], 3: [7], 7: [3]}
    pairs = [(d, e) for d, es in neighbours.items() for e in es]
    if factor == "paper":
        joint = sum(
            np.outer(tokens[d] * proportions[d], tokens[e] * proportions[e]) for d, e in pairs
        )
    else:  # the first EM step, link by link, from joint = I + 1/4, whose lift is itself over 4
        odds = [np.outer(proportions[d], proportions[e]) * (np.eye(4) + 0.25) for d, e in pairs]
        joint = sum(table / table.sum() for table in odds)
    eta = np.eye(4) if factor == "identity" else joint / joint.sum(axis=1, keepdims=True)
    for d in range(12):
        expected = sum((eta @ proportions[e] for e in neighbours.get(d, [])), np.zeros(4))
        expected = expected / expected.sum() if expected.sum() else expected
        np.testing.assert_allclose(message[d], expected, rtol=1e-4, atol=1e-15)


# -------------------------------------------------------------------------------------- determinism


@pytest.mark.parametrize(
    ("rule", "schedule"), [("bp", "asynchronous"), ("bp", "synchronous"), ("gibbs", "asynchronous")]
)
def test_same_bits_for_any_number_of_threads(rule, schedule, monkeypatch):
    several_blocks(monkeypatch)
    corpus, _ = datasets.make_authors(80, 10, 40, 4, doc_length=30)
    links = [(d, (3 * d) % 80) for d in range(80)]
    fits = [
        TopicModel(
            [Words(corpus.counts), Authors(corpus.authors, "learned"), Links(links, 0.2)],
            4,
            rule=rule,
            schedule=schedule,
            max_iter=15,
            n_jobs=n,
        ).fit()
        for n in (1, 2, 4)
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.components_, fits[0].components_)
        np.testing.assert_array_equal(other.owner_topic_, fits[0].owner_topic_)


# ------------------------------------------------------------------------------------------ authors


@pytest.fixture(scope="module")
def authored():
    return datasets.make_authors(400, 15, 120, 5, doc_length=80, alpha=0.08, random_state=1)


@pytest.mark.parametrize(
    ("rule", "prior"), [("bp", "uniform"), ("bp", "learned"), ("gibbs", "uniform")]
)
def test_planted_authors_are_found(authored, rule, prior):
    corpus, truth = authored
    model = AuthorTopicModel(5, rule=rule, author_prior=prior, max_iter=150).fit(corpus)
    partner, similarity = match_topics(model, truth.topic_word)
    assert similarity.min() > 0.95
    assert model.author_names_.tolist() == [f"author{a:02d}" for a in range(15)]
    error = np.abs(model.author_topic_ - truth.author_topic[:, partner]).sum(axis=1)
    assert np.median(error) < 0.3
    np.testing.assert_allclose(model.author_topic_.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)


def test_author_questions(authored):
    corpus, truth = authored
    model = AuthorTopicModel(5, max_iter=100).fit(corpus)
    similar = model.similar_authors("author03", n=14)
    assert len(similar) == 14
    assert "author03" not in dict(similar)
    assert all(a >= b for (_, a), (_, b) in pairwise(similar))
    partner, _ = match_topics(model, truth.topic_word)
    topic = int(np.flatnonzero(partner == truth.author_topic[3].argmax())[0])
    assert "author03" in dict(model.authors_of_topic(topic, n=8))
    words = model.top_words(3)[topic]
    likely = [name for name, _ in model.who_writes_about(" ".join(words), n=5)]
    expected = [
        f"author{a:02d}"
        for a in np.argsort(-truth.author_topic[:, truth.author_topic[3].argmax()])[:8]
    ]
    assert set(likely) <= set(expected)
    solo = np.array([[f"author{a:02d}"] for a in range(15)])
    texts = np.array(
        [
            np.random.default_rng(a).multinomial(300, truth.author_topic[a] @ truth.topic_word)
            for a in range(15)
        ],
        dtype=float,
    )
    predicted = model.predict_authors(texts, n=2)
    assert np.mean([solo[a][0] in dict(predicted[a]) for a in range(15)]) > 0.7
    assert abs(sum(p for _, p in model.predict_authors(texts[:1], n=15)[0]) - 1) < 1e-9
    with pytest.raises(ValueError, match=r"no author 'author'.*did you mean author00"):
        model.similar_authors("author")
    with pytest.raises(ValueError, match="topics are numbered 0 to 4"):
        model.authors_of_topic(5)
    with pytest.raises(ValueError, match="in the vocabulary"):
        model.who_writes_about("nonsense")


def test_transform_with_known_new_and_no_authors(authored):
    corpus, _ = authored
    model = AuthorTopicModel(5, max_iter=60).fit(corpus[:300])
    new = corpus[300:320]
    known = model.transform(new.counts, authors=new.authors)
    unknown = model.transform(new.counts, authors=[["nobody"]] * 20)
    alone = model.transform(new.counts)
    empty = model.transform(new.counts, authors=[[]] * 20)
    for proportions in (known, unknown, alone, empty):
        assert proportions.shape == (20, 5)
        np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_allclose(empty, alone, atol=2e-3)
    assert np.ptp(unknown, axis=0).max() < 1e-9  # one new author has one set of proportions
    forms = [
        completion_perplexity(
            model, new.counts, authors=new.authors, author_shares=proportions, known_authors=keep
        )
        for proportions, keep in [("uniform", False), ("learned", False), ("uniform", True)]
    ]
    assert all(10 < p < 120 for p in forms)
    assert forms[2] < forms[0]  # what authors wrote before helps


def test_fifty_coauthors_and_documents_without_authors():
    corpus, _ = datasets.make_lda(30, 50, 3)
    authors = [[f"a{i}" for i in range(50)], []] + [["a1"] if d % 2 else [] for d in range(28)]
    model = AuthorTopicModel(3, max_iter=10).fit(corpus.counts, authors=authors)
    assert model.author_topic_.shape == (50, 3)
    assert np.isfinite(model.author_topic_).all()
    matrix = sparse.csr_array(np.random.default_rng(0).random((30, 6)) > 0.7)
    assert AuthorTopicModel(3, max_iter=3).fit(
        corpus.counts, authors=matrix
    ).author_topic_.shape == (6, 3)


# -------------------------------------------------------------------------------------------- links


@pytest.fixture(scope="module")
def linked():
    return datasets.make_links(400, 300, 6, doc_length=15, links_per_doc=5, random_state=2)


def test_links_help_new_documents_and_shuffled_links_do_not():
    corpus, _ = datasets.make_links(500, 200, 6, doc_length=12, links_per_doc=5, random_state=2)
    options = {"doc_topic_prior": 0.05, "topic_word_prior": 0.05, "max_iter": 80, "random_state": 1}
    counts, train, test = corpus.counts, np.arange(400), np.arange(400, 500)
    table = sparse.csr_array((np.ones(len(corpus.links)), tuple(corpus.links.T)), shape=(500, 500))
    order = np.random.default_rng(0).permutation(500)

    def perplexity(table):
        model = RelationalTopicModel(6, link_factor="identity", **options).fit(
            counts[train], links=table[train][:, train]
        )
        return model.link_weight_, completion_perplexity(
            model, counts[test], held_out=0.8, links=table[test][:, train]
        )

    lda = completion_perplexity(LDA(6, **options).fit(counts[train]), counts[test], held_out=0.8)
    weight, right = perplexity(table)
    placebo_weight, placebo = perplexity(table[order][:, order])
    assert right < 0.98 * lda
    assert right < 0.98 * placebo
    assert weight > 2 * placebo_weight
    assert placebo_weight < 0.1


def test_planted_links_are_predicted(linked):
    corpus, _ = linked
    model = RelationalTopicModel(6, link_weight=0.15, max_iter=60).fit(corpus)
    assert model.link_topic_.shape == (6, 6)
    np.testing.assert_allclose(model.link_topic_.sum(axis=1), 1, rtol=1e-9)
    assert (np.diag(model.link_topic_) > 1 / 6).all()
    rng = np.random.default_rng(0)
    linked_scores = model.predict_links(corpus.links)
    random_scores = model.predict_links(rng.integers(0, 400, (1000, 2)))
    assert np.mean(linked_scores[:, None] > random_scores[None, :]) > 0.75
    lists = model.predict_links(corpus.counts[:3], n=7)
    assert [len(row) for row in lists] == [7, 7, 7]
    assert all(a >= b for (_, a), (_, b) in pairwise(lists[0]))


def test_all_forms_of_links_agree(linked):
    corpus, _ = linked
    counts, pairs = corpus.counts, np.unique(corpus.links, axis=0)
    matrix = sparse.csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(400, 400))
    lists = [matrix.indices[matrix.indptr[d] : matrix.indptr[d + 1]].tolist() for d in range(400)]
    ids = [f"doc{d}" for d in range(400)]
    by_id = [[f"doc{e}" for e in row] + ["elsewhere"] for row in lists]
    fits = [
        RelationalTopicModel(6, link_weight=0.2, max_iter=5).fit(counts, **links)
        for links in (
            {"links": pairs},
            {"links": [tuple(p) for p in pairs]},
            {"links": matrix},
            {"links": lists},
            {"links": by_id, "doc_ids": ids},
        )
    ]
    for other in fits[1:]:
        np.testing.assert_array_equal(other.components_, fits[0].components_)
    new = counts[:4]
    to_training = sparse.csr_array((np.ones(2), ([0, 1], [7, 9])), shape=(4, 400))
    a = fits[0].transform(new, links=to_training)
    b = fits[0].transform(new, links=[[7], [9], [], []])
    c = fits[-1].transform(
        new, links=[["doc7"], ["doc9"], [], []], doc_ids=["n0", "n1", "n2", "n3"]
    )
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, c)
    among = fits[0].transform(new, links=[[401], [], [], []])
    assert np.abs(among[2:] - fits[0].transform(new)[2:]).max() < 2e-3
    assert np.abs(among[:2] - fits[0].transform(new)[:2]).max() > 1e-3


def test_links_survive_cross_validation(linked):
    corpus, _ = linked
    lists = [[] for _ in range(400)]
    for a, b in corpus.links:
        lists[a].append(f"doc{b}")
    with config_context(enable_metadata_routing=True):
        model = RelationalTopicModel(6, link_weight=0.1, max_iter=3).set_fit_request(
            links=True, doc_ids=True
        )
        model.set_score_request(links=True, doc_ids=True)
        links = np.empty(400, dtype=object)
        links[:] = lists
        params = {"links": links, "doc_ids": np.array([f"doc{d}" for d in range(400)])}
        scores = cross_validate(model, corpus.counts, cv=KFold(3), params=params)["test_score"]
    assert np.isfinite(scores).all()


# ------------------------------------------------------------------------------------------- labels


@pytest.fixture(scope="module")
def labeled():
    return datasets.make_labels(400, 120, 6, random_state=4)


@pytest.mark.parametrize(("rule", "schedule"), [*COMBINATIONS, ("bp", "auto")])
def test_planted_labels_are_found(labeled, rule, schedule):
    corpus, truth = labeled
    model = LabeledLDA(rule=rule, schedule=schedule, max_iter=60).fit(corpus)
    assert model.classes_.tolist() == [f"label{k}" for k in range(6)]
    cosine = (
        (model.topic_word_ * truth.topic_word).sum(axis=1)
        / np.linalg.norm(model.topic_word_, axis=1)
        / np.linalg.norm(truth.topic_word, axis=1)
    )
    assert cosine.min() > 0.95
    outside = np.array([[f"label{k}" not in row for k in range(6)] for row in corpus.labels])
    assert model.doc_topic_[outside].max() == 0  # no mass on labels a document does not have


def test_label_predictions_in_every_form(labeled):
    corpus, _ = labeled
    train, test = corpus[:300], corpus[300:]
    model = LabeledLDA(max_iter=40).fit(train.counts, train.labels)
    proportions = model.predict_proba(test.counts)
    np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-6)
    assert (
        np.mean(
            [
                model.classes_[row.argmax()] in labels
                for row, labels in zip(proportions, test.labels, strict=True)
            ]
        )
        > 0.95
    )
    assert isinstance(model.predict(test.counts)[0], list)
    assert {
        type(name)
        for rows in (model.predict(test.counts), model.most_likely(test.counts, 2))
        for row in rows
        for name in row
    } == {str}
    matrix = np.array([[f"label{k}" in row for k in range(6)] for row in train.labels])
    assert LabeledLDA(max_iter=5).fit(train.counts, matrix).predict(test.counts).shape == (100, 6)
    single = np.array([row[0] for row in train.labels])
    one = LabeledLDA(max_iter=20).fit(train.counts, single)
    assert one.predict(test.counts).shape == (100,)
    assert one.score(test.counts, [row[0] for row in test.labels]) > 0.3
    assert set(one.top_words_by_label(3)) == set(one.classes_)


def test_background_topics_and_unlabeled_documents(labeled):
    corpus, _ = labeled
    labels = [row if d % 10 else [] for d, row in enumerate(corpus.labels)]
    model = LabeledLDA(background_topics=2, max_iter=30).fit(corpus.counts, labels)
    assert model.components_.shape[0] == 8
    assert (model.doc_topic_[:, 6:] > 0).all()  # everybody may use the background
    assert (model.doc_topic_[::10] > 0).all()  # the unlabeled may use everything
    assert model.predict_proba(corpus.counts).shape == (400, 6)
    names = [*(f"label{k}" for k in range(6)), "background0", "background1"]
    assert list(model.set_output(transform="pandas").transform(corpus.counts).columns) == names
    assert list(model.name_topics({7: "rest"}).get_feature_names_out()) == [*names[:7], "rest"]


def test_cost_follows_labels_not_topics():
    corpus, _ = datasets.make_labels(50, 60, 40, max_labels=2)
    graph = compile_factors(
        [Words(corpus.counts), Documents(), Labels(corpus.labels)],
        len({k for row in corpus.labels for k in row}),
    )
    labels = np.array([len(row) for row in corpus.labels])
    assert graph.message_size == (np.diff(corpus.counts.indptr) * labels).sum()


# ----------------------------------------------------------------------------- mixtures and sklearn


def test_mixtures_nobody_wrote_a_class_for(labeled):
    corpus, _ = labeled
    authors = [[f"a{d % 12}"] for d in range(400)]
    links = [(d, (d + 12) % 400) for d in range(400)]
    both = TopicModel(
        [Words(corpus.counts), Authors(authors), Links(links, "learn", "identity")], 6, max_iter=20
    ).fit()
    assert both.owner_topic_.shape == (12, 6)
    assert 0 < both.factors_[2].weight < 1
    assert both.factors[2].weight == "learn"  # a second fit learns again
    np.testing.assert_array_equal(both.components_, both.fit().components_)
    labeled_authors = TopicModel(
        [Words(corpus.counts, "tfidf"), Authors(authors), Labels(corpus.labels)], max_iter=20
    ).fit()
    assert labeled_authors.components_.shape == (6, 120)
    assert labeled_authors.transform(corpus.counts[:5]).shape == (5, 6)
    with pytest.raises(ValueError, match="first factor must be Words"):
        TopicModel([Authors(authors)]).fit()


def test_transform_uses_the_authors_of_a_corpus():
    corpus, _ = datasets.make_authors(100, 10, 60, 4)
    model = AuthorTopicModel(4, max_iter=20).fit(corpus)
    np.testing.assert_array_equal(
        model.transform(corpus), model.transform(corpus.counts, authors=corpus.authors)
    )
    assert np.abs(model.transform(corpus) - model.doc_topic_).max() < 0.05


def test_gaps_among_authors_are_no_authors(small):
    gaps = [None, float("nan"), "", [None, "ann"], ["", float("nan")], "bob", *[["carl"]] * 54]
    clean = [[], [], [], ["ann"], [], ["bob"], *[["carl"]] * 54]
    with_gaps, plain = (
        AuthorTopicModel(3, max_iter=5).fit(small, authors=authors) for authors in (gaps, clean)
    )
    assert list(with_gaps.author_names_) == ["ann", "bob", "carl"]
    np.testing.assert_array_equal(with_gaps.components_, plain.components_)
    with pytest.raises(ValueError, match=r"authors are of different kinds \(int and str\)"):
        AuthorTopicModel(3).fit(small, authors=[["ann", 5]] * 60)
    with pytest.raises(ValueError, match="authors holds negative numbers"):
        AuthorTopicModel(3).fit(small, authors=-np.ones((60, 2)))


def test_a_mixture_has_words_once_and_one_kind_of_owner(small):
    for extra in ([Words(small)], [Documents(), Authors([["a"]] * 60)]):
        with pytest.raises(
            ValueError, match="Words and Labels come once, and documents have one kind of owner"
        ):
            TopicModel([Words(small), *extra], 3).fit()


def test_a_mixture_takes_words_that_hold_counts_already(labeled):
    """Frozen words stay as they are; a base adds to what the messages count."""
    counts = labeled[0].counts
    base = np.random.default_rng(0).random((counts.shape[1], 3))
    frozen = TopicModel(
        [Words(counts, base=base, frozen=True)], 3, max_iter=5, topic_word_prior=0.1
    ).fit()
    np.testing.assert_allclose(frozen.components_, base.T + 0.1, rtol=1e-6)
    more = TopicModel([Words(counts, base=base)], 3, max_iter=5, topic_word_prior=0.1).fit()
    np.testing.assert_allclose(
        more.components_.sum() - 0.1 * 3 * len(base), counts.sum() + base.sum(), rtol=1e-4
    )


def test_several_links_leave_words_a_say(linked):
    corpus, _ = linked
    halves = corpus.links[::2], corpus.links[1::2]
    with pytest.raises(ValueError, match=r"sum to 1.2; together they must stay below 1"):
        TopicModel([Words(corpus.counts), *(Links(half, 0.6) for half in halves)], 4).fit()
    learned = TopicModel(
        [Words(corpus.counts), *(Links(half, "learn") for half in halves)], 4, max_iter=10
    ).fit()
    assert (
        0 < sum(factor.weight for factor in learned.factors_ if isinstance(factor, Links)) <= 0.95
    )
    assert learned.doc_topic_.min() >= 0


def test_neighbours_speak_only_of_topics_a_document_may_use(labeled):
    corpus, _ = labeled
    links = [(d, (d + 1) % corpus.n_docs) for d in range(corpus.n_docs)]
    model = TopicModel(
        [Words(corpus.counts), Labels(corpus.labels), Links(links, 0.3)], max_iter=10
    ).fit()
    may = [[label in labels for label in model.factors_[2].classes] for labels in corpus.labels]
    assert model.doc_topic_[~np.array(may)].max() == 0
    np.testing.assert_allclose(model.doc_topic_.sum(axis=1), 1, rtol=1e-6)


def test_shares_of_labeled_authors_are_those_in_the_messages(small):
    """Each author's proportions are normalised over the topics that the document may use, then
    mixed.
    """
    rng = np.random.default_rng(0)
    authors, labels = (
        [[f"a{d % 5}", f"b{d % 7}"] for d in range(60)],
        [sorted(rng.choice(4, 2, replace=False)) for _ in range(60)],
    )
    plan = make_plan([Words(small), Authors(authors), Labels(labels)], 4)
    graph = build_graph(plan)
    with ThreadPool(1) as pool:
        state = State.start(graph, make_rule("bp"), np.full(4, 0.1), 0.1, seed=0, pool=pool)
    theta = state.owner_counts() + 0.1
    owners = plan.owners
    for d in range(60):
        proportions = theta[owners.indices[owners.indptr[d] : owners.indptr[d + 1]]][:, labels[d]]
        np.testing.assert_allclose(
            state.doc_topic()[d, labels[d]],
            (proportions / proportions.sum(axis=1, keepdims=True)).mean(axis=0),
            rtol=1e-6,
        )


def test_weights_on_links_of_new_documents_are_links(linked):
    corpus, _ = linked
    model = RelationalTopicModel(4, link_weight=0.3, link_factor="identity", max_iter=10).fit(
        corpus
    )
    links = np.zeros((3, corpus.n_docs))
    links[[0, 1, 2], [3, 4, 5]] = 1
    np.testing.assert_array_equal(
        model.transform(corpus.counts[:3], links=sparse.csr_array(0.5 * links)),
        model.transform(corpus.counts[:3], links=sparse.csr_array(links)),
    )


FEW = {"max_iter": 5, "tol": 0}


@parametrize_with_checks(
    [AuthorTopicModel(2, **FEW), RelationalTopicModel(2, **FEW), LabeledLDA(**FEW)]
)
@pytest.mark.filterwarnings("ignore:No (authors|links) were given")
def test_sklearn_contract_of_models(estimator, check):
    check(estimator)


def test_step_prefixed_and_routed_metadata(linked):
    texts = ["apples pears apples", "pears plums", "engines wheels", "wheels engines brakes"] * 5
    authors = [["ann"], ["ann", "bob"], ["cid"], ["cid"]] * 5
    pipe = make_pipeline(CountVectorizer(), AuthorTopicModel(2, max_iter=10))
    pipe.fit(texts, authortopicmodel__authors=authors)
    assert pipe[-1].author_names_.tolist() == ["ann", "bob", "cid"]
    with config_context(enable_metadata_routing=True):
        routed = make_pipeline(
            CountVectorizer(), AuthorTopicModel(2, max_iter=10).set_fit_request(authors=True)
        )
        routed.fit(texts, authors=authors)
    np.testing.assert_array_equal(routed[-1].author_topic_, pipe[-1].author_topic_)
    proportions = AuthorTopicModel(2, max_iter=10).fit_transform(
        CountVectorizer().fit_transform(texts), authors=authors
    )
    assert proportions.shape == (20, 2)


# ------------------------------------------------------------------------------------------- errors


def test_bad_metadata_is_refused_with_the_cure(small):
    n = small.shape[0]
    with pytest.raises(
        ValueError, match=r"authors describes 3 documents but X has 60; give one list per document"
    ):
        AuthorTopicModel(2).fit(small, authors=[["a"]] * 3)
    with pytest.raises(ValueError, match=r"authors has 5 rows"):
        AuthorTopicModel(2).fit(small, authors=sparse.csr_array(np.ones((5, 3))))
    numbers = np.tile([[1, 2], [0, 1]], (n // 2, 1))
    for table in (numbers, numbers / 2, sparse.csr_array(numbers), pd.DataFrame(numbers)):
        refused = (
            r"is a matrix with the entry (2|0\.5); expected an indicator of 0 and 1. Where names"
            r" are numbers, give a list"
        )
        with pytest.raises(ValueError, match=f"y {refused}"):
            LabeledLDA().fit(small, table)
        with pytest.raises(ValueError, match=f"authors {refused}"):
            AuthorTopicModel(2).fit(small, authors=table)
    with pytest.raises(ValueError, match="are 'flat'; choose"):
        AuthorTopicModel(2, author_prior="flat").fit(small, authors=[["a"]] * n)
    with pytest.raises(ValueError, match=r"documents 0 and 99, but documents are numbered 0 to 59"):
        RelationalTopicModel(2).fit(small, links=[(0, 99)])
    with pytest.raises(ValueError, match=r"links has shape \(3, 3\)"):
        RelationalTopicModel(2).fit(small, links=sparse.csr_array(np.eye(3)))
    with pytest.raises(ValueError, match=r"link_weight is 1\.5"):
        RelationalTopicModel(2, link_weight=1.5).fit(small, links=[(0, 1)])
    with pytest.raises(ValueError, match="link_factor is 'x'"):
        RelationalTopicModel(2, link_factor="x").fit(small, links=[(0, 1)])
    with pytest.raises(ValueError, match="doc_ids are not all different"):
        RelationalTopicModel(2).fit(small, links=[[]] * n, doc_ids=["same"] * n)
    with pytest.raises(ValueError, match="use LDA"):
        LabeledLDA().fit(small)
    with pytest.raises(ValueError, match="y describes 2 documents"):
        LabeledLDA().fit(small, [["a"], ["b"]])
    with pytest.raises(ValueError, match="holds no label"):
        LabeledLDA().fit(small, [[]] * n)
    fitted = LabeledLDA(max_iter=3).fit(small, ["a", "b"] * (n // 2))
    assert fitted.score(small[:2], ["a", "never seen"]) in (0.0, 0.5)


def test_one_word_repeated_very_often_beside_a_field():
    """n_d - x + alpha is 0 in single precision; the message must stay a number."""
    counts = np.zeros((6, 5))
    counts[0, 0] = 2e5
    counts[1:, 1:] = 3
    model = RelationalTopicModel(
        3,
        link_weight=0.3,
        doc_topic_prior=1e-3,
        topic_word_prior=0.01,
        schedule="asynchronous",
        max_iter=20,
    ).fit(counts, links=[(0, 1), (2, 3)])
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.doc_topic_).all()


@pytest.mark.parametrize(
    ("model", "what"), [(AuthorTopicModel, "authors"), (RelationalTopicModel, "links")]
)
def test_without_authors_or_links_people_are_told_that_it_is_lda(model, what):
    with pytest.warns(UserWarning, match=f"No {what} were given, so this is LDA"):
        model(2, max_iter=2).fit(np.eye(4) + 1)


def test_a_run_that_learns_its_link_weight_stops_when_it_is_asked_to():
    corpus, _ = datasets.make_links(40)
    seen = []

    def stop(state, record):
        seen.append((record.schedule == "link weight", record.sweep))
        return record.schedule == "link weight"

    model = RelationalTopicModel(3, link_weight="learn", callbacks=[stop]).fit(corpus)
    assert seen == [(True, 1), (False, 1)]
    assert model.n_iter_ == len(model.history_) == 1


# -------------------------------------------------------------------- forms in which people have it


def test_an_author_without_documents_holds_nothing(authored):
    corpus, _ = authored
    members = AuthorTopicModel(3, max_iter=15).fit(corpus)
    table = np.array(
        [[name in row for name in members.author_names_] for row in corpus.authors], dtype=float
    )
    empty = np.zeros((corpus.n_docs, 1))
    model = AuthorTopicModel(3, max_iter=15).fit(corpus.counts, authors=table)
    wider = AuthorTopicModel(3, max_iter=15).fit(
        corpus.counts, authors=np.hstack([empty, table, empty])
    )
    np.testing.assert_array_equal(wider.components_, model.components_)
    np.testing.assert_array_equal(wider.doc_topic_prior_, model.doc_topic_prior_)
    np.testing.assert_array_equal(wider.author_counts_[1:-1], model.author_counts_)
    assert not wider.author_counts_[[0, -1]].any()
    np.testing.assert_allclose(
        wider.author_topic_[0], wider.doc_topic_prior_ / wider.doc_topic_prior_.sum()
    )


def test_owners_without_documents_beside_labels(small):
    owners = np.eye(small.shape[0], small.shape[0] + 2)
    labels = [["a"] if d % 2 else ["b", "c"] for d in range(small.shape[0])]
    model = TopicModel([Words(small), Authors(owners), Labels(labels)], max_iter=15).fit()
    assert model.owner_topic_.shape == (small.shape[0] + 2, 3)


def test_a_frame_of_authors_is_read_by_its_columns(authored):
    corpus, _ = authored
    names = sorted({name for row in corpus.authors for name in row})
    frame = pd.DataFrame(
        [[int(name in row) for name in names] for row in corpus.authors],
        columns=names,
        index=range(5, 5 + corpus.n_docs),
    )
    model = AuthorTopicModel(3, max_iter=5).fit(corpus)
    np.testing.assert_array_equal(
        AuthorTopicModel(3, max_iter=5).fit(corpus.counts, authors=frame).author_topic_,
        model.author_topic_,
    )
    part = frame[names[::-2]]
    rows = [[name for name in row if name in part.columns] for row in corpus.authors]
    np.testing.assert_array_equal(
        model.transform(corpus.counts, authors=part), model.transform(corpus.counts, authors=rows)
    )
    cells = pd.DataFrame(
        {
            "first": [row[0] for row in corpus.authors],
            "second": [row[1] if len(row) > 1 else None for row in corpus.authors],
        }
    )
    pairs = [row[:2] for row in corpus.authors]
    np.testing.assert_array_equal(
        AuthorTopicModel(3, max_iter=5).fit(corpus.counts, authors=cells).author_topic_,
        AuthorTopicModel(3, max_iter=5).fit(corpus.counts, authors=pairs).author_topic_,
    )


def test_a_frame_of_labels_is_read_by_its_columns(labeled):
    corpus, _ = labeled
    names = sorted({name for row in corpus.labels for name in row})
    frame = pd.DataFrame([[name in row for name in names] for row in corpus.labels], columns=names)
    model = LabeledLDA(max_iter=5).fit(corpus.counts, frame)
    assert model.classes_.tolist() == names
    np.testing.assert_array_equal(model.components_, LabeledLDA(max_iter=5).fit(corpus).components_)
    assert model.predict(corpus.counts).shape == frame.shape
    assert 0 <= model.score(corpus.counts, frame) <= 1


def test_links_of_new_documents_in_all_forms_agree(linked):
    corpus, _ = linked
    train, test = np.arange(0, corpus.n_docs, 2), np.arange(1, corpus.n_docs, 2)
    table = (
        sparse.csr_array(corpus.links)
        if sparse.issparse(corpus.links)
        else adjacency(corpus.links, corpus.n_docs)
    )
    model = RelationalTopicModel(4, link_weight=0.3, max_iter=15).fit(corpus[train])
    links = table[test][:, train]
    proportions = model.transform(corpus.counts[test], links)
    np.testing.assert_array_equal(
        model.transform(corpus.counts[test], links.toarray()), proportions
    )
    lists = [links.indices[a:b].tolist() for a, b in pairwise(links.indptr)]
    np.testing.assert_array_equal(model.transform(corpus.counts[test], lists), proportions)
    with pytest.raises(ValueError, match="fractions"):
        model.transform(corpus.counts[test], [[0.5], *lists[1:]])
    among = table[test][:, test]
    alone = sparse.hstack([sparse.csr_array((len(test), len(train))), among])
    np.testing.assert_array_equal(
        model.transform(corpus[test]), model.transform(corpus.counts[test], alone)
    )


def test_fit_transform_takes_links_as_fit_does(linked):
    corpus, _ = linked
    pairs = np.column_stack(adjacency(corpus.links, corpus.n_docs).tocoo().coords)

    def model() -> RelationalTopicModel:
        return RelationalTopicModel(4, link_weight=0.3, max_iter=10)

    proportions = model().fit_transform(corpus)
    np.testing.assert_array_equal(model().fit_transform(corpus.counts, links=pairs), proportions)
    np.testing.assert_array_equal(
        model().fit_transform(corpus.counts, links=adjacency(pairs, corpus.n_docs).toarray()),
        proportions,
    )


def test_directed_links_predict_with_the_table_of_training():
    """Documents of topic 0 are pointed at by topic 1 only: eta is not symmetric, and stays so."""
    counts = np.kron(np.eye(2), np.ones((20, 5))) * 4
    links = [(20 + d, d) for d in range(20)]
    model = RelationalTopicModel(2, directed=True, link_weight=0.3, max_iter=30).fit(
        counts, links=links
    )
    assert np.abs(model.link_topic_ - model.link_topic_.T).max() > 0.1
    np.testing.assert_allclose(model.link_topic_.sum(axis=1), 1)


def test_completion_uses_what_a_corpus_knows(authored):
    train, test = authored[0].split()
    model = AuthorTopicModel(3, max_iter=20).fit(train)
    with_authors = completion_perplexity(model, test)
    assert with_authors == completion_perplexity(model, test.counts, authors=test.authors)
    assert with_authors != completion_perplexity(model, test.counts)


@pytest.mark.parametrize("threshold", [0, -1, 5, "half", np.nan])
def test_threshold_of_labels_is_a_part(threshold, labeled):
    with pytest.raises(ValueError, match="threshold is"):
        LabeledLDA(threshold=threshold).fit(labeled[0])


def test_neighbours_in_every_form_are_the_same_links(linked):
    corpus, _ = linked
    table = adjacency(corpus.links, corpus.n_docs)
    lists = [table.indices[a:b].tolist() for a, b in pairwise(table.indptr)]
    column = np.empty(corpus.n_docs, dtype=object)
    column[:] = lists
    gaps = [row or None for row in lists]
    for links in (
        tuple(lists),
        list(map(tuple, lists)),
        column,
        gaps,
        pd.Series(lists),
        table.toarray().astype(int).tolist(),
    ):
        np.testing.assert_array_equal(adjacency(links, corpus.n_docs).toarray(), table.toarray())


def test_ids_of_documents(linked):
    corpus, _ = linked
    table = adjacency(corpus.links, corpus.n_docs)
    ids = [f"d{i}" for i in range(corpus.n_docs)]
    lists = [[ids[i] for i in table.indices[a:b]] for a, b in pairwise(table.indptr)]
    by_id = RelationalTopicModel(4, link_weight=0.3, max_iter=5).fit(
        corpus.counts, links=lists, doc_ids=ids
    )
    named = RelationalTopicModel(4, link_weight=0.3, max_iter=5).fit(replace(corpus, doc_names=ids))
    np.testing.assert_array_equal(named.doc_topic_, by_id.doc_topic_)
    assert named.predict_links(corpus.counts[:2], 3) == by_id.predict_links(corpus.counts[:2], 3)
    assert {name for name, _ in named.predict_links(corpus.counts[:1], 3)[0]} < set(ids)
    np.testing.assert_array_equal(
        named.predict_links([("d0", "d1")]), named.predict_links([(0, 1)])
    )
    assert named.predict_links([]).shape == (0,)
    with pytest.raises(ValueError, match="pairs names 'x', which is not a id"):
        named.predict_links([("d0", "x")])
    with pytest.raises(ValueError, match="pairs names document -1"):
        named.predict_links([(0, -1)])
    with pytest.raises(ValueError, match="for ids give doc_ids"):
        RelationalTopicModel(4).fit(corpus.counts, links=lists)
    with pytest.raises(ValueError, match="leave doc_ids out"):
        RelationalTopicModel(4).fit(corpus.counts, links=table, doc_ids=ids)
    with pytest.warns(UserWarning, match="None of the neighbours is among the ids"):
        RelationalTopicModel(4, max_iter=2).fit(
            corpus.counts, links=lists, doc_ids=range(corpus.n_docs)
        )


def test_a_label_without_documents_is_never_predicted(labeled):
    corpus, _ = labeled
    names = sorted({name for row in corpus.labels for name in row})
    table = np.array([[name in row for name in names] for row in corpus.labels], dtype=int)
    train = table[:, 0] == 0
    with pytest.warns(UserWarning, match=f"No document has the label {0}"):
        model = LabeledLDA(max_iter=10).fit(corpus.counts[train], table[train])
    assert not model.predict_proba(corpus.counts)[:, 0].any()
    with pytest.raises(ValueError, match="which is not among classes"):
        TopicModel([Words(corpus.counts), Labels(corpus.labels, classes=np.array(names[1:]))]).fit()


def test_labels_are_stratified_by_cross_validation():
    counts = np.kron(np.eye(3), np.ones((20, 5))) + 1
    assert (
        cross_validate(LabeledLDA(max_iter=20), counts, np.repeat([0, 1, 2], 20), cv=4)[
            "test_score"
        ]
        == 1
    ).all()


def test_authors_reach_scores_of_cross_validation(authored):
    corpus, _ = authored
    authors = np.empty(corpus.n_docs, dtype=object)
    authors[:] = [tuple(row) for row in corpus.authors]
    with config_context(enable_metadata_routing=True):
        model = AuthorTopicModel(3, max_iter=5).set_fit_request(authors=True)
        scores = [
            cross_validate(
                model.set_score_request(authors=field_message),
                corpus.counts,
                cv=KFold(3),
                params={"authors": authors},
            )["test_score"]
            for field_message in (True, False)
        ]
    assert (scores[0] != scores[1]).all()


def test_questions_about_authors_that_have_no_answer():
    model = AuthorTopicModel(4, doc_topic_prior=0.01, topic_word_prior=0.01, max_iter=5).fit(
        np.eye(2) * 9, authors=[["a"], ["b"]]
    )
    assert all(np.isfinite(share) for k in range(4) for _, share in model.authors_of_topic(k))
    with pytest.warns(UserWarning, match="No authors"):
        alone = AuthorTopicModel(2, max_iter=2).fit(np.eye(4) + 1)
    for question in (
        lambda: alone.similar_authors("a"),
        lambda: alone.who_writes_about("word0"),
        lambda: alone.authors_of_topic(0),
    ):
        with pytest.raises(ValueError, match="fitted without authors"):
            question()


def test_who_writes_about_cuts_text_as_training_did():
    texts = [
        "Markov chain Monte Carlo",
        "neural network layers",
        "Markov chain walks",
        "deep neural network",
    ]
    corpus = read(texts, vectorizer=CountVectorizer(lowercase=False, ngram_range=(1, 2)))
    model = AuthorTopicModel(2, max_iter=10).fit(
        replace(corpus, authors=[["m"], ["n"], ["m"], ["n"]])
    )
    assert model.who_writes_about("Markov chain")[0][0] == "m"
    assert model.who_writes_about(["Markov chain"])[0][0] == "m"


def test_who_writes_about_decomposed_words():
    texts = ["Häuser Bürger", "Wälder Bäche", "Häuser Häuser", "Wälder Bäche"]
    corpus = replace(
        read(texts, vectorizer=CountVectorizer()), authors=[["m"], ["n"], ["m"], ["n"]]
    )
    for known in (corpus, replace(corpus, vectorizer=None)):
        model = AuthorTopicModel(2, max_iter=10).fit(known)
        for text in ("Häuser", "Ha\u0308user", ["Ha\u0308user"], "Häu\u00adser"):
            assert model.who_writes_about(text)[0][0] == "m"

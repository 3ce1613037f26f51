"""Seed words and word priors of topics: exact, kept in every sweep, and everywhere."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from support import (
    assert_same_run,
    begin,
    every_combination,
    every_model_combination,
    interrupted,
    run,
    several_blocks,
    small_counts,
    tune,
)

import topoi
from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    RelationalTopicModel,
    Seeds,
    TopicModel,
    Words,
    datasets,
    rules,
)
from topoi.graph.factors import Documents
from topoi.graph.seeds import WordPrior
from topoi.infer.guided import broken_apart

QUICK = {"max_iter": 20, "tol": 0}


def some_prior(n_words: int = 25, n_topics: int = 5) -> np.ndarray:
    prior = np.zeros((n_words, n_topics))
    prior[[1, 2, 7], 0], prior[[2, 9], 3] = 4.0, 2.5
    return prior


@pytest.fixture(scope="module")
def planted():
    """A corpus of four topics that share no word, with names, and a seed word of each topic."""
    corpus, truth = datasets.make_blocks(random_state=3)
    words = np.array(corpus.words)
    topics = truth.topic_word
    return corpus, [str(words[row.argmax()]) for row in topics], topics


# ------------------------------------------------------------------------------------- exactness


@every_combination
def test_a_word_prior_is_a_constant_on_top_of_counts(rule, schedule):
    """The engine with a word prior equals its NumPy twin, and a run whose words hold as much
    besides the messages.
    """
    prior = some_prior()
    runs = [
        begin(small_counts(), rule=rule, schedule=schedule, blocks=3, **options)
        for options in (
            {"factors": (Documents(), WordPrior(prior))},
            {"base": prior},
        )
    ]
    for one in runs:
        for _ in range(3):
            one.sweep_both()
        if schedule != "incremental":
            np.testing.assert_allclose(one.state.tables.phi, one.tables.phi, rtol=2e-4, atol=2e-4)
    if schedule != "incremental":  # which takes no base
        np.testing.assert_array_equal(runs[0].state.tables.phi, runs[1].state.tables.phi)


@every_model_combination
def test_a_uniform_array_of_priors_is_one_number_bit_for_bit(small, rule, schedule, monkeypatch):
    several_blocks(monkeypatch)
    options = {"rule": rule, "schedule": schedule, "max_iter": 8, "tol": 0}
    n_words = small.shape[1]
    one = LDA(4, topic_word_prior=0.07, **options).fit(small)
    each = LDA(4, topic_word_prior=np.full((4, n_words), 0.07), **options).fit(small)
    np.testing.assert_array_equal(each.components_, one.components_)
    np.testing.assert_array_equal(each.doc_topic_, one.doc_topic_)
    assert each.topic_word_prior_ == 0.07


@every_model_combination
def test_topics_hold_their_tokens_and_their_prior(small, rule, schedule):
    prior = np.full((4, small.shape[1]), 0.05)
    prior[0, :3], prior[2, 5] = 3.0, 1.5
    model = LDA(4, topic_word_prior=prior, rule=rule, schedule=schedule, **QUICK).fit(small)
    np.testing.assert_array_equal(model.topic_word_prior_, prior)
    held = model.components_ - model.topic_word_prior_
    assert held.min() > -1e-3
    np.testing.assert_allclose(held.sum(), small.sum(), rtol=1e-4)
    np.testing.assert_allclose(held.sum(axis=0), small.sum(axis=0), atol=0.05)
    np.testing.assert_allclose(model.topic_proportions_, held.sum(axis=1) / held.sum(), rtol=1e-3)


def test_beta_is_learned_from_the_words_without_seeds(mixed):
    """Strong seeds must not be taken for topics of few words."""
    corpus = mixed[0]
    plain = LDA(5, doc_topic_prior=0.1).fit(corpus)
    seeds = Seeds({"a": corpus.words[:2], "b": corpus.words[2:4]}, strength=500)
    seeded = LDA(5, doc_topic_prior=0.1, seeds=seeds).fit(corpus)
    assert abs(np.log(seeded.topic_word_prior_.min() / plain.topic_word_prior_)) < 0.3


# ---------------------------------------------------------------------------------- what they do


@pytest.mark.parametrize("rule", ["bp", "sibp", "cvb0", "vb", "gibbs"])
def test_seeded_topics_are_about_their_seeds_and_bear_their_names(planted, rule):
    corpus, words, topics = planted
    order = [2, 0]
    seeds = {f"theme {k}": [words[k]] for k in order}
    model = LDA(4, rule=rule, seeds=seeds, random_state=1).fit(corpus)
    assert model.topic_names_ == ["theme 2", "theme 0", "topic2", "topic3"]
    for place, k in enumerate(order):
        assert model.topic_word_[place] @ topics[k] > 0.8 * topics[k] @ topics[k]


def test_seeds_hold_in_every_sweep(planted):
    """A word that its documents place elsewhere stays likely in its seeded topic."""
    corpus, words, _ = planted
    seeds = Seeds({"first": [words[0], words[1]]}, strength=300)
    model = LDA(4, seeds=seeds, max_iter=200, tol=0).fit(corpus)
    likely = np.argsort(-model.topic_word_[0])[:4]
    assert {words[0], words[1]} <= {corpus.words[w] for w in likely}


def test_a_word_may_be_a_seed_of_several_topics(planted):
    corpus, words, _ = planted
    seeds = {"a": [words[0], words[1]], "b": [words[0], words[2]]}
    model = LDA(4, seeds=seeds, **QUICK).fit(corpus)
    beyond = model.topic_word_prior_ - model.topic_word_prior_.min()
    column = corpus.words.index(words[0])
    assert (beyond[:, column] > 0).tolist() == [True, True, False, False]


def test_the_usual_strength_follows_the_corpus():
    corpus = topoi.read(["rare", *["often so often"] * 300], vectorizer=all_words())
    model = LDA(2, seeds={"a": ["often", "rare"]}, **QUICK).fit(corpus)
    beyond = (model.topic_word_prior_ - model.topic_word_prior_.min())[0]
    of = dict(zip(corpus.words, beyond, strict=True))
    assert of["rare"] == pytest.approx(1)
    assert of["often"] == pytest.approx(0.005 * corpus.n_tokens / 2)
    assert of["so"] == 0


def test_strengths_may_differ(planted):
    corpus, words, _ = planted
    seeds = {"a": {words[0]: 10, words[1]: None}}
    prior = LDA(4, seeds=seeds, **QUICK).fit(corpus).topic_word_prior_
    assert prior[0, corpus.words.index(words[0])] - prior.min() == pytest.approx(10)


def all_words():
    return topoi.make_vectorizer(min_df=1, max_df=1.0, stop_words=None)


# --------------------------------------------------------------------------------- in all models


def test_authors_links_labels_and_combinations_take_seeds():
    authors, _ = datasets.make_authors(40, 6, 30, 3)
    links, _ = datasets.make_links(40, 30, 3, links_per_doc=2)
    few = {"max_iter": 6}
    for model, corpus in (
        (AuthorTopicModel(3, seeds={"a": authors.words[:1]}, **few), authors),
        (RelationalTopicModel(3, seeds={"a": links.words[:1]}, **few), links),
    ):
        fitted = model.fit(corpus)
        assert fitted.topic_names_[0] == "a"
        assert np.unravel_index(fitted.topic_word_prior_.argmax(), (3, 30)) == (0, 0)
    factors = [Words(links), topoi.Links(links.links), Seeds({"b": links.words[4:5]})]
    combined = TopicModel(factors, 3, **few).fit()
    assert combined.topic_names_[0] == "b"
    assert np.unravel_index(combined.topic_word_prior_.argmax(), (3, 30)) == (0, 4)


def test_labels_are_seeded_by_name_and_background_takes_the_others():
    corpus, _ = datasets.make_labels(40, 30, 3)
    label = str(corpus.labels.names[1])
    seeds = {"others": corpus.words[5:6], label: corpus.words[:1]}
    model = LabeledLDA(1, seeds=seeds, max_iter=6).fit(corpus)
    n_labels = len(corpus.labels.names)
    assert model.topic_names_ == [*map(str, corpus.labels.names), "others"]
    raised = np.argwhere(model.topic_word_prior_ > model.topic_word_prior_.min())
    assert raised.tolist() == [[1, 0], [n_labels, 5]]
    with pytest.raises(ValueError, match="no topic is left for it"):
        LabeledLDA(seeds=seeds).fit(corpus)


def test_batches_keep_seeds(planted, tmp_path):
    corpus, words, _ = planted
    model = LDA(4, seeds={"a": [words[1]], "b": [words[3]]}, batch_size=20, max_iter=2).fit(corpus)
    assert model.topic_names_[:2] == ["a", "b"]
    prior = model.topic_word_prior_.copy()
    beyond = prior - prior.min()
    assert [words[1]] == [corpus.words[w] for w in np.flatnonzero(beyond[0])]
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi").partial_fit(corpus[:20])
    model.partial_fit(corpus[:20])
    np.testing.assert_array_equal(again.components_, model.components_)
    still = model.topic_word_prior_ - model.topic_word_prior_.min()
    np.testing.assert_allclose(still, beyond, atol=1e-9)


def test_many_topics_with_seeds_use_lists(planted, monkeypatch):
    tune(monkeypatch, lists_above=0, warm_up_from=0)
    corpus, words, _ = planted
    model = LDA(4, seeds={"a": [words[1]]}, **QUICK).fit(corpus)
    assert {record["schedule"] for record in model.history_} == {"listed", "afresh"}
    held = model.components_ - model.topic_word_prior_
    np.testing.assert_allclose(held.sum(), corpus.n_tokens, rtol=1e-4)


def test_a_seeded_run_resumes_in_the_same_bits(planted, tmp_path):
    corpus, words, _ = planted

    def make(**options):
        return LDA(4, seeds={"a": [words[1]]}, **QUICK, **options)

    again = interrupted(make, lambda m, **kw: m.fit(corpus, **kw), tmp_path / "run.ckpt", 9)
    whole = make().fit(corpus)
    np.testing.assert_array_equal(again.topic_word_prior_, whole.topic_word_prior_)
    again.topic_word_prior_ = whole.topic_word_prior_ = 0.0
    assert_same_run(again, whole)


@pytest.mark.parametrize("strength", [None, 12.5])
def test_a_seeded_model_comes_back_whole(planted, tmp_path, strength):
    corpus, words, _ = planted
    model = LDA(4, seeds=Seeds({"a": words[1:3]}, strength), **QUICK).fit(corpus)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(again.topic_word_prior_, model.topic_word_prior_)
    np.testing.assert_array_equal(again.transform(corpus), model.transform(corpus))
    assert again.topic_names_ == model.topic_names_
    np.testing.assert_array_equal(again.fit(corpus).components_, model.components_)


# ------------------------------------------------------------------------------- what is refused


def test_unknown_seeds_are_named(planted):
    corpus, words, _ = planted
    with pytest.warns(UserWarning, match=r"1 seed words are not in the vocabulary.*'xyz' of 'a'"):
        LDA(4, seeds={"a": [words[0], "xyz"]}, **QUICK).fit(corpus)
    with pytest.raises(ValueError, match="No seed word of 'b' is in the vocabulary: 'xyz'"):
        LDA(4, seeds={"a": [words[0]], "b": ["xyz"]}).fit(corpus)


@pytest.mark.parametrize(
    ("seeds", "match"),
    [
        ({}, "expected names of topics with lists of words"),
        ({"a": "tax"}, "expected a list with at least one word"),
        ({"a": []}, "expected a list with at least one word"),
        ({"a": [3]}, "hold 3; expected words"),
        ({"a": ["x"], "a ": ["y"]}, "twice, or an empty one"),
        ({" ": ["x"]}, "twice, or an empty one"),
        (Seeds({"a": ["x"]}, 0), "expected a number of tokens above 0"),
        ({"a": {"x": -1}}, "expected a number of tokens above 0"),
        ({"a": {"x": float("nan")}}, "expected a number of tokens above 0"),
        ({f"t{i}": ["x"] for i in range(3)}, "no topic is left for it: the model has 2"),
    ],
)
def test_seeds_that_make_no_sense_are_refused(seeds, match):
    with pytest.raises(ValueError, match=match):
        LDA(2, seeds=seeds).fit(topoi.Corpus([[1, 2], [2, 1]], ["x", "y"]))


def test_seeds_need_names_of_words():
    with pytest.raises(ValueError, match="X does not name the words of its columns"):
        LDA(2, seeds={"a": ["x"]}).fit(np.eye(3) + 1)


def test_stateless_rules_refuse_seeds(planted):
    corpus, words, _ = planted
    for messages in ("none", "solved"):
        model = LDA(4, seeds={"a": [words[0]]}, rule=rules.BP(messages=messages))
        with pytest.raises(ValueError, match="know no word priors of topics"):
            model.fit(corpus)


@pytest.mark.parametrize("shape", [(4, 3), (3, 4)])
def test_an_array_of_priors_has_the_shape_of_topics_and_words(shape):
    with pytest.raises(ValueError, match=r"topic_word_prior has the shape .*expected .*\(2, 3\)"):
        LDA(2, topic_word_prior=np.ones(shape)).fit(np.eye(3) + 1)


# ------------------------------------------------------------------------- equal topics to start


def test_equal_topics_to_start_from_are_broken_apart(planted):
    corpus, _, topics = planted
    start = np.vstack([topics[0], np.ones((3, topics.shape[1]))])
    model = LDA(4, init=start, max_iter=60).fit(corpus)
    for i in range(4):
        for j in range(i):
            assert np.abs(model.topic_word_[i] - model.topic_word_[j]).sum() > 0.5


def test_different_topics_to_start_from_stay_as_they_are():
    topics = np.random.default_rng(0).dirichlet(np.ones(6), 3).T
    assert broken_apart(topics, 0) is topics


# ------------------------------------------------------------------------------------ the command


def test_the_command_takes_seeds(work, tmp_path):
    seeds, model = tmp_path / "seeds.json", tmp_path / "m.topoi"
    seeds.write_text(json.dumps({"finance": ["stocks", "bank"], "animals": {"fur": 20}}))
    run(
        "fit",
        work / "t.csv",
        "--text",
        "abstract",
        "--n-components",
        3,
        "--seeds",
        seeds,
        "-o",
        model,
    )
    fitted = topoi.load(model)
    assert fitted.topic_names_ == ["finance", "animals", "topic2"]
    assert "stocks" in fitted.top_words(6)[0]
    for text, match in (
        ("[1]", "holds no JSON object"),
        ("{", "is not JSON"),
        ('{"a": ["x"], "a": ["y"]}', "twice"),
        ('{"a": {"stocks": {"x": 1}}}', "expected a number of tokens"),
        ('{"a": [["stocks"]]}', "expected words"),
        ("[" * 100_000, "is not JSON"),
    ):
        seeds.write_text(text)
        options = ["--text", "abstract", "--seeds", seeds, "-o", tmp_path / "n.topoi"]
        assert match in " ".join(run("fit", work / "t.csv", *options, code=2).output.split())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run("fit", work / "t.csv", "--text", "abstract", "--seed-strength", 3, code=2)


def test_a_seeded_model_of_authors_comes_back_whole(tmp_path):
    """Sizes of seeds are not those of authors."""
    corpus, _ = datasets.make_authors(40, 6, 30, 3)
    seeds = {"a": corpus.words[:2], "b": corpus.words[3:4]}
    model = AuthorTopicModel(3, seeds=seeds, max_iter=4).fit(corpus)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(again.topic_word_prior_, model.topic_word_prior_)
    assert again.topic_names_ == model.topic_names_

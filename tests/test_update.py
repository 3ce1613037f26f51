"""Updates: old topics, names and documents stay, and new words and themes get in."""

from __future__ import annotations

import numpy as np
import pytest
from support import ask, run

import topoi
from topoi import LDA, Corpus, datasets


@pytest.fixture(scope="module")
def themes():
    """Old documents of four themes, and new ones of these and of a fifth with words of its own."""
    corpus, truth = datasets.make_blocks(n_topics=5, docs_per_topic=40, random_state=1)
    fifth = truth.doc_topic[:, 4] > 0.5
    words = np.array(corpus.words)
    of_fifth = truth.topic_word[4] > 0
    old = corpus[np.random.default_rng(0).permutation(np.flatnonzero(~fifth))]
    known = words[~of_fifth].tolist()
    first, rest = old[:100].over(known), old[100:]
    new_rows = [*old[100:].counts.toarray(), *corpus[np.flatnonzero(fifth)].counts.toarray()]
    return first, Corpus(np.array(new_rows), words), set(words[of_fifth]), rest.n_docs


def test_an_update_keeps_old_topics_and_finds_a_new_theme(themes, tmp_path):
    first, new, of_fifth, _ = themes
    model = LDA(4).fit(first).name_topics({2: "third"})
    updated = model.update(new, new_topics=1)
    assert updated.topic_names_ == ["topic0", "topic1", "third", "topic3", "topic4"]
    assert set(updated.top_words(5)[4]) <= of_fifth
    seen = updated.transform(first)[:, :4]
    assert np.corrcoef(seen.ravel(), model.transform(first).ravel())[0, 1] > 0.95
    np.testing.assert_array_equal(updated.doc_topic_[: len(first), :4], model.doc_topic_)
    assert len(updated.doc_topic_) == len(first) + len(new)
    held = updated.components_ - updated.topic_word_prior_
    assert held.sum() == pytest.approx(first.n_tokens + new.n_tokens, rel=1e-3)
    assert list(updated.vocabulary_[: first.n_words]) == list(model.vocabulary_)
    updated.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(again.transform(new), updated.transform(new))
    assert model.components_.shape[0] == 4, "the old model stays as it is"


def test_drift_is_large_where_words_change(themes):
    first, new, _, n_same = themes
    model = LDA(4).fit(first)
    calm = model.update(new[:n_same]).topic_drift(model)
    assert calm["drift"].max() < 0.5
    assert calm["before"].sum() == pytest.approx(1)
    stirred = model.update(new[n_same:]).topic_drift(model)
    assert stirred["drift"].max() > 0.5


def test_updates_need_words(themes):
    first, new, _, _ = themes
    model = LDA(4, max_iter=5).fit(first)
    with pytest.raises(ValueError, match="update needs to know words"):
        model.update(new.counts)
    with pytest.raises(ValueError, match="new_topics is 1.5"):
        model.update(new, new_topics=1.5)


def test_the_command_updates(work, tmp_path):
    out = tmp_path / "new.topoi"
    found = ask(
        *("update", work / "lda.topoi", work / "t.csv", "--text", "abstract", "-o", out),
        *("--new-topics", 1),
    )
    model = topoi.load(out)
    assert len(found["drift"]) == len(model.components_)


@pytest.mark.parametrize("rule", ["sibp", "cvb0", "vb", "gibbs"])
def test_every_rule_updates(themes, rule):
    first, new, of_fifth, _ = themes
    model = LDA(4, rule=rule, max_iter=20).fit(first)
    updated = model.update(new, new_topics=1)
    held = updated.components_ - updated.topic_word_prior_
    assert held.sum() == pytest.approx(first.n_tokens + new.n_tokens, rel=1e-3)
    assert updated.topic_word_[4][[word in of_fifth for word in updated.vocabulary_]].sum() > 0.5


def test_texts_are_read_with_the_new_words():
    old = topoi.read(["cat dog cat pet", "dog pet cat", "bond stock", "stock bond"] * 9)
    new = topoi.read(["rocket moon orbit"] * 6 + ["cat dog pet"] * 7)
    updated = LDA(2, seeds={"pets": ["dog"]}, max_iter=20).fit(old).update(new, new_topics=1)
    again = topoi.read(["moon and dog"], vectorizer=updated.vectorizer_)
    assert again.counts.sum() == 2
    assert updated.transform(again)[0].argmax() in (0, 2)
    assert updated.topic_names_[0] == "pets"


def test_names_follow_topics_that_a_fit_starts_from(themes):
    first, _, _, _ = themes
    model = LDA(4, max_iter=5).fit(first).name_topics({1: "second"})
    assert LDA(4, init=model, max_iter=5).fit(first).topic_names_[1] == "second"


# ------------------------------------------------------------------------------ how texts are read


OLD_TEXTS = ["New York mayor", "The mayor of New York", "Cats AND dogs", "Dogs AND cats"] * 6
NEW_TEXTS = ["Moon Rocket AND dogs", "Rocket Moon", "New York", "cats"]


def own_settings():
    return topoi.make_vectorizer(
        stop_words=None, lowercase=False, ngram_range=(1, 2), min_df=2, max_df=0.9
    )


def test_new_texts_are_read_as_those_of_the_model_were(tmp_path):
    model = LDA(2, max_iter=5).fit(topoi.read(OLD_TEXTS, vectorizer=own_settings()))
    model.save(tmp_path / "m.topoi")
    for known in (model, topoi.load(tmp_path / "m.topoi")):
        updated = known.update(NEW_TEXTS)
        new = set(updated.vocabulary_) - set(model.vocabulary_)
        assert new == {"Moon", "Rocket"}, "twice, in their case; one pair of words is too rare"
        assert list(updated.vocabulary_[: len(model.vocabulary_)]) == list(model.vocabulary_)
        again = updated.transform(["Rocket Moon"])
        assert again.shape == (1, 2)
        assert updated.vectorizer_.ngram_range == (1, 2)


def test_the_command_reads_new_files_as_the_model_did(tmp_path):
    (tmp_path / "old.txt").write_text("\n".join(OLD_TEXTS))
    (tmp_path / "new.txt").write_text("\n".join(NEW_TEXTS))
    model, out, same = (tmp_path / f"{name}.topoi" for name in ("m", "out", "same"))
    ask("fit", tmp_path / "old.txt", "--keep-case", "--ngrams", "1-2", "--stop-words", "none",
        "--max-df", "0.9", "--n-components", "2", "--keep-text", "-o", model)  # fmt: skip
    ask("update", model, tmp_path / "new.txt", "-o", out)
    updated = topoi.load(out)
    assert set(updated.vocabulary_) - set(topoi.load(model).vocabulary_) == {"Moon", "Rocket"}
    assert [text.strip() for text in updated.documents_.texts] == OLD_TEXTS + NEW_TEXTS
    ask("update", model, tmp_path / "new.txt", "--known-words", "-o", same)
    assert list(topoi.load(same).vocabulary_) == list(topoi.load(model).vocabulary_)


def test_every_command_cuts_texts_as_the_model_does(tmp_path):
    (tmp_path / "old.txt").write_text("\n".join(OLD_TEXTS))
    (tmp_path / "new.txt").write_text("New York")
    (tmp_path / "lower.txt").write_text("new york")
    model = tmp_path / "m.topoi"
    ask("fit", tmp_path / "old.txt", "--keep-case", "--ngrams", "1-2", "--stop-words", "none",
        "--max-df", "0.9", "--n-components", "2", "-o", model)  # fmt: skip
    found = ask("label", model, tmp_path / "new.txt")["labels"]
    assert {row["word"] for row in found} == {"New", "York", "New York"}
    assert ask("label", model, tmp_path / "lower.txt")["labels"] == []
    (row,) = ask("transform", model, tmp_path / "lower.txt")
    assert row["mark"] == "no known words"
    assert ask("similar", model, "New York", "-n", 2)
    assert "is in the vocabulary" in run("similar", model, "new york", code=2).output


def test_one_new_text_is_enough_and_brings_no_rare_words():
    model = LDA(2, max_iter=5).fit(topoi.read(OLD_TEXTS, vectorizer=own_settings()))
    updated = model.update(["A rocket for New York"])
    assert list(updated.vocabulary_) == list(model.vocabulary_)
    assert len(updated.doc_topic_) == len(OLD_TEXTS) + 1


def test_phrases_of_the_model_are_those_of_new_texts(tmp_path):
    texts = ["New York mayor", "The mayor of New York", "Cats purr", "new cats"] * 3
    phrases = topoi.Phrases(min_documents=3)
    model = LDA(2, max_iter=5).fit(topoi.read(texts, phrases=phrases, max_df=1.0))
    model.save(tmp_path / "m.topoi")
    for known in (model, topoi.load(tmp_path / "m.topoi")):
        updated = known.update(["New York rocket", "a rocket to New York", "cats"])
        assert list(updated.vocabulary_) == [*model.vocabulary_, "rocket"]
        assert "new_york" in updated.vocabulary_
        assert topoi.read(["New York"], vectorizer=updated.vectorizer_).n_tokens == 1


def test_limits_of_words_hold_for_new_ones():
    first = topoi.read(["cat dog", "dog cat"] * 2, max_df=1.0, max_features=3)
    texts = ["fox fox owl", "owl fox yak", "fox yak owl", "yak fox"]
    read = topoi.read(texts, vectorizer=first.vectorizer, new_words=True)
    assert read.vocabulary.tolist() == ["cat", "dog", "fox", "owl", "yak"]
    first.vectorizer.set_params(max_features=2, max_df=0.8)
    read = topoi.read(texts, vectorizer=first.vectorizer, new_words=True)
    assert read.vocabulary.tolist() == ["cat", "dog", "owl", "yak"]
    assert read.unknown.tolist() == [2, 1, 1, 1], "tokens of words that are left out"
    with pytest.raises(ValueError, match="new_words is for a vectorizer that is fitted"):
        topoi.read(texts, new_words=True)
    silent = topoi.read(["", "..."], vectorizer=first.vectorizer, new_words=True)
    assert silent.counts.shape == (2, 2)
    assert silent.counts.nnz == 0


def test_documents_read_in_another_way_are_mentioned():
    model = LDA(2, max_iter=5).fit(topoi.read(OLD_TEXTS, vectorizer=own_settings()))
    with pytest.warns(UserWarning, match="another lowercase and ngram_range than those"):
        model.update(topoi.read(NEW_TEXTS, min_df=1))


def test_new_texts_for_a_model_of_counts_have_no_stop_words():
    texts = topoi.read(["cat the dog", "dog the cat"] * 3, stop_words=None, max_df=1.0)
    model = LDA(2, max_iter=5).fit(Corpus(texts.counts, texts.vocabulary))
    updated = model.update(["and the rocket", "the rocket and", "cat", "dog"])
    assert updated.vocabulary_.tolist() == ["cat", "dog", "the", "rocket"]


def test_documents_that_are_known_are_refused():
    corpus, _ = datasets.make_blocks()
    named = Corpus(corpus.counts, corpus.vocabulary, doc_names=[f"d{i}" for i in range(120)])
    model = LDA(4, max_iter=5).fit(named[:100])
    with pytest.raises(ValueError, match=r"20 of the new documents, such as 'd80', have names"):
        model.update(named[80:])
    assert model.update(named[100:]).doc_names_.tolist() == named.doc_names


# ---------------------------------------------------------------------- authors, links and labels


def test_new_documents_bring_known_and_new_authors(tmp_path):
    corpus, _ = datasets.make_authors()
    names = [["New", *row] if d % 3 == 0 else row for d, row in enumerate(corpus.authors)]
    model = topoi.AuthorTopicModel(3).fit(corpus[:150]).name_topics({1: "second"})
    updated = model.update(corpus[150:], authors=names[150:])
    assert updated.author_names_.tolist() == [*model.author_names_, "New"]
    assert updated.author_counts_.sum() == pytest.approx(corpus.n_tokens, rel=1e-4)
    assert (updated.author_counts_[:-1] >= model.author_counts_ - 1e-3).all(), "what they wrote"
    assert updated.topic_names_[1] == "second"
    assert updated.author_info()["documents"].sum() == sum(
        map(len, [*corpus.authors[:150], *names[150:]])
    )
    updated.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.predict_authors(corpus[:3]) == updated.predict_authors(corpus[:3])
    nobody = model.update(Corpus(corpus[150:].counts, corpus.vocabulary))
    np.testing.assert_allclose(nobody.author_counts_, model.author_counts_)
    with pytest.raises(ValueError, match="fitted without authors"):
        LDA(3, max_iter=2).fit(corpus[:150]).update(corpus[150:], authors=names[150:])


def test_an_update_learns_authors_as_well_as_a_fit_of_all():
    corpus, truth = datasets.make_authors(random_state=3)
    whole = topoi.AuthorTopicModel(5).fit(corpus)
    updated = topoi.AuthorTopicModel(5).fit(corpus[:200]).update(corpus[200:])
    distance = [
        np.linalg.norm(
            np.sqrt(truth.author_topic)
            - np.sqrt(m.author_topic_[:, topoi.evaluate.match_topics(truth.topic_word, m)[0]])
        )
        for m in (whole, updated)
    ]
    assert distance[1] < 1.2 * distance[0]


@pytest.mark.parametrize("directed", [False, True])
def test_new_documents_link_to_old_ones(tmp_path, directed):
    made, _ = datasets.make_links(n_docs=120, n_topics=3)
    names = [f"d{i}" for i in range(120)]
    corpus = Corpus(made.counts, made.vocabulary, links=made.links, doc_names=names)
    model = topoi.RelationalTopicModel(3, directed=directed).fit(corpus[:80])
    given = made.links if directed else made.links + made.links.T
    lists = [[names[j] for j in given[[i]].indices] for i in range(80, 120)]
    updated = model.update(
        Corpus(made.counts[80:], made.vocabulary), links=lists, doc_names=names[80:], new_topics=1
    )
    whole = topoi.RelationalTopicModel(3, directed=directed, max_iter=1).fit(corpus)
    expected = whole.links_.toarray()
    if directed:
        expected[:80, 80:] = 0  # old documents did not cite new ones
    np.testing.assert_array_equal(updated.links_.toarray(), expected)
    assert updated.link_topic_.shape == (4, 4)
    assert updated.link_topic_[3, 3] > 0.5, "a new topic links to itself at first"
    assert updated.doc_names_.tolist() == names
    updated.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again.recommend_links(corpus[:3]) == updated.recommend_links(corpus[:3])
    once_more = again.update(Corpus(made.counts[:5], made.vocabulary))
    assert once_more.links_.shape == (125, 125)


def test_a_table_that_was_not_learned_stays(tmp_path):
    corpus, _ = datasets.make_links(n_docs=120, n_topics=3)
    model = topoi.RelationalTopicModel(3, link_factor="identity", link_weight=0.2).fit(corpus[:80])
    updated = model.update(corpus[80:], new_topics=1)
    np.testing.assert_array_equal(updated.link_topic_, np.eye(4))


def test_new_labels_are_new_topics_before_the_background(tmp_path):
    corpus, truth = datasets.make_blocks()
    labels = np.array(list("abcd"))[truth.doc_topic.argmax(axis=1)]
    old = labels != "d"
    model = topoi.LabeledLDA(1).fit(corpus[old], labels[old]).name_topics({3: "rest"})
    updated = model.update(corpus[~old], labels=labels[~old], new_topics=1)
    assert updated.topic_names_ == ["a", "b", "c", "d", "rest", "background1"]
    assert updated.classes_.tolist() == list("abcd")
    assert (updated.predict(corpus) == labels).mean() > 0.95
    lineage = updated.topic_lineage()
    assert lineage["new"].tolist() == [0, 1, 2, 4]
    assert set(lineage["action"]) == {"update"}
    assert updated.topic_drift(model)["before"].tolist()[3] == 0
    updated.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert (again.predict(corpus) == updated.predict(corpus)).all()
    plain = topoi.LabeledLDA().fit(corpus[old], labels[old]).update(corpus[~old])
    assert plain.topic_names_ == ["a", "b", "c"], "documents may have no labels"


def test_combinations_update_all_that_they_know(tmp_path):
    made, _ = datasets.make_links(n_docs=120, n_topics=3)
    whole = Corpus(
        made.counts,
        made.vocabulary,
        authors=[["Ann"], ["Bob"], ["Ann", "Bob"], []] * 30,
        labels=[["p"], ["q"], ["r"]] * 40,
        links=made.links,
    )
    first = whole[:80]
    factors = [
        topoi.Words(first),
        topoi.Authors(first.authors),
        topoi.Labels(first.labels, 1),
        topoi.Links(first.links),
    ]
    model = topoi.TopicModel(factors, max_iter=10).fit()
    updated = model.update(whole[80:], authors=[["Cid"]] * 40)
    assert updated.author_names_.tolist() == ["Ann", "Bob", "Cid"]
    assert updated.owner_topic_.shape == (3 + 20, 4), "documents without authors own themselves"
    assert updated.links_.shape == (120, 120)
    updated.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi").update(whole[80:], new_topics=1)
    assert again.topic_names_ == ["p", "q", "r", "background0", "background1"]
    dated = topoi.TopicModel([topoi.Words(first), topoi.Dates([2020] * 80)], max_iter=2).fit()
    with pytest.raises(ValueError, match=r"this one has Dates. Fit it again"):
        dated.update(whole[80:])


@pytest.mark.parametrize("rule", ["sibp", "cvb0", "vb", "gibbs"])
def test_every_rule_updates_authors(rule):
    corpus, _ = datasets.make_authors(n_docs=80)
    model = topoi.AuthorTopicModel(3, rule=rule, max_iter=10).fit(corpus[:60])
    updated = model.update(corpus[60:])
    assert updated.author_counts_.sum() == pytest.approx(corpus.n_tokens, rel=1e-3)


def test_what_some_documents_know_is_kept():
    corpus, _ = datasets.make_blocks()
    known = Corpus(corpus.counts, corpus.vocabulary, dates=[2020] * 120, groups={"a": ["x"] * 120})
    model = LDA(4, max_iter=5).fit(known[:100])
    table = model.update(corpus[100:]).document_info()
    assert table["date"].tolist() == ["2020"] * 100 + [""] * 20
    assert table["a"].tolist() == ["x"] * 100 + [""] * 20


def test_the_command_updates_links_to_old_documents(tmp_path):
    rows = ["id,text,cites", "a,cat dog pet,b", "b,dog pet cat,", "c,bond stock,d", "d,stock bond,"]
    (tmp_path / "old.csv").write_text("\n".join(rows))
    (tmp_path / "new.csv").write_text("id,text,cites\ne,dog cat,a;f\nf,pet dog,b\ng,bond,zz\n")
    (tmp_path / "pairs.txt").write_text("e a\nb f\nz z\n")
    model, out = tmp_path / "m.topoi", tmp_path / "out.topoi"
    ask("fit", tmp_path / "old.csv", "--doc-names", "id", "--text", "text", "--links", "cites",
        "--n-components", 2, "-o", model)  # fmt: skip
    new = ("--doc-names", "id", "--text", "text")
    ask("update", model, tmp_path / "new.csv", *new, "--links", "cites", "-o", out)
    linked = topoi.load(out).links_.toarray()
    assert {(i, j) for i, j in zip(*linked.nonzero(), strict=True) if i > j and i > 3} == {
        (4, 0), (5, 4), (5, 1)
    }  # fmt: skip
    ask("update", model, tmp_path / "new.csv", *new, "--links", tmp_path / "pairs.txt",
        "-o", out, "--force")  # fmt: skip
    linked = topoi.load(out).links_.toarray()
    assert linked[4, 0] == linked[5, 1] == linked[1, 5] == 1
    ask("transform", model, tmp_path / "new.csv", *new, "--links", "cites")
    assert len(ask("transform", model, tmp_path / "old.csv", *new, "--links", "cites")) == 4
    out = run("update", model, tmp_path / "new.csv", *new, "--links", "cites", "-o", out, "--force")
    assert "1 of 4 links name documents that are neither here nor in the model" in out.output


def test_the_command_calls_new_topics_new_and_shows_words_that_are_used(tmp_path):
    (tmp_path / "old.txt").write_text("\n".join(OLD_TEXTS))
    (tmp_path / "new.txt").write_text("\n".join(["rocket moon orbit"] * 4 + ["mayor"] * 6))
    model, out = tmp_path / "m.topoi", tmp_path / "out.topoi"
    ask("fit", tmp_path / "old.txt", "--n-components", "2", "-o", model)
    said = run("update", model, tmp_path / "new.txt", "--new-topics", "1", "-o", out).output
    row = next(line for line in said.splitlines() if "topic2" in line)
    assert " new " in row
    assert "rocket" in row
    others = topoi.load(out).topic_drift(topoi.load(model))["rising"].iloc[:2]
    assert not others.str.contains("rocket").any()

"""The commands that ask a model: topics, transform, evaluate, report, authors, links."""

from __future__ import annotations

import csv
import json
from dataclasses import replace

import numpy as np
import pytest
from support import PETS, QUICK, ask, run

import topoi


def test_topics_with_their_documents(work):
    """The odd documents are about pets, the even ones about money."""
    for row in ask("topics", work / "lda.topoi", "--documents", 3)["topics"]:
        odd = {int(document["name"][1:]) % 2 for document in row["documents"]}
        assert len(row["documents"]) == 3
        assert odd == {int(row["words"][0] in PETS)}
    # Proportions in per cent.
    assert "(9" in run("topics", work / "lda.topoi", "--documents", 1).output
    assert "documents" not in ask("topics", work / "lda.topoi")["topics"][0]


def test_topics_and_their_names(work, tmp_path):
    path = tmp_path / "m.topoi"
    path.write_bytes((work / "lda.topoi").read_bytes())
    assert len(run("topics", path, "--words", 3).stdout.split("\n")) > 4
    answer = ask("topics", path, "--words", 3, "--name", "1=house [pets]")
    assert {topic["name"] for topic in answer["topics"]} == {"topic0", "house [pets]"}
    assert sum(topic["proportion"] for topic in answer["topics"]) == pytest.approx(1, rel=1e-6)
    assert "house [pets]" in run("topics", path).stdout
    assert "house [pets]" in run("transform", path, work / "texts").stdout.splitlines()[0]
    assert {topic["name"] for topic in ask("topics", work / "labels.topoi")["topics"]} == {
        "pets",
        "money",
    }


def test_transform_gives_the_largest_topics_and_parquet(work, tmp_path):
    import pyarrow.parquet

    everything = ask("transform", work / "lda.topoi", work / "texts")
    two = ask("transform", work / "lda.topoi", work / "texts", "--top", "2")
    for whole, short in zip(everything, two, strict=True):
        assert short["proportion 1"] == max(v for v in whole.values() if isinstance(v, float))
        assert whole[short["topic 2"]] == short["proportion 2"] <= short["proportion 1"]
    run("transform", work / "lda.topoi", work / "texts", "-o", tmp_path / "p.parquet")
    assert pyarrow.parquet.read_table(tmp_path / "p.parquet").to_pylist() == everything


def test_words_of_all_topics_with_their_probabilities(work, tmp_path):
    run("topics", work / "lda.topoi", "--words", "3", "-o", tmp_path / "words.csv")
    rows = [line.split(",") for line in (tmp_path / "words.csv").read_text().splitlines()]
    model = topoi.load(work / "lda.topoi")
    assert rows[0][:4] == ["topic", "name", "word", "probability"]
    assert [row[2] for row in rows[1:]] == [word for top in model.top_words(3) for word in top]
    assert float(rows[1][3]) == pytest.approx(model.topic_word_[0].max(), rel=1e-5)


def test_a_report_is_html(work, tmp_path):
    result = run("report", work / "lda.topoi", "-o", tmp_path / "r.pdf", code=2)
    assert "end the name in .html" in result.stderr


def test_transform_writes_arrays(work, tmp_path):
    model = topoi.load(work / "lda.topoi")
    (tmp_path / "t.txt").write_text("cat dog cat\nxyzzy\n")
    texts = [work / "lda.topoi", tmp_path / "t.txt"]
    run("transform", *texts, "-o", tmp_path / "all.npz")
    run("transform", *texts, "--top", 1, "-o", tmp_path / "top.npz")
    with np.load(tmp_path / "all.npz", allow_pickle=False) as found:
        everything = dict(found)
    assert everything["marks"].tolist()[1] == "no known words"
    assert everything["documents"].tolist() == ["0", "1"]
    assert everything["names"].tolist() == model.topic_names_
    np.testing.assert_allclose(everything["proportions"].sum(axis=1), 1, rtol=1e-5)
    with np.load(tmp_path / "top.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(
            found["topics"][:, 0], everything["proportions"].argmax(axis=1)
        )
        np.testing.assert_array_equal(
            found["proportions"][:, 0], everything["proportions"].max(axis=1)
        )


def test_transform_takes_raw_text(work, tmp_path):
    table = [work / "t.csv", "--text", "abstract", "--doc-names", "id"]
    run("transform", work / "lda.topoi", *table, "-o", tmp_path / "o.csv")
    with (tmp_path / "o.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["document"] for row in rows] == [f"d{i}" for i in range(40)]
    proportions = np.array([[float(row["topic0"]), float(row["topic1"])] for row in rows])
    np.testing.assert_allclose(proportions.sum(axis=1), 1, rtol=1e-5)
    model = topoi.load(work / "lda.topoi")
    np.testing.assert_allclose(
        proportions,
        model.transform(topoi.read(work / "t.csv", text="abstract", vectorizer=model.vectorizer_)),
        rtol=1e-5,
    )
    run("transform", work / "lda.topoi", *table, "-o", tmp_path / "o.jsonl", "--json")
    assert [json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines()] == ask(
        "transform", work / "lda.topoi", *table
    )
    run("transform", work / "author.topoi", *table, "--authors", "who", "-o", tmp_path / "a.tsv")
    assert "\t" in (tmp_path / "a.tsv").read_text()


def test_models_of_counts_read_texts_and_other_orders_of_words(work, tmp_path):
    corpus = replace(topoi.read(work / "texts"), doc_names=None)
    topoi.write(corpus, tmp_path / "c.mtx")
    run("fit", tmp_path / "c.mtx", "--n-components", 2, "-o", tmp_path / "m.topoi", *QUICK)
    answer = ask("transform", tmp_path / "m.topoi", tmp_path / "c.mtx")
    result = run("transform", tmp_path / "m.topoi", work / "texts", "--json")
    assert "fitted on counts" in result.stderr
    topoi.write(corpus.over(corpus.vocabulary[::-1]), tmp_path / "r.mtx")
    for other in (
        json.loads(result.stdout),
        ask("transform", tmp_path / "m.topoi", tmp_path / "r.mtx"),
    ):
        assert [row["topic0"] for row in other] == [row["topic0"] for row in answer]


def test_evaluate(work):
    table = [work / "t.csv", "--text", "abstract"]
    answer = ask("evaluate", work / "lda.topoi", *table)
    assert 1 < answer["perplexity_low"] < answer["perplexity"] < answer["perplexity_high"] < 12
    assert "label_found" not in answer
    assert "purity" not in answer
    judged = ask("evaluate", work / "lda.topoi", *table, "--labels", "topic")
    assert judged["ari"] == judged["accuracy"] == judged["p@10"] == 1
    shown = run("evaluate", work / "lda.topoi", *table, "--labels", "topic").stdout
    assert all(word in shown for word in ("NMI", "AMI", "ARI", "P@5", "labels from proportions"))
    assert shown.index("held-out perplexity") < shown.index("coherence (NPMI)")
    several = run("evaluate", work / "lda.topoi", *table, "--labels", "who")
    assert "40 documents have several labels" in several.stderr
    assert "AMI" not in several.stdout
    assert ask("evaluate", work / "labels.topoi", *table, "--labels", "topic")["label_found"] > 0.9
    result = run("evaluate", work / "lda.topoi", *table, "--doc-names", "id")
    assert "held-out perplexity" in result.stdout
    assert "trained on 40 of these documents" in result.stderr
    assert answer["seen_in_training"] == 40  # without ids, by the lengths of the documents
    (work / "new.csv").write_text("abstract\ncats and dogs\n", encoding="utf-8")
    new = ["evaluate", work / "lda.topoi", work / "new.csv", "--text", "abstract"]
    assert ask(*new)["seen_in_training"] is None
    assert "nobody can tell if the model was trained on these documents" in run(*new).stderr


def test_report(work, tmp_path):
    out = tmp_path / "r.html"
    assert ask("report", work / "lda.topoi", "-o", out, "--words", 3, "--documents", 2) == {
        "file": str(out),
        "topics": 2,
    }
    model = topoi.load(work / "lda.topoi")
    assert all(word in out.read_text() for words in model.top_words(3) for word in words)
    run("report", work / "lda.topoi", "-o", out, code=2)  # not written over
    assert (
        "would destroy the input"
        in run("report", work / "lda.topoi", "-o", work / "lda.topoi", "--force", code=2).stderr
    )
    columns = ["--test", work / "t.csv", "--text", "abstract", "--doc-names", "id"]
    result = run("report", work / "lda.topoi", "-o", out, "--force", *columns)
    assert "trained on 40 of these documents" in result.stderr
    measured = ask("evaluate", work / "lda.topoi", work / "t.csv", *columns[2:])
    assert f"{measured['perplexity']:.1f}" in out.read_text()
    assert (
        "no use here"
        in run(
            "report", work / "lda.topoi", "-o", tmp_path / "s.html", *columns, "--authors", "who"
        ).stderr
    )


def test_choose(work):
    options = ["--n-components", "1,2,4", "--seeds", 2, *QUICK]
    answer = ask("choose", work / "texts", *options)
    assert answer["best"] == 2
    assert [row["n_components"] for row in answer["rows"]] == [1, 2, 4]
    assert "Recommended: 2 topics" in run("choose", work / "texts", *options).stdout
    options[1] = "1,2"
    assert ask("choose", work / "texts", *options)["best"] is None
    said = run("choose", work / "texts", *options).stdout
    assert "the range was too small" in " ".join(said.split())
    assert "Recommended" not in said


def test_authors(work):
    answer = ask("authors", work / "author.topoi", "Ann", "--about", "dogs", "-n", 2)
    assert set(answer["topics"][0]["words"][:6]) == set(PETS)
    assert {author["name"] for author in answer["similar"]} == {"Bob", "Cy"}
    assert {writer["name"] for writer in answer["writers"]} == {"Ann", "Cy"}  # both wrote all of it
    assert "Ann" in run("authors", work / "author.topoi", "Ann").stdout
    assert len(ask("authors", work / "author.topoi")["topics"]) == 2
    assert "; Cy" in run("authors", work / "author.topoi").stdout
    assert "did you mean Ann?" in run("authors", work / "author.topoi", "ann", code=2).stderr
    assert (
        "it knows 3, for instance Ann, Bob, Cy"
        in run("authors", work / "author.topoi", "Zoroaster", code=2).stderr
    )
    assert "knows no authors" in run("authors", work / "lda.topoi", "Ann", code=2).stderr


def test_documents_without_authors_or_labels_are_mentioned(tmp_path):
    rows = [
        f"{' '.join(PETS)},{'Ann' if i < 7 else ''},{'pets' if i % 2 else ''}" for i in range(10)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["text,who,topic", *rows]))
    options = [tmp_path / "t.csv", "-o", tmp_path / "m.topoi", "--force", "--max-df", 1.0, *QUICK]
    assert (
        "3 of 10 documents have no authors: each of these counts"
        in run("fit", *options, "--authors", "who", "--n-components", 2).stderr
    )
    assert (
        "5 of 10 documents have no labels: these may use all"
        in run("fit", *options, "--labels", "topic").stderr
    )


def test_links(work, tmp_path):
    for document in ("d3", "3"):
        found = ask("links", work / "links.topoi", document, "-n", 39)["links"]
        assert {row["document"] for row in found if row["linked"]} == {"d1", "d5"}
        assert all(int(row["document"][1:]) % 2 for row in found[:10])
        assert "d3" not in {row["document"] for row in found}
    (tmp_path / "new.txt").write_text("Ca\u00adts, do\u00adgs and tai\u00adls", encoding="utf-8")
    assert all(
        int(row["document"][1:]) % 2
        for row in ask("links", work / "links.topoi", tmp_path / "new.txt", "-n", 5)["links"]
    )
    shown = run("links", work / "links.topoi", "d3").stdout
    assert "linked already" in shown
    assert "log odds" in shown
    assert "probability" in run("links", work / "links.topoi", tmp_path / "new.txt").stdout
    assert (
        "is not the name of a training document"
        in run("links", work / "links.topoi", "d99", code=2).stderr
    )
    assert "knows no links" in run("links", work / "lda.topoi", "d3", code=2).stderr
    (tmp_path / "new.csv").write_text("text\nCats")
    assert "is a table" in run("links", work / "links.topoi", tmp_path / "new.csv", code=2).stderr
    (tmp_path / "new.txt").write_text("nothing in common")
    assert (
        "none of the words"
        in run("links", work / "links.topoi", tmp_path / "new.txt", code=2).stderr
    )


def test_convert_says_what_is_lost(work, tmp_path):
    result = run("convert", work / "texts", tmp_path / "c.mtx")
    assert "is written without document names" in result.stderr
    assert result.stdout == ""
    assert "exists already" in run("convert", work / "texts", tmp_path / "c.mtx", code=2).stderr
    run("convert", work / "texts", tmp_path / "c.mtx", "--force")
    assert (
        "'csv' is not one of"
        in run("convert", work / "texts", tmp_path / "c.dat", "--to", "csv", code=2).stderr
    )
    assert "end the name in" in run("convert", work / "texts", tmp_path / "c.doc", code=2).stderr
    assert (
        "options that choose words are of no use"
        in run("convert", tmp_path / "c.mtx", tmp_path / "d.npz", "--min-df", 5, code=2).stderr
    )

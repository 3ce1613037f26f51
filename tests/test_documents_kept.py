"""A fitted model keeps what is known about its training documents, whatever the model is."""

from __future__ import annotations

from datetime import date, datetime

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import topoi
from topoi import LDA, AuthorTopicModel, Corpus, LabeledLDA, RelationalTopicModel, TopicModel
from topoi.cli import app
from topoi.corpus.dates import PERIODS, canonical_date, periods
from topoi.corpus.documents import TrainingDocuments

TEXTS = ["cats and dogs", "dogs chase cats", "stocks fell today", "stocks and bonds rose"] * 3
FEW = {"max_iter": 3}


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return topoi.read(
        TEXTS,
        doc_names=[f"d{i}" for i in range(12)],
        authors=["Ann", "Bob;Cy", None] * 4,
        labels=["pets", "money"] * 6,
        dates=["2020-01-31", 2021, None] * 4,
        groups={"source": ["web", "press"] * 6, "stars": [5, None, 3] * 4},
        links=[["d1"], *[[]] * 11],
        keep_text=True,
        vectorizer=topoi.make_vectorizer(min_df=1),
    )


def models(corpus):
    yield LDA(2, **FEW).fit(corpus)
    yield LDA(2, batch_size=5, **FEW).fit(corpus)
    yield AuthorTopicModel(2, **FEW).fit(corpus)
    yield LabeledLDA(**FEW).fit(corpus)
    yield RelationalTopicModel(2, **FEW).fit(corpus)


@pytest.mark.parametrize("number", range(5))
def test_every_model_keeps_them_and_so_does_its_file(tmp_path, corpus, number):
    model = list(models(corpus))[number]
    model.save(tmp_path / "m.topoi")
    for known in (model.documents_, topoi.load(tmp_path / "m.topoi").documents_):
        assert len(known) == 12
        assert known.tokens.tolist() == corpus.counts.sum(axis=1).tolist()
        assert known.names.tolist() == corpus.doc_names
        assert known.dates.tolist() == ["2020-01-31", "2021", ""] * 4
        assert known.texts == TEXTS
        assert known.authors.tolist() == corpus.authors.tolist()
        assert known.labels.tolist() == [["pets"], ["money"]] * 6
        assert known.column("source").tolist() == [["web"], ["press"]] * 6
        assert known.groups["stars"].tolist() == [["5"], [], ["3"]] * 4
        assert np.isfinite(known.fit).all()


def test_what_is_given_beside_counts_is_kept():
    counts = topoi.read(TEXTS, vectorizer=topoi.make_vectorizer(min_df=1)).counts
    authors = [["a"], ["b"], []] * 4
    names = [f"n{i}" for i in range(12)]
    given = {
        "authors": AuthorTopicModel(2, **FEW).fit(counts, authors=authors),
        "labels": LabeledLDA(**FEW).fit(counts, ["x", "y"] * 6),
    }
    assert given["authors"].documents_.authors.tolist() == authors
    assert given["labels"].documents_.labels.tolist() == [["x"], ["y"]] * 6
    links = RelationalTopicModel(2, **FEW).fit(counts, links=[[]] * 12, doc_names=names)
    assert links.documents_.names.tolist() == names
    mixed = TopicModel([topoi.Words(counts), topoi.Authors(authors)], 2, **FEW).fit()
    assert mixed.documents_.authors.tolist() == authors


def test_texts_are_kept_only_if_wanted_and_are_compressed(tmp_path):
    texts = [f"{text} " * 500 for text in TEXTS]
    vectorizer = topoi.make_vectorizer(min_df=1)
    sizes = []
    for keep in (False, True):
        corpus = topoi.read(texts, keep_text=keep, vectorizer=vectorizer)
        model = LDA(2, **FEW).fit(corpus)
        assert (model.documents_.texts is not None) == keep
        model.save(tmp_path / "m.topoi")
        sizes.append((tmp_path / "m.topoi").stat().st_size)
    assert sizes[0] < sizes[1] < sum(map(len, texts)) / 10


def test_a_model_of_batches_keeps_no_documents(corpus):
    model = LDA(2, **FEW).fit(corpus)
    model.partial_fit(corpus)
    assert model.documents_ is None
    assert model.doc_names_ is None


def test_counts_have_no_text_to_keep():
    with pytest.raises(ValueError, match="counts, which have no text; leave keep_text out"):
        topoi.read(np.eye(3), keep_text=True)


def test_parts_of_documents_are_joined_by_what_any_knows():
    first, second = (
        TrainingDocuments.of(Corpus(np.eye(2), doc_names=names, dates=dates, groups=groups))
        for names, dates, groups in (
            (["a", "b"], [2020, 2021], {"source": ["web", None], "kind": ["x", "y"]}),
            (["c", "d"], None, {"source": ["press", "web"]}),
        )
    )
    whole = TrainingDocuments.joined([first, second])
    assert whole.names.tolist() == ["a", "b", "c", "d"]
    assert whole.dates.tolist() == ["2020", "2021", "", ""]
    assert whole.column("kind").tolist() == [["x"], ["y"], [], []]
    assert whole.column("source").tolist() == [["web"], [], ["press"], ["web"]]


def test_a_column_that_is_not_known_is_refused_with_those_that_are(corpus):
    known = TrainingDocuments.of(corpus)
    with pytest.raises(ValueError, match="'month' .* knows 'authors', 'labels', 'source', 'stars'"):
        known.column("month")


def test_groups_may_not_take_the_place_of_labels():
    with pytest.raises(ValueError, match="groups holds 'labels'; give these as labels="):
        Corpus(np.eye(2), groups={"labels": ["x", "y"]})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2020-03-05", "2020-03-05"),
        ("2020/3/5", "2020-03-05"),
        ("20200305", "2020-03-05"),
        (20200305, "2020-03-05"),
        ("2020-03", "2020-03"),
        (2020, "2020"),
        (1848.0, "1848"),
        ("1848.0", "1848"),
        ("2020-03-05T10:30:00+01:00", "2020-03-05"),
        ("2020-03-05 10:30:00.123Z", "2020-03-05"),
        (datetime(2020, 3, 5, 10, 30), "2020-03-05"),
        (date(2020, 3, 5), "2020-03-05"),
        (pd.Timestamp("2020-03-05 10:30", tz="UTC"), "2020-03-05"),
        (pd.Period("2020-03", "M"), "2020-03"),
        (np.datetime64("2020-03-05T10:30:00.000000000"), "2020-03-05"),
        (np.datetime64("NaT"), ""),
        (pd.NA, ""),
        (float("nan"), ""),
        (None, ""),
        ("  ", ""),
        ("May", None),
        ("5", None),
        (5, None),
        (True, None),
        ("2020-13", None),
        ("2021-02-29", None),
        ("05/03/2020", None),
        ("1583366400", None),
        ("0000", None),
        ("٢٠٢٠", None),
    ],
)
def test_dates_have_one_form(value, expected):
    assert canonical_date(value) == expected


def test_dates_of_a_corpus_have_one_form_unless_some_are_none():
    days = pd.to_datetime(["2020-01-05 10:00", None])
    assert Corpus(np.eye(2), dates=days).dates == ["2020-01-05", ""]
    assert Corpus(np.eye(2), dates=["2020/01/05", "May"]).dates == ["2020/01/05", "May"]


def test_periods_name_and_start():
    day = ["2020-12-31"]
    found = {by: periods(day, by)[0] for by in PERIODS}
    assert found == {
        "decade": ("2020s", "2020-01-01"),
        "year": ("2020", "2020-01-01"),
        "quarter": ("2020-Q4", "2020-10-01"),
        "month": ("2020-12", "2020-12-01"),
        "week": ("2020-W53", "2020-12-28"),
        "day": ("2020-12-31", "2020-12-31"),
    }


def test_time_is_refused_where_there_are_no_dates():
    with pytest.raises(ValueError, match="dates must be dates, and 'May', 'June' are not"):
        periods(["May", "2020", "June", "May"])
    with pytest.raises(ValueError, match="dates are all missing"):
        periods(["", ""])
    with pytest.raises(ValueError, match="only as precise as '2020', so there is no month"):
        periods(["2020", "2020-03-05"], "month")
    with pytest.raises(ValueError, match="by is 'century'; choose 'decade'"):
        periods(["2020"], "century")


def test_the_command_keeps_groups_and_texts_and_refuses_no_dates(tmp_path):
    frame = pd.DataFrame({"text": TEXTS, "day": "2020-01-05", "site": "web", "mood": "fine"})
    frame.to_csv(tmp_path / "d.csv")
    fit = [
        "fit",
        str(tmp_path / "d.csv"),
        "--n-components",
        "2",
        "--max-iter",
        "2",
        "--min-df",
        "1",
    ]
    columns = ["--group", "site", "--group", "mood", "--keep-text"]
    output = ["-o", str(tmp_path / "m.topoi")]
    done = CliRunner().invoke(app, [*fit, *columns, "--dates", "mood", *output])
    assert done.exit_code == 2
    assert "line 2: 'fine' is not a date" in done.stderr
    done = CliRunner().invoke(app, [*fit, *columns, "--dates", "day", *output])
    assert done.exit_code == 0
    known = topoi.load(tmp_path / "m.topoi").documents_
    assert known.texts == TEXTS
    assert set(known.dates) == {"2020-01-05"}
    assert list(known.groups) == ["site", "mood"]

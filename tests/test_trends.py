"""Topics over time, by groups, and their dependence on covariates."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import topoi
from topoi import LDA, Corpus, LabeledLDA, datasets
from topoi.cli import app
from topoi.corpus.metadata import label_membership
from topoi.explore.effects import design_matrix, effects_table
from topoi.explore.trends import observed_proportions, prevalence_table

COLUMNS = ["topic", "name", "prevalence", "low", "high", "documents"]


@pytest.fixture(scope="module")
def dated():
    """Two topics; the first is in every document of 2000, and in ever fewer later."""
    counts = np.kron(np.eye(2), np.full((1, 5), 6.0))
    first = [0] * 12 + [0] * 8 + [1] * 4 + [0] * 2 + [1] * 10
    corpus = Corpus(
        np.vstack([counts[topic] for topic in first]),
        list("abcdefghij"),
        dates=np.repeat([2000, 2001, 2003], 12),
        labels=["x", "y"] * 18,
        groups={"source": ["web", "press", "web"] * 12},
    )
    return LDA(2, max_iter=30).fit(corpus), corpus


def test_prevalence_follows_the_documents(dated):
    model, _ = dated
    table = model.topics_over_time()
    assert table.columns.tolist() == ["period", "start", *COLUMNS]
    assert table["period"].unique().tolist() == ["2000", "2001", "2003"]
    assert set(table["start"]) == {"2000-01-01", "2001-01-01", "2003-01-01"}
    k = model.find_topics("a")["topic"][0]
    rows = table[table["topic"] == k]
    np.testing.assert_allclose(rows["prevalence"], [1, 8 / 12, 2 / 12], atol=0.02)
    assert ((rows["low"] <= rows["prevalence"]) & (rows["prevalence"] <= rows["high"])).all()
    assert (rows["documents"] == 12).all()
    decades = model.topics_over_time(by="decade")
    assert decades["documents"].tolist() == [36, 36]


def test_groups_are_columns_that_are_known_or_values(dated):
    model, corpus = dated
    table = model.topics_by("source")
    assert table.columns.tolist() == ["group", *COLUMNS]
    assert table["group"].unique().tolist() == ["press", "web"]
    assert table["documents"].tolist() == [12, 12, 24, 24]
    given = model.topics_by(["web", "press", "web"] * 12)
    pd.testing.assert_frame_equal(table, given)
    assert model.topics_by("labels")["group"].unique().tolist() == ["x", "y"]
    with pytest.raises(ValueError, match="does not know 'month'.*'labels', 'source'"):
        model.topics_by("month")
    with pytest.raises(ValueError, match="knows no dates"):
        LDA(2, max_iter=2).fit(corpus.counts).topics_over_time()
    with pytest.raises(ValueError, match="dates has 2 values for 36 documents"):
        model.topics_over_time([2000, 2001])
    with pytest.raises(ValueError, match="dates must be dates, and 'May' is not"):
        model.topics_over_time(["May"] * 36)
    with pytest.raises(ValueError, match="level is 95"):
        model.topics_over_time(level=95)
    with pytest.raises(ValueError, match="keeps no documents"):
        LDA(2).partial_fit(corpus.counts).topics_by(["x"])


def test_the_prior_is_taken_out_of_proportions_where_it_is_in_them(dated):
    model, corpus = dated
    observed = observed_proportions(model)
    assert observed.max(axis=1).min() > model.doc_topic_.max(axis=1).min()
    labeled = LabeledLDA(max_iter=3).fit(corpus)
    np.testing.assert_array_equal(observed_proportions(labeled), labeled.doc_topic_)
    empty = LDA(2, max_iter=2).fit(np.vstack([corpus.counts.toarray(), np.zeros(10)]))
    assert np.isnan(observed_proportions(empty)[-1]).all()
    assert empty.topics_by(["x"] * 36 + ["y"])["documents"].tolist() == [36, 36, 0, 0]


@pytest.mark.parametrize(("interval", "least"), [("score", 0.93), ("bootstrap", 0.82)])
def test_intervals_cover_the_mean_of_small_groups(interval, least):
    """Groups of ten documents with skewed proportions: 95 % is asked for."""
    rng = np.random.default_rng(0)
    mean, covered = np.array([0.1, 0.3, 0.6]), []
    for seed in range(60):
        proportions = rng.dirichlet(mean, 40)
        groups = label_membership(np.arange(40) // 10, 40)
        table = prevalence_table(
            proportions, groups, list("abc"), interval=interval, random_state=seed
        )
        truth = np.tile(mean, 4)
        covered += ((table["low"] <= truth) & (truth <= table["high"])).tolist()
    assert least < np.mean(covered) < 0.98


def test_one_document_says_little_and_more_say_more():
    proportions = np.vstack([np.tile([0.8, 0.2], (30, 1)), np.tile([0.4, 0.6], (31, 1))])
    table = prevalence_table(proportions, label_membership(["a"] * 60 + ["b"], 61), ["p", "q"])
    width = (table["high"] - table["low"]).tolist()
    assert width[2] > 2 * width[0]
    alone = prevalence_table(proportions[:1], label_membership(["a"], 1), ["p", "q"])
    assert alone["high"][0] - alone["low"][0] > 0.7


def test_the_words_of_a_topic_change_with_time():
    """The topic says "a b" first and "a c" later."""
    early, late = "alpha beta " * 5, "alpha gamma " * 5
    other = "delta epsilon " * 5
    corpus = topoi.read(
        [early, late, other] * 8,
        dates=[2000, 2001, 2001] * 8,
        keep_text=True,
        vectorizer=topoi.make_vectorizer(min_df=1, max_df=1.0),
    )
    model = LDA(2, max_iter=30).fit(corpus)
    table = model.words_over_time(model.find_topics("alpha")["topic"][0], n=2)
    assert table.columns.tolist() == ["period", "start", "word", "probability", "count", "lift"]
    words = table.groupby("period")["word"].agg(set).to_dict()
    assert words == {"2000": {"alpha", "beta"}, "2001": {"alpha", "gamma"}}
    np.testing.assert_allclose(table["count"], 40, rtol=0.1)
    plain = LDA(2, max_iter=5).fit(corpus.counts)
    with pytest.raises(ValueError, match="keeps no texts.*give them as X"):
        plain.words_by(0, ["x"] * 24)
    assert set(plain.words_by(0, ["x"] * 24, X=corpus.counts)["group"]) == {"x"}


def test_effects_are_differences_and_slopes(dated):
    model, _ = dated
    k = int(model.find_topics("a")["topic"][0])
    years = np.repeat([2000, 2001, 2003], 12)
    table = model.topic_effects(pd.DataFrame({"year": years}))
    assert table.columns.tolist() == [
        *("topic", "name", "term", "estimate", "error", "low", "high", "p", "documents"),
    ]
    row = table[(table["topic"] == k) & (table["term"] == "year")].iloc[0]
    expected = np.polyfit(years, observed_proportions(model)[:, k], 1)[0]
    assert row["estimate"] == pytest.approx(expected)
    assert row["low"] < expected < row["high"] < 0
    assert row["p"] < 0.01
    source = model.topic_effects("source")
    difference = source[(source["topic"] == k) & (source["term"] == "source=press")].iloc[0]
    means = model.topics_by("source").set_index(["group", "topic"])["prevalence"]
    assert difference["estimate"] == pytest.approx(means["press", k] - means["web", k])
    both = model.topic_effects(["date", "labels"])
    assert both["term"].unique().tolist() == ["intercept", "date", "labels=y"]


def test_errors_are_those_of_hc3():
    rng = np.random.default_rng(0)
    x = rng.normal(size=50)
    y = 0.3 + 0.1 * x + rng.normal(size=50) * np.abs(x) * 0.1
    design = np.column_stack([np.ones(50), x])
    inverse = np.linalg.inv(design.T @ design)
    residual = y - design @ inverse @ design.T @ y
    leverage = np.diag(design @ inverse @ design.T)
    meat = design.T @ np.diag((residual / (1 - leverage)) ** 2) @ design
    table = effects_table(y[:, None], pd.DataFrame({"x": x}), ["t"])
    np.testing.assert_allclose(table["error"], np.sqrt(np.diag(inverse @ meat @ inverse)))


def test_covariates_that_say_nothing_are_refused():
    proportions, frame = np.full((6, 1), 0.5), pd.DataFrame({"a": range(6)})
    with pytest.raises(ValueError, match="cannot be told apart"):
        effects_table(proportions, frame.assign(b=frame["a"] * 2), ["t"])
    with pytest.raises(ValueError, match="table has 5 rows for 6 documents"):
        effects_table(proportions, frame[:5], ["t"])
    with pytest.raises(ValueError, match="2 documents are too few for 2 terms"):
        effects_table(proportions[:2], frame[:2], ["t"])
    with pytest.warns(UserWarning, match="1 of 6 documents have no words or a gap"):
        effects_table(proportions, frame.assign(a=[None, 1, 5, 3, 2, 4]), ["t"])
    assert design_matrix(pd.DataFrame({"s": [True, False, True]}))[1] == ["intercept", "s=False"]


def test_the_commands_show_time_groups_and_effects(dated, tmp_path):
    model, _ = dated
    model.save(tmp_path / "m.topoi")
    k = int(model.find_topics("a")["topic"][0])

    def run(*arguments):
        done = CliRunner().invoke(app, [*map(str, arguments)])
        assert done.exit_code == 0, done.output
        return done.stdout

    path = tmp_path / "m.topoi"
    rows = json.loads(run("time", path, "--topic", k, "--json"))
    assert [row["period"] for row in rows] == ["2000", "2001", "2003"]
    assert "trend" in run("time", path)
    assert "in press" in run("groups", path, "source")
    one = run("time", path, "--topic", k)
    assert f"topic{k} by period" in one
    assert "documents" in one
    effects = run("effects", path, "date")
    assert all(
        f"{row['estimate']:.4g}" in effects
        for row in json.loads(run("effects", path, "date", "--json"))
    )
    run("groups", path, "labels", "-o", tmp_path / "g.csv")
    assert len(pd.read_csv(tmp_path / "g.csv")) == 4
    assert {row["term"] for row in json.loads(run("effects", path, "date", "--json"))} == {
        *("intercept", "date"),
    }
    plain = LDA(2, max_iter=2).fit(datasets.make_lda(n_docs=20)[0])
    plain.save(tmp_path / "p.topoi")
    done = CliRunner().invoke(app, ["time", str(tmp_path / "p.topoi")])
    assert done.exit_code == 2
    assert "knows no dates" in done.stderr

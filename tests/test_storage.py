"""Model files: what is saved comes back, and nothing else gets in."""

from __future__ import annotations

import json
import sys
import tracemalloc
import zipfile
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import topoi
from topoi import (
    LDA,
    AuthorTopicModel,
    LabeledLDA,
    RelationalTopicModel,
    datasets,
)
from topoi.models.files import FORMAT

sys.path.insert(0, str(Path(__file__).parent.parent))
from fuzz.archives import contents_of, packed

FEW = {"max_iter": 5}


def fitted_models():
    authors, _ = datasets.make_authors(40, 6, 30, 3)
    links, _ = datasets.make_links(40, 30, 3, links_per_doc=2)
    labels, _ = datasets.make_labels(40, 30, 3)
    return [
        LDA(3, weighting="tfidf", **FEW).fit(authors),
        LDA(3, **FEW).fit(authors.counts.astype(np.float32)),
        AuthorTopicModel(3, **FEW).fit(authors),
        RelationalTopicModel(3, **FEW).fit(links),
        LabeledLDA(**FEW).fit(labels),
    ]


@pytest.mark.parametrize("number", range(5))
def test_a_model_comes_back_whole(tmp_path, number):
    model = fitted_models()[number]
    path = tmp_path / "m.topoi"
    model.save(path)
    again = topoi.load(path)
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert again.history_ == model.history_
    counts = datasets.make_lda(10, 30, 3)[0].counts
    np.testing.assert_array_equal(again.transform(counts), model.transform(counts))
    np.testing.assert_array_equal(again.components_, model.components_)
    assert again.top_words(3) == model.top_words(3)
    assert [p.name for p in tmp_path.iterdir()] == ["m.topoi"], "nothing is left behind"


def test_one_model_is_one_file(tmp_path, monkeypatch):
    """Byte for byte, whenever it is saved."""
    model = fitted_models()[0]
    for hour, name in enumerate("ab"):
        monkeypatch.setattr(
            "time.localtime", lambda *_, hour=hour: (2020, 1, 1, hour, 0, 0, 0, 1, 0)
        )
        model.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_questions_still_work_after_loading(tmp_path):
    _, _, authors, links, labels = fitted_models()
    for model in (authors, links, labels):
        model.save(tmp_path / "m.topoi")
        again = topoi.load(tmp_path / "m.topoi")
        counts = datasets.make_lda(4, 30, 3)[0].counts
        if model is authors:
            assert again.predict_authors(counts, 2) == model.predict_authors(counts, 2)
        elif model is links:
            assert again.recommend_links(counts, 2) == model.recommend_links(counts, 2)
        else:
            assert again.predict(counts) == model.predict(counts)


def test_damaged_and_foreign_files_are_refused(tmp_path):
    path = tmp_path / "m.topoi"
    fitted_models()[0].save(path)
    good = path.read_bytes()
    (tmp_path / "half").write_bytes(good[: len(good) // 2])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "text").write_text("no model at all")
    for name in ("half", "empty", "text"):
        with pytest.raises(ValueError, match="not a topoi model, or it is damaged"):
            topoi.load(tmp_path / name)
    with zipfile.ZipFile(path) as archive:
        start = archive.getinfo("components_.npy").header_offset
    flipped = bytearray(good)
    flipped[start + 120] ^= 1
    (tmp_path / "flipped").write_bytes(flipped)
    with pytest.raises(ValueError, match="damaged"):
        topoi.load(tmp_path / "flipped")
    with pytest.raises(FileNotFoundError, match="does not exist"):
        topoi.load(tmp_path / "nothing")


def test_a_flipped_bit_anywhere_is_found_or_harmless(tmp_path):
    """In headers, names, checksums, data and directory: the same model comes back, or an error that
    says the file is damaged.
    """
    path = tmp_path / "m.topoi"
    model = LDA(2, max_iter=2).fit(
        topoi.read(["cats and dogs", "dogs and cats", "stocks fell", "stocks fell"] * 3)
    )
    model.save(path)
    good = path.read_bytes()
    errors = []
    for place in range(0, len(good), 5):
        path.write_bytes(good[:place] + bytes([good[place] ^ (1 << place % 8)]) + good[place + 1 :])
        try:
            again = topoi.load(path)
        except ValueError as error:
            errors.append(str(error))
        else:
            np.testing.assert_array_equal(again.components_, model.components_)
            assert list(again.vocabulary_) == list(model.vocabulary_)
    assert all("damaged" in error for error in errors)
    assert len(errors) > len(good) / 10, "most of the file is data, and names"


def test_foreign_zips_and_objects_are_refused(tmp_path):
    path = tmp_path / "m.topoi"
    good = {"format": FORMAT, "topoi": "0", "class": "LDA"}
    objects = BytesIO()
    np.lib.format.write_array(objects, np.array([print], dtype=object), allow_pickle=True)
    contents = [
        {"word/document.xml": b"<xml/>"},
        {"manifest.json": b"[]"},
        {"manifest.json": b"{"},
        {"manifest.json": json.dumps({**good, "values": {}}).encode()},
        {
            "manifest.json": (
                json.dumps({**good, "values": {"components_": {"array": "components_"}}}).encode()
            )
        },
        {
            "manifest.json": (
                json.dumps({**good, "values": {"x": {"plain": "Popen", "values": {}}}}).encode()
            )
        },
        {
            "manifest.json": (
                json.dumps({**good, "values": {"components_": {"array": "c"}}}).encode()
            ),
            "c.npy": objects.getvalue(),
        },
    ]
    for files in contents:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        with pytest.raises(ValueError, match="not a topoi model, or it is damaged"):
            topoi.load(path)


def test_words_and_names_stay_with_the_model(tmp_path):
    texts = ["Cats and dogs", "dogs, cats", "stocks fell", "stocks rose"] * 3
    corpus = topoi.read(
        texts,
        doc_names=[f"d{i}" for i in range(12)],
        vectorizer=topoi.make_vectorizer(max_df=1.0, ngram_range=(1, 2)),
    )
    model = LDA(2, **FEW).fit(corpus).name_topics({1: "pets"})
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(
        again.vectorizer_.transform(texts).toarray(), corpus.counts.toarray()
    )
    assert again.topic_names_ == ["topic0", "pets"]
    assert list(again.doc_names_) == corpus.doc_names
    model.vectorizer_ = CountVectorizer(analyzer=str.split).fit(texts)
    with pytest.raises(TypeError, match="plain CountVectorizer only"):
        model.save(tmp_path / "n.topoi")
    assert [p.name for p in tmp_path.iterdir()] == ["m.topoi"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": FORMAT + 1}, "upgrade topoi"),
        ({"format": 1}, "fit and save the model again"),
        ({"class": "os.system"}, "not a topoi model"),
    ],
)
def test_other_manifests_are_refused(tmp_path, change, text):
    path = tmp_path / "m.topoi"
    manifest = {"format": FORMAT, "topoi": "0", "class": "LDA", "values": {}} | change
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
    with pytest.raises(ValueError, match=text):
        topoi.load(path)


def test_what_cannot_be_saved_says_so(tmp_path):
    counts = datasets.make_lda(10, 20, 2)[0].counts
    with pytest.raises(ValueError, match="not fitted"):
        LDA(2).save(tmp_path / "m")

    class Other(LDA):
        pass

    with pytest.raises(TypeError, match="is not a class of topoi"):
        Other(2, max_iter=2).fit(counts).save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("random_state", [np.random.default_rng(0), np.random.RandomState(0)])
def test_a_generator_stays_outside_of_the_file(random_state, tmp_path):
    model = LDA(2, max_iter=2, random_state=random_state).fit(np.eye(4) + 1)
    model.save(tmp_path / "m.topoi")
    np.testing.assert_array_equal(topoi.load(tmp_path / "m.topoi").components_, model.components_)


@pytest.mark.parametrize(
    "manifest", [{"format": "x"}, {"format": None}, {"format": 1, "class": ["LDA"]}, {}]
)
def test_a_strange_manifest_is_refused_in_a_sentence(manifest, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.topoi", "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
    with pytest.raises(ValueError, match="is not a topoi model, or it is damaged"):
        topoi.load(tmp_path / "m.topoi")


def changed_file(path, change, *, seal=True, into=None):
    """Change the manifest and arrays of the file at `path`; seal: with the right digest."""
    contents = contents_of(path)
    change(contents.manifest["values"], contents.arrays)
    contents.seal = seal
    (into or path).write_bytes(packed(contents))


RAISED = {  # what must not get in, though zip, checksums and digest are right
    "n_features_in_": lambda values, arrays: values.update(n_features_in_=10_000),
    "n_jobs": lambda values, arrays: values.update(n_jobs=10_000),
    "n_iter_ as text": lambda values, arrays: values.update(n_iter_="<script>alert(1)</script>"),
    "words cut": lambda values, arrays: arrays.update(
        components_=arrays["components_"][:, :-1].copy()
    ),
    "idf cut": lambda values, arrays: arrays.update(
        {"weighting_.idf": arrays["weighting_.idf"][:-1].copy()}
    ),
    "negative": lambda values, arrays: arrays["components_"].__setitem__((0, 0), -1),
    "NaN": lambda values, arrays: arrays["doc_topic_prior_"].__setitem__(0, np.nan),
    "rows": lambda values, arrays: arrays["doc_topic_"].__imul__(2),
    "another type": lambda values, arrays: arrays.update(
        components_=arrays["components_"].astype(np.float16)
    ),
    "missing": lambda values, arrays: arrays.pop("doc_topic_prior_"),
    "one more": lambda values, arrays: arrays.update(more=np.zeros(3)),
    "topics": lambda values, arrays: values.update(n_components=4),
    "rule": lambda values, arrays: values.update(rule="other"),
    "a rule and a schedule that do not go together": lambda values, arrays: values.update(
        rule="vb", schedule="residual"
    ),
}


@pytest.mark.parametrize("name", RAISED)
def test_a_file_that_breaks_the_schema_is_refused_in_one_sentence(tmp_path, name):
    path = tmp_path / "m.topoi"
    LDA(3, weighting="tfidf", **FEW).fit(datasets.make_authors(40, 6, 30, 3)[0]).save(path)
    changed_file(path, RAISED[name])
    with pytest.raises(
        ValueError,
        match=(
            r"^.*m\.topoi is not a topoi model, or it is damaged \([^\n]*\); give another file\.$"
        ),
    ):
        topoi.load(path)


def test_a_changed_value_is_found_by_the_digest(tmp_path):
    path = tmp_path / "m.topoi"
    fitted_models()[1].save(path)
    changed_file(
        path, lambda values, arrays: arrays["components_"].__setitem__((0, 0), 7.0), seal=False
    )
    with pytest.raises(ValueError, match="SHA-256"):
        topoi.load(path)
    changed_file(path, lambda values, arrays: None)
    assert topoi.load(path).components_[0, 0] == 7, "sealed again it is another valid model"


def test_an_unused_member_is_refused_before_it_is_read(tmp_path):
    """A small file may not claim much memory: neither by a member nobody needs, nor by a long
    manifest.
    """
    path = tmp_path / "m.topoi"
    fitted_models()[1].save(path)
    good = path.read_bytes()
    for name in ("unused.npy", "manifest.json"):
        path.write_bytes(good)
        with (
            zipfile.ZipFile(
                path, "w" if name == "manifest.json" else "a", zipfile.ZIP_DEFLATED
            ) as archive,
            archive.open(name, "w") as file,
        ):
            np.lib.format.write_array_header_1_0(
                file, {"descr": "|u1", "fortran_order": False, "shape": (2**28,)}
            )
            for _ in range(2**8):
                file.write(bytes(2**20))
        tracemalloc.start()
        with pytest.raises(ValueError, match="does not belong there|bytes; at most"):
            topoi.load(path)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 2**25


def test_what_decides_over_the_machine_stays_outside_of_the_file(tmp_path):
    model = LDA(2, n_jobs=2, verbose=0, callbacks=[lambda *_: None], **FEW).fit(np.eye(4) + 1)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert (again.n_jobs, again.verbose, again.callbacks) == (None, 0, None)


@pytest.mark.parametrize(
    "pattern",
    [r"(\w+)+x", r"(a|aa)+b", r"(?=\w)\w+", r"(\w)\1+", r"\w+\w+\w+!", "x" * 300, r"\w+x"],
)
def test_a_pattern_that_could_hang_is_neither_saved_nor_loaded(tmp_path, pattern):
    texts = ["cats and dogs", "dogs and cats", "stocks fell", "stocks fell"] * 3
    model = LDA(2, **FEW).fit(topoi.read(texts))
    model.save(tmp_path / "m.topoi")
    changed_file(
        tmp_path / "m.topoi",
        lambda values, arrays: values.update({"vectorizer_.token_pattern": pattern}),
    )
    with pytest.raises(
        ValueError, match=r"m\.topoi cuts texts into words by the pattern.*Use a plainer one"
    ):
        topoi.load(tmp_path / "m.topoi")
    model.vectorizer_.token_pattern = pattern
    with pytest.raises(ValueError, match=r"This LDA cuts texts.*vectorizer_ to None"):
        model.save(tmp_path / "n.topoi")


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?u)\b\w\w+\b",
        r"\b\w+(?:[-']\w+)*\b",
        r"[a-zA-Z]{3,}",
        r"\S+",
        r"(?i)\b([a-z]{2,20})\b",
        r"[#@]?\w+",
        r"[a-z]+|\d+",
    ],
)
def test_usual_patterns_are_kept(tmp_path, pattern):
    texts = ["cats and dogs", "dogs and cats", "stocks fell", "stocks fell"] * 3
    vectorizer = topoi.make_vectorizer(token_pattern=pattern)
    LDA(2, **FEW).fit(topoi.read(texts, vectorizer=vectorizer)).save(tmp_path / "m.topoi")
    assert topoi.load(tmp_path / "m.topoi").vectorizer_.token_pattern == pattern


def test_an_attribute_without_a_place_in_the_file_is_refused(tmp_path):
    model = LDA(2, **FEW).fit(np.eye(4) + 1)
    model.note = "mine"
    with pytest.raises(TypeError, match="'note', which a model file cannot hold; delete it"):
        model.save(tmp_path / "m.topoi")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_partial_fit_continues_in_the_same_bits_after_loading(tmp_path, dtype):
    """Its pace (the batches seen) and its priors (the evidence so far) are in the file."""
    counts = datasets.make_lda(300, 40, 3, random_state=2)[0].counts.astype(dtype)
    batches = [counts[i : i + 30] for i in range(0, 300, 30)]
    model = LDA(3, total_samples=300, random_state=None)
    for batch in batches[:6]:
        model.partial_fit(batch)
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    assert again._online.batches == 6
    for batch in batches[6:]:
        model.partial_fit(batch)
        again.partial_fit(batch)
    np.testing.assert_array_equal(again.components_, model.components_)
    np.testing.assert_array_equal(again.doc_topic_prior_, model.doc_topic_prior_)
    assert again.topic_word_prior_ == model.topic_word_prior_


def test_everything_a_model_may_have_comes_back(tmp_path):
    """Names of columns, names as numbers, ids, output as pandas frames, a prior per topic, a run in
    batches.
    """
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.eye(6) + 1, columns=list("abcdef"))
    links, _ = datasets.make_links(20, 15, 3)
    models = [
        LDA(3, doc_topic_prior=[0.1, 0.2, 0.3], **FEW).fit(frame).set_output(transform="pandas"),
        LDA(3, batch_size=2, init="soft", **FEW).fit(frame),
        topoi.LatentDirichletAllocation(3, random_state=0).fit(frame),
        LabeledLDA(1, **FEW).fit(frame, [3, 1, 3, 1, 2, 2]),
        AuthorTopicModel(2, **FEW).fit(frame, authors=[[1], [2], [1, 2], [], [5], [5]]),
        RelationalTopicModel(3, **FEW).fit(
            links.counts, links=[[i + 1] for i in range(20)], doc_names=list(range(20))
        ),
    ]
    for model in models:
        model.save(tmp_path / "m.topoi")
        again = topoi.load(tmp_path / "m.topoi")
        again.save(tmp_path / "n.topoi")
        assert (tmp_path / "n.topoi").read_bytes() == (tmp_path / "m.topoi").read_bytes()
        x = frame if model.n_features_in_ == 6 else links.counts
        np.testing.assert_array_equal(
            np.asarray(again.transform(x)), np.asarray(model.transform(x))
        )
        assert type(again.transform(x)) is type(model.transform(x))
        np.testing.assert_array_equal(again.doc_names_, model.doc_names_)
        assert list(getattr(again, "classes_", [])) == list(getattr(model, "classes_", []))

"""Model files: what is saved comes back, and nothing else gets in."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

import topoi
from topoi import LDA, AuthorTopicModel, LabeledLDA, RelationalTopicModel, TopicModel, Words, datasets
from topoi.storage import FORMAT

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
        monkeypatch.setattr("time.localtime", lambda *_, hour=hour: (2020, 1, 1, hour, 0, 0, 0, 1, 0))
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
            assert again.predict_links(counts, 2) == model.predict_links(counts, 2)
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
    """In headers, names, checksums, data and directory: the same model comes back, or an error that says the file is damaged."""
    path = tmp_path / "m.topoi"
    model = LDA(2, max_iter=2).fit(topoi.read(["cats and dogs", "dogs and cats", "stocks fell", "stocks fell"] * 3))
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
        {"manifest.json": json.dumps({**good, "values": {"components_": {"array": "components_"}}}).encode()},
        {"manifest.json": json.dumps({**good, "values": {"x": {"plain": "Popen", "values": {}}}}).encode()},
        {"manifest.json": json.dumps({**good, "values": {"components_": {"array": "c"}}}).encode(), "c.npy": objects.getvalue()},
    ]
    for files in contents:
        with zipfile.ZipFile(path, "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        with pytest.raises(ValueError, match="not a topoi model, or it is damaged"):
            topoi.load(path)


def test_words_and_names_stay_with_the_model(tmp_path):
    texts = ["Cats and dogs", "dogs, cats", "stocks fell", "stocks rose"] * 3
    corpus = topoi.read(texts, id=[f"d{i}" for i in range(12)], vectorizer=topoi.make_vectorizer(max_df=1.0, ngram_range=(1, 2)))
    model = LDA(2, **FEW).fit(corpus).name_topics({1: "pets"})
    model.save(tmp_path / "m.topoi")
    again = topoi.load(tmp_path / "m.topoi")
    np.testing.assert_array_equal(again.vectorizer_.transform(texts).toarray(), corpus.counts.toarray())
    assert again.topic_names_ == ["topic0", "pets"]
    assert list(again.doc_names_) == corpus.doc_names
    model.vectorizer_ = CountVectorizer(analyzer=str.split).fit(texts)
    with pytest.raises(TypeError, match="plain CountVectorizer only"):
        model.save(tmp_path / "n.topoi")
    assert [p.name for p in tmp_path.iterdir()] == ["m.topoi"]


@pytest.mark.parametrize(("change", "text"), [({"format": FORMAT + 1}, "upgrade topoi"), ({"class": "os.system"}, "no topoi model")])
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
    with pytest.raises(TypeError, match="factors may hold any code"):
        TopicModel([Words(counts)], 2, max_iter=2).fit().save(tmp_path / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("random_state", [np.random.default_rng(0), np.random.RandomState(0)])
def test_a_generator_stays_outside_of_the_file(random_state, tmp_path):
    model = LDA(2, max_iter=2, random_state=random_state).fit(np.eye(4) + 1)
    model.save(tmp_path / "m.topoi")
    np.testing.assert_array_equal(topoi.load(tmp_path / "m.topoi").components_, model.components_)


@pytest.mark.parametrize("manifest", [{"format": "x"}, {"format": None}, {"format": 1, "class": ["LDA"]}, {}])
def test_a_strange_manifest_is_refused_in_a_sentence(manifest, tmp_path):
    with zipfile.ZipFile(tmp_path / "m.topoi", "w") as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
    with pytest.raises(ValueError, match="is not a topoi model, or it is damaged"):
        topoi.load(tmp_path / "m.topoi")

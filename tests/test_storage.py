"""Model files: what is saved comes back, and nothing else gets in."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

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

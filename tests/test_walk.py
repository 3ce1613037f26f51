"""One walk through everything people do with topics, as a user would take it."""

from __future__ import annotations

import numpy as np
import pytest

import topoi
from topoi import LDA

THEMES = {
    "pets": ["cat", "dog", "fur", "paw", "tail", "leash", "kitten"],
    "money": ["bank", "stock", "bond", "market", "share", "trade", "coin"],
    "sea": ["ship", "wave", "sail", "port", "anchor", "tide", "crew"],
    "food": ["bread", "salt", "soup", "oven", "spice", "plate", "rice"],
}


def texts_about(names, n, rng):
    return [" ".join(rng.choice(THEMES[names[i % len(names)]], 25)) for i in range(n)]


@pytest.fixture(scope="module")
def corpus():
    """Ninety texts; those about pets end in 2004, those about the sea begin in 2005."""
    rng = np.random.default_rng(0)
    early, late = texts_about(["pets", "money"], 50, rng), texts_about(["sea", "money"], 40, rng)
    rows = [
        {"id": f"d{i}", "text": text, "when": str(2000 + i // 10), "who": f"author {i % 3}"}
        for i, text in enumerate(early + late)
    ]
    return topoi.read(rows, doc_names="id", dates="when", groups=["who"], keep_text=True)


def test_a_walk_through_everything(corpus, tmp_path):
    seeds = {"animals": ["cat", "dog"], "finance": ["bank", "stock"]}
    model = LDA(4, seeds=seeds, random_state=0).fit(corpus)
    assert model.topic_names_[:2] == ["animals", "finance"]
    assert set(model.top_words(7)[0]) == set(THEMES["pets"])

    found = model.find_topics("ship sail")
    sea = int(found["topic"].iloc[0])
    assert set(model.show_topic(sea)["word"]) <= set(THEMES["sea"])
    assert model.similar_documents("cat fur paw", 3)["proportion"].min() > 0.8
    assert "cat" in model.representative_documents("animals", 1)["text"].iloc[0]

    model.name_topics({sea: "ocean"})
    spare = next(k for k in range(4) if k not in (0, 1, sea))
    merged = model.merge_topics([[sea, spare]])
    assert merged.components_.shape[0] == 3
    assert {"animals", "finance", "ocean"} == set(merged.topic_names_)
    assert model.components_.shape[0] == 4, "the old model stays as it is"

    years = merged.topics_over_time()
    prevalence = years[years["name"] == "ocean"].set_index("period")["prevalence"]
    assert prevalence["2000"] < 0.05
    assert prevalence["2008"] > 0.3
    assert set(merged.topics_by("who")["group"]) == {"author 0", "author 1", "author 2"}

    labels = merged.label(["the cat sat on a ship"]).set_index("word")["name"]
    assert labels.to_dict() == {"cat": "animals", "ship": "ocean"}
    assert "cat" in merged.show("the cat sat on a ship")._repr_html_()

    path = tmp_path / "walk.topoi"
    merged.save(path)
    again = topoi.load(path)
    np.testing.assert_array_equal(again.transform(corpus), merged.transform(corpus))
    assert again.topic_names_ == merged.topic_names_

    new = texts_about(["food", "money"], 30, np.random.default_rng(1))
    updated = again.update(topoi.read(new, min_df=1), new_topics=1)
    assert updated.topic_names_[:3] == again.topic_names_
    assert set(updated.top_words(7)[3]) == set(THEMES["food"])
    assert int(updated.find_topics("soup with rice")["topic"].iloc[0]) == 3
    assert updated.topic_drift(again).shape[0] >= 3
    updated.report(tmp_path / "walk.html")
    assert "ocean" in (tmp_path / "walk.html").read_text()

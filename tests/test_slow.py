"""What needs the real corpora: run by `make test-slow`, with TOPOI_DATA naming their folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from topoi import LDA, datasets, evaluate

DATA = Path(os.environ.get("TOPOI_DATA", ""))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "TOPOI_DATA" not in os.environ or not DATA.exists(),
        reason="set TOPOI_DATA to the folder of corpora",
    ),
]
K = 50


@pytest.fixture(scope="module")
def cora():
    """80 % of the documents to train on, 20 % to complete."""
    return datasets.load_npz(DATA / "cora" / "cora.npz").split(0.2)


@pytest.fixture(scope="module")
def fixed_priors(cora):
    """Predictive perplexity of a-BP with alpha = beta = 0.01, three seeds."""
    train, test = cora
    models = [
        LDA(
            K,
            doc_topic_prior=0.01,
            topic_word_prior=0.01,
            max_iter=300,
            n_jobs=-1,
            random_state=seed,
        ).fit(train)
        for seed in range(3)
    ]
    return np.array([evaluate.completion_perplexity(model, test) for model in models])


def test_cora_has_the_published_quality(fixed_priors):
    """Five seeds of an independent program gave 865, with a standard deviation of 1 to 3 %
    (algorithms 2.3).
    """
    assert 820 < fixed_priors.mean() < 910, fixed_priors


def test_learned_priors_are_worth_five_per_cent_on_cora(cora, fixed_priors):
    """The same program found alpha near 0.080, beta near 0.045 and 798 (algorithms 4.5)."""
    train, test = cora
    models = [LDA(K, max_iter=300, n_jobs=-1, random_state=seed).fit(train) for seed in range(3)]
    learned = np.array([evaluate.completion_perplexity(model, test) for model in models])
    assert learned.mean() < 0.95 * fixed_priors.mean(), (learned, fixed_priors)
    for model in models:
        assert 0.04 < model.doc_topic_prior_.mean() < 0.16
        assert 0.0225 < model.topic_word_prior_ < 0.09


def test_synchronous_and_asynchronous_agree_on_cora(cora, fixed_priors):
    """s-BP and a-BP are equal within seed noise: 3 % between the means of three seeds."""
    train, test = cora
    options = {
        "schedule": "synchronous",
        "doc_topic_prior": 0.01,
        "topic_word_prior": 0.01,
        "max_iter": 300,
        "n_jobs": -1,
    }
    found = [
        evaluate.completion_perplexity(LDA(K, random_state=seed, **options).fit(train), test)
        for seed in range(3)
    ]
    np.testing.assert_allclose(np.mean(found), fixed_priors.mean(), rtol=0.03, err_msg=str(found))


def test_the_papers_experiments_run(tmp_path):
    """All of them in small, into a copy of the page: every table is filled, and every figure that
    the page shows is there.
    """
    pytest.importorskip("matplotlib", reason="figures need matplotlib: pip install -e '.[paper]'")
    root = Path(__file__).parent.parent
    page = root / "docs" / "paper.md"
    empty = re.sub(
        r"(<!-- \w+: .*? -->\n).*?(<!-- end -->)",
        r"\1\2",
        page.read_text(encoding="utf8"),
        flags=re.DOTALL,
    )
    (tmp_path / "paper.md").write_text(empty, encoding="utf8")
    command = [
        sys.executable,
        "-m",
        "experiments",
        "all",
        "--data",
        str(DATA.resolve()),
        "--quick",
        "--out",
        str(tmp_path),
    ]
    subprocess.run(command, cwd=root, check=True)
    filled = (tmp_path / "paper.md").read_text(encoding="utf8")
    assert not re.findall(r"<!-- (\w+: .*?) -->\n<!-- end -->", filled)
    assert all((tmp_path / image).is_file() for image in re.findall(r"\]\((img/.*?)\)", filled))

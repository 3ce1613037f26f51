"""Fixtures of all tests; what tests call is in `support.py`."""

from __future__ import annotations

import csv
import sys

import numpy as np
import pytest
from hypothesis import settings
from support import MONEY, PETS, QUICK, Here, run, tune

from topoi import LDA, datasets
from topoi.infer import kernels

settings.register_profile("topoi", deadline=None, derandomize=True, print_blob=False, database=None)
settings.load_profile("topoi")


@pytest.fixture
def warm_up_always(monkeypatch):
    """schedule="auto" is warm-up on small corpora, too."""
    tune(monkeypatch, warm_up_from=0)


@pytest.fixture
def here(monkeypatch):
    """A "client" with which all tasks are computed at once in this process."""
    monkeypatch.setattr("topoi.models.cluster.DaskWorkers", lambda _: Here())
    return object()


@pytest.fixture(scope="session")
def blocks():
    """(corpus, truth) of four topics that share no word."""
    return datasets.make_blocks(random_state=3)


@pytest.fixture(scope="session")
def mixed():
    """(corpus, truth) of five topics, documents mix them."""
    return datasets.make_lda(150, 80, 5, random_state=1)


@pytest.fixture(scope="session")
def fitted(mixed):
    return LDA(5, doc_topic_prior=0.1, topic_word_prior=0.05, max_iter=40, tol=0).fit(mixed[0])


@pytest.fixture(scope="session")
def small():
    corpus, _ = datasets.make_lda(60, 40, 4, doc_length=25, random_state=3)
    return corpus.counts


@pytest.fixture(scope="session")
def authored():
    return datasets.make_authors(400, 15, 120, 5, doc_length=80, alpha=0.08, random_state=1)


@pytest.fixture(scope="session")
def linked():
    return datasets.make_links(400, 300, 6, doc_length=15, links_per_doc=5, random_state=2)


@pytest.fixture(scope="session")
def labeled():
    return datasets.make_labels(400, 120, 6, random_state=4)


@pytest.fixture(scope="session")
def work(tmp_path_factory):
    """A folder of texts, a table, counts, and a model of each kind."""
    folder = tmp_path_factory.mktemp("work")
    rng = np.random.default_rng(0)
    (folder / "texts").mkdir()
    with (folder / "t.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "abstract", "who", "topic", "cites"])
        for i in range(40):
            words = " ".join(rng.choice(PETS if i % 2 else MONEY, 12))
            table.writerow(
                [
                    f"d{i}",
                    words,
                    f"{'Ann' if i % 2 else 'Bob'}; Cy",
                    "pets" if i % 2 else "money",
                    f"d{(i + 2) % 40}",
                ]
            )
            (folder / "texts" / f"{i:02}.txt").write_text(words)
    columns = [folder / "t.csv", "--text", "abstract", "--doc-names", "id"]
    run("fit", *columns, "--n-components", 2, "-o", folder / "lda.topoi", *QUICK)
    run(
        "fit",
        *columns,
        "--n-components",
        2,
        "--authors",
        "who",
        "-o",
        folder / "author.topoi",
        *QUICK,
    )
    run(
        "fit",
        *columns,
        "--n-components",
        2,
        "--links",
        "cites",
        "-o",
        folder / "links.topoi",
        *QUICK,
    )
    run("fit", *columns, "--labels", "topic", "-o", folder / "labels.topoi", *QUICK)
    return folder


@pytest.fixture
def no_kernel_runs(monkeypatch):
    """Bad input never reaches a kernel: a sweep in such a test is an error."""

    def refuse(*_):
        raise AssertionError("bad input has reached a kernel")

    for name in kernels.__all__:
        monkeypatch.setattr(kernels, name, refuse)


@pytest.fixture(autouse=True)
def closed_figures():
    """Figures of a test do not stay open."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")

"""How large is the page of 200 topics and 50,000 documents, how soon is it open, and how long do
people wait for what they ask of it?

``python -m benchmarks.page`` (Debian's chromium, and ``pip install playwright``); with
``--topics 500 --documents 100000`` for a larger one.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.common import machine, table
from topoi import LDA, Corpus

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SIZE_AIM, OPEN_AIM, ANSWER_AIM = 5.0, 2.0, 0.5  # megabytes, seconds, seconds
TOPICS_OF_DOCUMENT, LENGTH, REPEATS = 4, 60, 5
OPEN = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"
# What people do, as statements of the page's language; I is a number that changes.
ASKED = {
    "select a topic": "location.hash = '#topic=I'",
    "select a document": "location.hash = '#document=A title of some words, number I'",
    "select a word": "location.hash = '#word=wordI'",
    "type into the search": "type('.search input', 'wordI')",
    "filter the table": "type('.tools input', 'wordI')",
    "zoom the map": "document.querySelector('.zoom button').click()",
    "show the tree": "document.querySelectorAll('.views button')[(I + 1) % 2].click()",
}
# From there to the second frame after it: the answer is on the screen.
WAIT = """new Promise((done) => {
  const began = performance.now();
  const type = (where, text) => {
    const field = document.querySelector(where);
    field.value = text;
    field.dispatchEvent(new Event("input"));
  };
  ACT;
  const end = () => done((performance.now() - began) / 1000);
  requestAnimationFrame(() => requestAnimationFrame(end));
})"""


def drawn(n_docs: int, n_words: int, n_topics: int, seed: int = 0) -> tuple[Corpus, np.ndarray]:
    """Documents of a few topics each, and the topics: word frequencies fall as in texts.

    Tokens are drawn one topic at a time, since all documents x words would not fit into memory.
    """
    random = np.random.default_rng(seed)
    usual = 1 / (10 + np.arange(n_words))
    topics = random.gamma(0.1, size=(n_topics, n_words)) * usual + 1e-9
    topics /= topics.sum(axis=1, keepdims=True)
    own = random.integers(0, n_topics, (n_docs, TOPICS_OF_DOCUMENT))
    parts = random.dirichlet(np.full(TOPICS_OF_DOCUMENT, 0.5), n_docs)
    tokens = np.maximum(np.rint(LENGTH * parts), 1).astype(np.int64)
    of_topic = np.repeat(own.ravel(), tokens.ravel())
    document = np.repeat(np.repeat(np.arange(n_docs), TOPICS_OF_DOCUMENT), tokens.ravel())
    word = np.empty(len(document), dtype=np.int64)
    for k, topic in enumerate(topics):
        at = np.flatnonzero(of_topic == k)
        word[at] = random.choice(n_words, len(at), p=topic)
    ones = np.ones(len(word))
    counts = sparse.coo_array((ones, (document, word)), shape=(n_docs, n_words)).tocsr()
    vocabulary = np.array([f"word{w}" for w in range(n_words)])
    ends = np.cumsum(tokens.sum(axis=1))[:-1]
    texts = [" ".join(vocabulary[row]) for row in np.split(word, ends)]
    names = [f"A title of some words, number {d}" for d in range(n_docs)]
    return Corpus(counts, vocabulary, doc_names=names, texts=texts), topics


def opened(browser: Any, file: Path) -> float:
    """Seconds from the request to the end of the load event, after the script has run."""
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_function(f"{OPEN} > 0")
    seconds = float(page.evaluate(OPEN))
    page.close()
    return seconds


def answers(browser: Any, file: Path) -> dict[str, float]:
    """Seconds until the page shows what is asked for, the median of some times."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    found = {}
    for what, act in ASKED.items():
        waits = [WAIT.replace("ACT", act.replace("I", str(i))) for i in range(REPEATS)]
        found[what] = float(np.median([page.evaluate(wait) for wait in waits]))
    page.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=30_000)
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    corpus, topics = drawn(args.documents, args.words, args.topics)
    # From the true topics, one round is enough for a page; no messages are stored.
    settings = {"init": topics, "schedule": "incremental", "max_iter": 1, "tol": 0, "n_jobs": -1}
    model = LDA(args.topics, **settings).fit(corpus)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        began = time.perf_counter()
        model.report(file)
        written, size = time.perf_counter() - began, file.stat().st_size / 1e6
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        seconds = float(np.median([opened(browser, file) for _ in range(REPEATS)]))
        waited = answers(browser, file)
        browser.close()
    head = f"{args.topics} topics, {args.documents:,} documents, {args.words:,} words"
    print(f"{head}, titles and texts. {machine()}.\n")
    table(
        ["", "found", "aim", ""],
        [
            line("size", size, "MB", SIZE_AIM),
            line(f"open (median of {REPEATS})", seconds, "s", OPEN_AIM),
            *(line(what, found, "s", ANSWER_AIM) for what, found in waited.items()),
            ["written in", f"{written:.1f} s", "", ""],
        ],
    )


def line(what: str, found: float, unit: str, aim: float) -> list[str]:
    met = "met" if found < aim else "**not met**"
    return [what, f"{found:.2f} {unit}", f"{aim:g} {unit}", met]


if __name__ == "__main__":
    main()

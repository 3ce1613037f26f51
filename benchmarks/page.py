"""How large is the page of 200 topics and 50,000 documents, and how soon is it open?

``python -m benchmarks.page`` (Debian's chromium, and ``pip install playwright``).
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common import machine, table
from topoi import LDA, datasets

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SIZE_AIM, OPEN_AIM = 5.0, 2.0  # megabytes, seconds
OPEN = "performance.getEntriesByType('navigation')[0].loadEventEnd / 1000"


def opened(browser: Any, file: Path) -> float:
    """Seconds from the request to the end of the load event, after the script has run."""
    page = browser.new_page()
    page.goto(file.as_uri())
    page.wait_for_function(f"{OPEN} > 0")
    seconds = float(page.evaluate(OPEN))
    page.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--topics", type=int, default=200)
    parser.add_argument("--documents", type=int, default=50_000)
    parser.add_argument("--words", type=int, default=30_000)
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    corpus, _ = datasets.make_lda(
        args.documents, args.words, args.topics, doc_length=60, random_state=0
    )
    model = LDA(args.topics, max_iter=10, n_jobs=-1).fit(corpus)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        began = time.perf_counter()
        model.report(file)
        written, size = time.perf_counter() - began, file.stat().st_size / 1e6
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        seconds = float(np.median([opened(browser, file) for _ in range(5)]))
        browser.close()
    print(
        f"{args.topics} topics, {args.documents:,} documents, {args.words:,} words. {machine()}.\n"
    )
    table(
        ["", "found", "aim", ""],
        [
            [
                "size",
                f"{size:.2f} MB",
                f"{SIZE_AIM} MB",
                "met" if size < SIZE_AIM else "**not met**",
            ],
            [
                "open (median of 5)",
                f"{seconds:.2f} s",
                f"{OPEN_AIM} s",
                "met" if seconds < OPEN_AIM else "**not met**",
            ],
            ["written in", f"{written:.1f} s", "", ""],
        ],
    )


if __name__ == "__main__":
    main()

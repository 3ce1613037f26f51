"""Pictures of the explorer page, from the docstrings that every machine with topoi has.

``python -m benchmarks.film`` writes them to docs/img/ (Debian's chromium, and
``pip install playwright pillow``). Look at each of them.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

from topoi import LDA, datasets

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
COLOURS = 128  # of a picture
TEXT = (
    "We draw samples from a mixture of Gaussian distributions, estimate their covariance, and"
    " solve the sparse linear system by an iterative solver. The signal is filtered in the"
    " frequency domain before the clusters are found."
)


def search(page: Any) -> None:
    page.locator(".search input").fill("dist")
    page.keyboard.press("ArrowDown")


def assign(page: Any) -> None:
    page.locator("textarea").fill(TEXT)
    page.locator(".reading").wait_for()


def topic_about(model: LDA, word: str) -> int:
    """The topic with the largest part of a word's uses."""
    return int(model.components_[:, list(model.vocabulary_).index(word)].argmax())


def frames(model: LDA) -> dict[str, tuple[int, int, str, dict[str, Any], Callable[..., None]]]:
    """Name of a picture: width, height, address, window, what is done before it is taken."""
    signal, samples = topic_about(model, "signal"), topic_about(model, "distribution")

    def nothing(page: Any) -> None:
        """Take the page as it is."""

    return {
        "map": (1280, 800, "", {}, nothing),
        "topic": (1280, 860, f"#topic={signal}&relevance=0.3", {}, nothing),
        "search": (1280, 560, f"#topic={signal}", {}, search),
        "text": (1280, 800, "#page=text", {}, assign),
        "document": (1280, 800, "#document=scipy.signal.butter", {}, nothing),
        "phone": (390, 844, f"#topic={samples}", {}, nothing),
        "dark": (1280, 800, f"#topic={samples}", {"color_scheme": "dark"}, nothing),
        "print": (794, 1123, "", {"media": "print"}, nothing),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/img"))
    args = parser.parse_args()
    from PIL import Image
    from playwright.sync_api import sync_playwright

    model = LDA(20, n_jobs=-1).fit(datasets.load_demo())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "page.html"
        model.report(file)
        print(f"the page: {file.stat().st_size / 1e3:.0f} kB")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (width, height, address, window, act) in frames(model).items():
            media = window.pop("media", None)
            context = browser.new_context(viewport={"width": width, "height": height}, **window)
            page = context.new_page()
            page.goto(file.as_uri() + address)
            if media:
                page.emulate_media(media=media)
            act(page)
            page.wait_for_timeout(400)
            picture = Image.open(BytesIO(page.screenshot())).convert("RGB")
            small = picture.quantize(COLOURS, dither=Image.Dither.NONE)
            path = args.output / f"{name}.png"
            small.save(path, optimize=True)
            print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")
            context.close()
        browser.close()


if __name__ == "__main__":
    main()

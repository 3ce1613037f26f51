"""Pictures of the explorer page, from the docstrings that every machine with topoi has.

``python -m benchmarks.film`` writes them to docs/img/ (Debian's chromium, and
``pip install playwright pillow pypdfium2``). Look at each of them. The docstrings have no dates:
prevalence over time is that of a synthetic corpus whose themes rise and fall by design.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import topoi
from topoi import LDA, datasets

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
COLOURS = 256  # of a picture
PRINTED_PAGES, PRINTED_WIDTH = 2, 640  # side by side, pixels of each
TEXT = (
    "We draw samples from a mixture of Gaussian distributions, estimate their covariance, and"
    " solve the sparse linear system by an iterative solver. The signal is filtered in the"
    " frequency domain before the clusters are found."
)
YEARS, PER_YEAR, LENGTH = range(1990, 2020), 40, 60
# Words of a theme, and the year in which it is most frequent.
THEMES = {
    "harvest grain wheat farmer field crop drought barn soil tractor seed rye": 1985,
    "factory steel furnace worker shift foundry coal iron strike wage union mill": 1992,
    "railway train station track timetable carriage freight signal tunnel platform": 1998,
    "television broadcast channel studio programme aerial audience film actor": 2001,
    "telephone network mobile computer screen password software message mail": 2012,
    "climate carbon emission warming glacier forest flood turbine solar energy": 2020,
    "hospital nurse doctor patient clinic vaccine ward surgery medicine": 2006,
    "museum painting gallery sculpture concert opera orchestra theatre poem": 1995,
}
SPREAD = 7  # years around the most frequent one
Frame = tuple[Path, int, int, str, dict[str, Any], Callable[[Any], None]]


def dated_model() -> LDA:
    """A model of a synthetic corpus in which each theme has its time."""
    random = np.random.default_rng(0)
    themes, peaks = [theme.split() for theme in THEMES], np.array(list(THEMES.values()))
    texts, dates, desks = [], [], []
    for year in np.repeat(YEARS, PER_YEAR):
        expected = 0.15 + np.exp(-(((year - peaks) / SPREAD) ** 2))
        own = random.dirichlet(0.8 * expected)
        drawn = random.choice(len(themes), LENGTH, p=own)
        texts.append(" ".join(random.choice(themes[theme]) for theme in drawn).capitalize() + ".")
        dates.append(str(year))
        desks.append(["town", "country", "culture"][random.integers(3) if own[0] < 0.5 else 1])
    names = [f"{year}, article {n % PER_YEAR + 1}" for n, year in enumerate(dates)]
    corpus = topoi.read(texts, keep_text=True, doc_names=names, dates=dates, labels=desks)
    return LDA(len(themes), random_state=1).fit(corpus)


def topic_about(model: LDA, word: str) -> int:
    """The topic with the largest part of a word's uses."""
    return int(model.components_[:, list(model.vocabulary_).index(word)].argmax())


def nothing(page: Any) -> None:
    """Take the page as it is."""


def search(page: Any) -> None:
    page.locator(".search input").fill("dist")
    page.keyboard.press("ArrowDown")


def assign(page: Any) -> None:
    page.locator("textarea").fill(TEXT)
    page.locator(".reading").wait_for()


def colour(page: Any) -> None:
    page.get_by_label("Colour topics by").select_option(label="Colour by labels")


def to_the_chart(page: Any) -> None:
    """Scroll the panel until prevalence over time is at its top."""
    page.get_by_role("heading", name="Over time").evaluate(
        "(title) => { const [panel, top] = [title.closest('.panel'),"
        " (part) => part.getBoundingClientRect().top]; panel.scrollTop += top(title) - top(panel) }"
    )


def frames(folder: Path) -> dict[str, Frame]:
    """Name of a picture: page, width, height, address, window, what is done before it is taken."""
    demo, dated = folder / "demo.html", folder / "dated.html"
    model, other = LDA(20, n_jobs=-1).fit(datasets.load_demo()), dated_model()
    for file, one in ((demo, model), (dated, other)):
        one.report(file)
        print(f"{file.name}: {file.stat().st_size / 1e3:.0f} kB")
    signal, samples = topic_about(model, "signal"), topic_about(model, "distribution")
    computers = topic_about(other, "computer")
    return {
        "map": (demo, 1280, 680, "", {}, colour),
        "topic": (demo, 1280, 860, f"#topic={signal}&relevance=0.3", {}, nothing),
        "search": (demo, 1280, 560, f"#topic={signal}", {}, search),
        "text": (demo, 1280, 800, "#page=text", {}, assign),
        "time": (dated, 1280, 740, f"#topic={computers}", {}, to_the_chart),
        "tree": (demo, 1280, 1180, f"#topic={samples}&view=tree", {}, nothing),
        "document": (demo, 1280, 800, "#document=scipy.signal.butter", {}, nothing),
        "phone": (demo, 390, 844, f"#topic={samples}", {}, nothing),
        "dark": (demo, 1280, 800, f"#topic={samples}", {"color_scheme": "dark"}, nothing),
    }


def printed(page: Any) -> Any:
    """The first pages as Chromium prints them on A4, side by side."""
    import pypdfium2
    from PIL import Image

    with pypdfium2.PdfDocument(page.pdf(format="A4", prefer_css_page_size=True)) as document:
        shown = [document[i] for i in range(PRINTED_PAGES)]
        pages = [one.render(scale=PRINTED_WIDTH / one.get_width()).to_pil() for one in shown]
    width, height = pages[0].size
    preview = Image.new("RGB", (len(pages) * (width + 16) + 16, height + 32), "#c9c9c9")
    for i, one in enumerate(pages):
        preview.paste(one, (16 + i * (width + 16), 16))
    return preview


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("docs/img"))
    args = parser.parse_args()
    from PIL import Image
    from playwright.sync_api import sync_playwright

    def save(name: str, picture: Any) -> None:
        path = args.output / f"{name}.png"
        method = Image.Quantize.MAXCOVERAGE  # keeps colours of small things; means keep the paper's
        small = picture.quantize(COLOURS, method, kmeans=COLOURS, dither=Image.Dither.NONE)
        small.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size / 1e3:.0f} kB")

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name, (file, width, height, address, window, act) in frames(Path(folder)).items():
            context = browser.new_context(viewport={"width": width, "height": height}, **window)
            page = context.new_page()
            page.goto(file.as_uri() + address)
            act(page)
            page.wait_for_timeout(400)
            save(name, Image.open(BytesIO(page.screenshot())).convert("RGB"))
            context.close()
        page = browser.new_page()
        page.goto((Path(folder) / "demo.html").as_uri())
        save("print", printed(page))
        browser.close()


if __name__ == "__main__":
    main()

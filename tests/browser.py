"""Debian's Chromium without a window, driven by Playwright: pages, and what their consoles say."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
OPTIONS = [
    "--headless",
    "--no-sandbox",
    "--no-first-run",
    *(
        f"--disable-{feature}"
        for feature in (
            "gpu",
            "quic",
            "background-networking",
            "component-update",
            "sync",
            "dev-shm-usage",
        )
    ),
]
MISSING = (
    "Chromium is not installed"
    if CHROMIUM is None
    else "Playwright is not installed"
    if find_spec("playwright") is None
    else None
)
needs_browser = pytest.mark.skipif(MISSING is not None, reason=MISSING or "")


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser with an empty profile; `Tab` shows pages in it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield running
        running.close()


class Tab:
    """A page in a window of its own.

    `said` holds what its console says, `asked` the addresses it asks for beside its own.
    """

    def __init__(self, browser: Any, file: Path, address: str = "", **window: Any) -> None:
        size = {"width": window.pop("width", 1280), "height": window.pop("height", 900)}
        window.setdefault("reduced_motion", "reduce")  # nothing is read while it moves
        self.context = browser.new_context(viewport=size, **window)
        self.page = self.context.new_page()
        self.said: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("dialog", lambda dialog: dialog.accept())
        self.page.goto(file.as_uri() + address)

    def __enter__(self) -> Tab:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives; the page's policy does not bind the debugger."""
        return self.page.evaluate(expression)

    def style_of(self, selector: str, name: str) -> str:
        found = f"getComputedStyle(document.querySelector({selector!r})).getPropertyValue({name!r})"
        return str(self.value(found))

    def settle(self) -> None:
        """Wait until what was asked for is drawn.

        The browser says that the address has changed after a click, not during it.
        """
        self.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))"
        )

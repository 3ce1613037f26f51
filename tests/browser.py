"""Chromium without a window, driven over its debugging pipe: enough to open a page and ask what it
did.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

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
    "--remote-debugging-pipe",
]
PATIENCE = 60  # seconds for any answer


class Browser:
    """A browser with an empty profile in `folder`.

    `said` holds what the console of the last page says.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.said, self.number, self.buffer = folder, [], 0, b""

    def __enter__(self) -> Self:
        (commands, self.commands), (self.answers, answers) = os.pipe(), os.pipe()
        # Chromium listens on file 3 and answers on file 4
        start = f'exec "$@" 3<&{commands} 4>&{answers}'
        arguments = [CHROMIUM, *OPTIONS, f"--user-data-dir={self.folder}", "about:blank"]
        with (self.folder / "log").open("wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", start, "bash", *arguments],
                pass_fds=(commands, answers),
                stdout=log,
                stderr=log,
            )
        os.close(commands), os.close(answers)
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self._ask("Target.attachToTarget", targetId=target, flatten=True)[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        return self

    def __exit__(self, *_: object) -> None:
        self._ask("Browser.close")
        os.close(self.commands), os.close(self.answers)
        self.process.wait(PATIENCE)

    def open(self, page: Path) -> None:
        """Show a page and wait until it is loaded."""
        self.said.clear()
        self.ask("Page.navigate", url=page.as_uri())
        while self._hear()["method"] != "Page.loadEventFired":
            pass

    def value(self, expression: str) -> Any:
        """What a JavaScript expression gives on the page; the page's policy does not bind the
        debugger.
        """
        return self.ask("Runtime.evaluate", expression=expression, returnByValue=True)[
            "result"
        ].get("value")

    def ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        return self._ask(method, self.session, **parameters)

    def _ask(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters} | (
            {"sessionId": session} if session else {}
        )
        os.write(self.commands, json.dumps(command).encode() + b"\0")
        while (answer := self._hear()).get("id") != self.number:
            pass
        assert "error" not in answer, answer
        return answer["result"]

    def _hear(self) -> dict[str, Any]:
        """The next message of the browser; what the console says is kept."""
        end = time.monotonic() + PATIENCE
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(end - time.monotonic(), 0))
            assert ready, f"Chromium said nothing for {PATIENCE} s"
            received = os.read(self.answers, 65536)
            assert received, (self.folder / "log").read_text(errors="replace")
            self.buffer += received
        message, self.buffer = self.buffer.split(b"\0", 1)
        field_message = {"method": "", **json.loads(message)}
        if field_message["method"] == "Log.entryAdded":
            self.said.append(field_message["params"]["entry"]["text"])
        elif field_message["method"] in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.said.append(json.dumps(field_message["params"]))
        return field_message

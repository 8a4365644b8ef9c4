"""A page in headless Chromium that is asked and looked at through the DevTools protocol, over a pipe."""

import base64
import json
import os
import select
import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from browser.chromium import CHROMIUM, FLAGS

_PATIENCE = 60


class Page:
    """An opened page. Its own security policy does not bind what is evaluated here."""

    def __init__(self, read: int, write: int):
        # Without a buffer of its own, into which messages could vanish from `select`.
        self._read, self._write = os.fdopen(read, "rb", buffering=0), os.fdopen(write, "wb")
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        self.events: list[dict[str, Any]] = []
        target = next(each for each in self.call("Target.getTargets")["targetInfos"] if each["type"] == "page")
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self._session = attached["sessionId"]
        self.call("Page.enable")
        self.call("Log.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command of the protocol."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._write.write(json.dumps(message).encode() + b"\0")
        self._write.flush()
        while (answer := self._next()).get("id") != self._number:
            self.events.append(answer)
        assert "error" not in answer, f"{method}: {answer['error']}"
        return answer["result"]

    def open(self, address: str) -> None:
        """Load `address` and wait for its load event."""
        # Another place on the same page would be no load.
        self._navigate("about:blank")
        self._navigate(address)

    def _navigate(self, address: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())

    def look(self, width: int, dark: bool = False, height: int = 900) -> None:
        """How wide the window is, and what the reader prefers."""
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression, or of the promise that it is."""
        found = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def logged(self) -> list[str]:
        """What the browser had to say, such as what the security policy refused."""
        self.evaluate("0")
        return [each["params"]["entry"]["text"] for each in self.events if each.get("method") == "Log.entryAdded"]

    def screenshot(self, path: Path) -> None:
        """The whole page as PNG."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(taken["data"]))

    def printed(self, path: Path) -> None:
        """The page as it is printed, as PDF."""
        path.write_bytes(base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"]))

    def close(self) -> None:
        """End the browser."""
        self._session = None
        self.call("Browser.close")

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            assert select.select([self._read], [], [], _PATIENCE)[0], "the browser says nothing"
            more = self._read.read(1 << 20)
            assert more, "the browser ended"
            self._buffer += more
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)


@contextmanager
def browser(profile: Path, *flags: str) -> Iterator[Page]:
    """An empty page of a new browser; `profile` is a folder for the browser's own files."""
    to_browser, from_browser = os.pipe(), os.pipe()
    # It reads commands from descriptor 3 and answers on 4.
    command = shlex.join(
        [CHROMIUM, *FLAGS, *flags, "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"]
    )
    process = subprocess.Popen(
        ["/bin/bash", "-c", f"exec {command} 3<&{to_browser[0]} 4>&{from_browser[1]}"],
        pass_fds=(to_browser[0], from_browser[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(to_browser[0])
    os.close(from_browser[1])
    page = Page(from_browser[0], to_browser[1])
    try:
        yield page
        page.close()
    finally:
        process.kill()
        process.wait()

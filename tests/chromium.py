"""Drive a headless Chromium over its debugging pipe: the DevTools protocol, with the standard library only."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

NAMES = ("chromium", "chromium-browser", "google-chrome")
_SECONDS = 60  # for an answer; a machine that runs other tests is slow


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """A page in a browser, and everything that the browser reported about it."""

    def __init__(self, commands: BinaryIO, answers: BinaryIO) -> None:
        self._commands, self._answers = commands, answers
        self._number = 0
        self.events: list[dict[str, Any]] = []
        target = self._send("Target.createTarget", {"url": "about:blank"})["targetId"]
        self._session = self._send("Target.attachToTarget", {"targetId": target, "flatten": True})[
            "sessionId"
        ]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Send a command about this page, and return its answer."""
        return self._send(method, arguments, self._session)

    def _send(self, method: str, arguments: Mapping[str, Any], session: str | None = None) -> dict[str, Any]:
        self._number += 1
        message = {"id": self._number, "method": method, "params": arguments}
        self._commands.write(
            json.dumps(message | ({"sessionId": session} if session else {})).encode() + b"\0"
        )
        self._commands.flush()
        while (answer := self._read()).get("id") != self._number:
            self.events.append(answer)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        result: dict[str, Any] = answer["result"]
        return result

    def _read(self) -> dict[str, Any]:
        data = bytearray()
        while (byte := self._answers.read(1)) != b"\0":
            assert byte, "the browser ended"
            data += byte
        message: dict[str, Any] = json.loads(data)
        return message

    def wait_for(self, event: str) -> None:
        """Read until an event of this name arrives."""
        while not any(item.get("method") == event for item in self.events):
            self.events.append(self._read())

    def open(self, file: Path) -> None:
        """Open a file, and wait until it has loaded."""
        self.events.clear()
        self.send("Page.navigate", url=file.resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def run(self, expression: str) -> Any:
        """Return the JSON value of an expression; a promise is awaited."""
        answer = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def resize(self, width: int, height: int) -> None:
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def set_theme(self, theme: str) -> None:
        """Set the color scheme that the system prefers: `light` or `dark`."""
        self.send("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def press(self, key: str, **arguments: Any) -> None:
        for kind in ("keyDown", "keyUp"):
            self.send("Input.dispatchKeyEvent", type=kind, key=key, code=key, **arguments)

    def take_picture(self, *, full: bool = False) -> bytes:
        import base64

        return base64.b64decode(self.send("Page.captureScreenshot", captureBeyondViewport=full)["data"])

    def list_errors(self) -> list[str]:
        """Return errors and exceptions, also those of the content security policy."""
        self.run("0")  # after this answer, everything that happened before has been read
        texts = []
        for item in self.events:
            match item.get("method"), item.get("params", {}):
                case "Runtime.exceptionThrown", params:
                    texts.append(
                        str(params["exceptionDetails"].get("exception", {}).get("description", params))
                    )
                case "Log.entryAdded", {"entry": {"level": "error" | "warning", "text": text}}:
                    texts.append(text)
                case "Runtime.consoleAPICalled", {"type": "error" | "warning" | "assert", "args": values}:
                    texts.append(json.dumps(values))
        return texts

    def list_requests(self) -> list[str]:
        """Return the addresses that the page requested, without `data:` and `blob:`."""
        addresses = [
            item["params"]["request"]["url"]
            for item in self.events
            if item.get("method") == "Network.requestWillBeSent"
        ]
        return [address for address in addresses if not address.startswith(("data:", "blob:"))]


@contextmanager
def open_browser(chromium: str) -> Iterator[Page]:
    """Start a browser with a new profile, and stop it at the end."""
    to_browser, commands = os.pipe()
    answers, from_browser = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}', chromium,
             "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--hide-scrollbars",
             "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        try:
            with os.fdopen(commands, "wb") as writer, os.fdopen(answers, "rb") as reader:
                yield Page(writer, reader)
        finally:
            process.kill()
            process.wait()

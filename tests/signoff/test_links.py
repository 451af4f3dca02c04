"""Published pages: asked for over HTTP, and what a redirect or a bad answer is worth."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from infx.github.signoff.links import fetch_page
from infx.signoff.facts import LinkState


class _Site(BaseHTTPRequestHandler):
    """Where an address ends in a number, that is the answer; `to-…` sends on."""

    def do_GET(self) -> None:
        last = self.path.rpartition("/")[2]
        if last == "nonsense":
            self.wfile.write(b"what?\r\n\r\n")
            return
        moved = {
            "to-home": "/",
            "to-list": "/cookbook/",
            "to-new": "/cookbook/new",
            "to-slash": "/cookbook/to-slash/",
        }
        self.send_response(301 if last in moved else int(last) if last.isdigit() else 200)
        if last in moved:
            self.send_header("Location", moved[last])
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class calls it so)
        """The test's output is not the place."""


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Site) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/cookbook"
        server.shutdown()


@pytest.mark.parametrize(
    ("page", "state"),
    [
        ("m1", LinkState.PUBLISHED),
        ("to-new", LinkState.PUBLISHED),
        ("to-slash", LinkState.PUBLISHED),
        ("to-list", LinkState.MISSING),
        ("to-home", LinkState.MISSING),
        ("404", LinkState.MISSING),
        ("410", LinkState.MISSING),
        ("403", LinkState.UNKNOWN),
        ("500", LinkState.UNKNOWN),
        ("nonsense", LinkState.UNKNOWN),
        ("a\x01b", LinkState.UNKNOWN),
        ("模型", LinkState.UNKNOWN),
    ],
)
def test_page(site: str, page: str, state: LinkState) -> None:
    assert fetch_page(f"{site}/{page}") is state


def test_nobody_answers() -> None:
    assert fetch_page("http://127.0.0.1:9/m1") is LinkState.UNKNOWN

"""Follow recipe links: published pages over HTTP, and pull requests and files of another repository."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, cast

import pytest

from infx.errors import InfxError
from infx.gather.signoff_links import fetch_page, resolve_link
from infx.github.errors import NotFoundError, PermissionDeniedError, UnexpectedReplyError
from infx.model import ChangedFile, FileStatus, PullRequest
from infx.signoff.checks.recipe import find_recipe_links
from infx.signoff.facts import LinkState
from tests.builders import pull
from tests.signoff.facts import POLICY


class _Site(BaseHTTPRequestHandler):
    """A site where a number at the end of the path is the status of the reply, and `to-…` redirects."""

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
        """Keep requests out of the test's output."""


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
def test_a_published_page_has_a_state(site: str, page: str, state: LinkState) -> None:
    assert fetch_page(f"{site}/{page}") is state


def test_an_unreachable_site_is_unknown() -> None:
    assert fetch_page("http://127.0.0.1:9/m1") is LinkState.UNKNOWN


@dataclass
class Upstream:
    """Another repository, with the same answer to every request."""

    answer: PullRequest | InfxError | bytes | None
    asked: list[str] = field(default_factory=list)

    def at(self, repository: str) -> Self:
        self.asked.append(repository)
        return self

    def _reply(self) -> Any:
        if isinstance(self.answer, InfxError):
            raise self.answer
        return self.answer

    def pull(self, number: int) -> PullRequest:
        return cast("PullRequest", self._reply())

    def files(self, pull: PullRequest) -> list[ChangedFile]:
        return [ChangedFile(path="docs/cookbook/m1.md", status=FileStatus.ADDED)]

    def read_file(self, path: str, ref: str) -> bytes | None:
        return cast("bytes | None", self._reply())


PULL, BLOB = (
    "https://github.com/sgl-project/sglang/pull/3",
    "https://github.com/sgl-project/sglang/blob/main/docs/cookbook/m1.md",
)


@pytest.mark.parametrize(
    ("url", "answer", "state"),
    [
        (PULL, pull(is_open=False, is_merged=True), LinkState.MERGED),
        (f"{PULL}/files#r1", pull(is_open=False, is_merged=True), LinkState.MERGED),
        (PULL, pull(), LinkState.OPEN),
        (PULL, pull(is_open=False), LinkState.CLOSED),
        (PULL, NotFoundError("gone"), LinkState.MISSING),
        (PULL, PermissionDeniedError("no", permission="contents"), LinkState.UNKNOWN),
        (BLOB, b"# M1", LinkState.PUBLISHED),
        (BLOB, None, LinkState.MISSING),
        (BLOB, UnexpectedReplyError("a folder"), LinkState.PUBLISHED),
        (BLOB, UnexpectedReplyError("has moved", status=301), LinkState.UNKNOWN),
        (BLOB, PermissionDeniedError("no", permission="contents"), LinkState.UNKNOWN),
    ],
)
def test_a_link_to_the_recipes_repository_has_a_state(url: str, answer: Any, state: LinkState) -> None:
    (link,) = find_recipe_links(f"Recipe: {url}", POLICY.signoff)
    upstream = Upstream(answer)
    resolved = resolve_link(link, upstream, POLICY.signoff, lambda _: LinkState.UNKNOWN)
    assert (resolved.url, resolved.state, upstream.asked) == (url, state, ["sgl-project/sglang"])
    assert resolved.paths == (("docs/cookbook/m1.md",) if state is LinkState.MERGED else ())


class Denied(Upstream):
    """Another repository whose first reply is a wrong 404."""

    def _reply(self) -> Any:
        self.asked.append("asked")
        if self.asked.count("asked") == 1:
            raise NotFoundError("gone")
        return self.answer


@pytest.mark.parametrize(
    ("url", "answer", "state"),
    [
        (PULL, pull(is_open=False, is_merged=True), LinkState.MERGED),
        (BLOB, b"# M1", LinkState.PUBLISHED),
    ],
)
def test_a_single_404_reply_does_not_make_a_link_missing(url: str, answer: Any, state: LinkState) -> None:
    (link,) = find_recipe_links(f"Recipe: {url}", POLICY.signoff)
    resolved = resolve_link(link, Denied(answer), POLICY.signoff, lambda _: LinkState.UNKNOWN)
    assert resolved.state is state


def test_many_links_of_one_engine_leave_room_for_another() -> None:
    many = " ".join(f"https://recipes.vllm.ai/m{number}" for number in range(20))
    links = find_recipe_links(f"{many} {PULL}", POLICY.signoff)
    assert [link.engine for link in links] == ["vllm"] * 6 + ["sglang"]

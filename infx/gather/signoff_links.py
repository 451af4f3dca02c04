"""Follow the recipe links of a sign-off to find out whether the recipes are merged or published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

from infx.errors import InfxError
from infx.github.errors import NotFoundError, UnexpectedReplyError
from infx.model import ChangedFile, PullRequest
from infx.policy.signoff import SignoffPolicy
from infx.signoff.checks.recipe import RecipeLink
from infx.signoff.facts import LinkState, ResolvedLink

PAGE_SECONDS = 10

FetchPage = Callable[[str], LinkState]


class Upstream(Protocol):
    """Requests about another repository, through the same connection."""

    def at(self, repository: str) -> Self: ...
    def pull(self, number: int) -> PullRequest: ...
    def files(self, pull: PullRequest) -> list[ChangedFile]: ...
    def read_file(self, path: str, ref: str) -> bytes | None: ...


def resolve_link(
    link: RecipeLink, github: Upstream, policy: SignoffPolicy, fetch_page: FetchPage
) -> ResolvedLink:
    """Return the state of a link; UNKNOWN if it cannot be read."""
    if not link.repository:
        return ResolvedLink(url=link.url, state=fetch_page(link.url))
    upstream = github.at(link.repository)
    for _ in range(2):  # MISSING takes two 404 replies
        try:
            if link.number is not None:
                return _resolve_pull(link, upstream, policy)
            return ResolvedLink(url=link.url, state=_find_file(link, upstream))
        except NotFoundError:
            continue
        except InfxError:
            return ResolvedLink(url=link.url, state=LinkState.UNKNOWN)
    return ResolvedLink(url=link.url, state=LinkState.MISSING)


def _resolve_pull(link: RecipeLink, upstream: Upstream, policy: SignoffPolicy) -> ResolvedLink:
    assert link.number is not None
    pull = upstream.pull(link.number)
    if not pull.is_merged:
        return ResolvedLink(url=link.url, state=LinkState.OPEN if pull.is_open else LinkState.CLOSED)
    folders = {name.lower(): folder for name, folder in policy.sources[link.engine].repositories.items()}
    paths: tuple[str, ...] = ()
    if folders[link.repository.lower()]:
        paths = tuple(path for file in upstream.files(pull) for path in file.paths)
    return ResolvedLink(url=link.url, state=LinkState.MERGED, paths=paths)


def _find_file(link: RecipeLink, upstream: Upstream) -> LinkState:
    try:
        exists = upstream.read_file(link.path, link.ref) is not None
    except UnexpectedReplyError as error:
        if error.status is not None:  # a repository that has moved
            raise
        exists = True  # a folder
    return LinkState.PUBLISHED if exists else LinkState.MISSING


def fetch_page(url: str) -> LinkState:
    """Request a published page without a token, and return its state.

    A redirect to another host, to a parent folder or to the home page means that the linked page is missing.
    """
    import http.client
    import urllib.error
    import urllib.request

    request = urllib.request.Request(url, headers={"User-Agent": "infx"}, method="GET")  # noqa: S310 (the policy's pages are https)
    try:
        with urllib.request.urlopen(request, timeout=PAGE_SECONDS) as reply:  # noqa: S310
            return LinkState.PUBLISHED if _leads_to(url, reply.geturl()) else LinkState.MISSING
    except urllib.error.HTTPError as error:
        return LinkState.MISSING if error.code in {404, 410} else LinkState.UNKNOWN
    except (OSError, ValueError, http.client.HTTPException):
        return LinkState.UNKNOWN


def _leads_to(asked: str, got: str) -> bool:
    from urllib.parse import urlsplit

    linked, reached = urlsplit(asked), urlsplit(got)
    folder = f"{reached.path.rstrip('/')}/"
    is_above = folder != f"{linked.path.rstrip('/')}/" and linked.path.startswith(folder)
    return linked.netloc == reached.netloc and not is_above

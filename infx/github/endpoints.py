"""The base class of all groups of endpoints: paths of one repository, reads, lists and writes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from infx.github.connection import Connection
from infx.github.convert import convert
from infx.github.errors import LOOK_FIRST, NotFoundError, UnexpectedReplyError, UnknownOutcomeError
from infx.github.paging import Listing, read_list

_T = TypeVar("_T")


class Endpoints:
    """A group of endpoints of one repository."""

    def __init__(self, connection: Connection, repository: str) -> None:
        self.connection = connection
        self.repository = repository  # `owner/name`

    def _path(self, *parts: object) -> str:
        """Return `/repos/owner/name/` and the parts, each quoted, because a label may have any character."""
        return "/".join([f"/repos/{self.repository}", *(quote(str(part), safe="") for part in parts)])

    def _get(self, parse: Callable[[Any], _T], *parts: object, **parameters: str | int | None) -> _T:
        return convert(parse, self.connection.read(self._path(*parts), **parameters).data)

    def _find(self, parse: Callable[[Any], _T], *parts: object, **parameters: str | int | None) -> _T | None:
        """Return what is at a path, or None if nothing is there."""
        return self._seek(lambda: self._get(parse, *parts, **parameters))

    def _write_silently(self, verb: str, *parts: object, expect: int, body: object = None) -> None:
        """Send a write whose answer has no body. Raises UnknownOutcomeError unless its status is `expect`."""
        reply = self.connection.write(verb, self._path(*parts), body)
        if reply.status != expect:
            request = f"{verb} {self._path(*parts)}"
            raise UnknownOutcomeError(
                f"The outcome of {request} is unknown: GitHub answered {reply.status}, not {expect}.",
                hint=LOOK_FIRST,
            )

    def _must_be_gone(self, error: NotFoundError, *parts: object) -> None:
        """Check a 404 that answered a write. Raises UnexpectedReplyError if the thing exists."""
        if self._find(lambda data: data, *parts) is not None:
            raise UnexpectedReplyError(f"{error.message} But it exists.", status=404) from error

    def _seek(self, read: Callable[[], _T]) -> _T | None:
        """Run a read and return its result, or None after two answers 404."""
        with contextlib.suppress(NotFoundError):
            return self._insist(read)
        return None

    def _insist(self, read: Callable[[], _T]) -> _T:
        """Run a read, and run it again after 404. Raises NotFoundError after two answers 404."""
        with contextlib.suppress(NotFoundError):  # GitHub at times answers 404 for things that exist
            return read()
        return read()

    def _list(
        self, parse: Callable[[Any], _T], *parts: object, parameters: Any = None, **how: Any
    ) -> list[_T]:
        """Read a list and convert its items. how: the fields of `Listing` after its parameters."""
        listing = Listing(path=self._path(*parts), parameters=parameters or {}, **how)
        return [convert(parse, item) for item in read_list(self.connection, listing)]

    def _write(self, verb: str, *parts: object, body: object = None) -> Any:
        return self.connection.write(verb, self._path(*parts), body).data

"""What all groups of endpoints share: the repository they speak about and the verbs they speak with."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from infx.github.connection import Connection
from infx.github.convert import convert
from infx.github.errors import NotFoundError, UnexpectedReplyError, UnknownOutcomeError
from infx.github.paging import Listing, read_list

_T = TypeVar("_T")


class Endpoints:
    """repository: `owner/name`."""

    def __init__(self, connection: Connection, repository: str) -> None:
        self.connection = connection
        self.repository = repository

    def _path(self, *parts: object) -> str:
        """`/repos/owner/name/` and the parts, each quoted whole: a label or branch may hold anything."""
        return "/".join([f"/repos/{self.repository}", *(quote(str(part), safe="") for part in parts)])

    def _get(self, kind: Callable[[Any], _T], *parts: object, **parameters: str | int | None) -> _T:
        return convert(kind, self.connection.read(self._path(*parts), **parameters).data)

    def _find(self, kind: Callable[[Any], _T], *parts: object, **parameters: str | int | None) -> _T | None:
        """The same, with None for what is not there."""
        return self._seek(lambda: self._get(kind, *parts, **parameters))

    def _write_silently(self, verb: str, *parts: object, expect: int) -> None:
        """A write whose answer has no body, so that its status alone says that it was done."""
        reply = self.connection.write(verb, self._path(*parts))
        if reply.status != expect:
            what = f"{verb} {self._path(*parts)}"
            raise UnknownOutcomeError(
                f"Nobody knows whether {what} was done: GitHub answered {reply.status}, not {expect}.",
                hint="Look before it is sent again.",
            )

    def _must_be_gone(self, error: NotFoundError, *parts: object) -> None:
        """After a write that was answered with 404. Raises UnexpectedReplyError if the thing is there all the same."""
        if self._find(lambda data: data, *parts) is not None:
            raise UnexpectedReplyError(f"{error.message} It is there all the same.", status=404) from error

    def _seek(self, read: Callable[[], _T]) -> _T | None:
        """What is there, None for 404. GitHub at times says that of what is there, so only two in a row are believed."""
        with contextlib.suppress(NotFoundError):
            return self._insist(read)
        return None

    def _insist(self, read: Callable[[], _T]) -> _T:
        """The same, for callers to whom 404 is an error or one answer of several."""
        with contextlib.suppress(NotFoundError):
            return read()
        return read()

    def _list(
        self, kind: Callable[[Any], _T], *parts: object, parameters: Any = None, **how: Any
    ) -> list[_T]:
        """how: the fields of `Listing` after its parameters."""
        listing = Listing(path=self._path(*parts), parameters=parameters or {}, **how)
        return [convert(kind, item) for item in read_list(self.connection, listing)]

    def _write(self, verb: str, *parts: object, body: object = None) -> Any:
        return self.connection.write(verb, self._path(*parts), body).data

"""What all groups of endpoints share: the repository they speak about and the verbs they speak with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import quote

from infx.github.connection import Connection
from infx.github.convert import convert
from infx.github.errors import NotFoundError
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
        """The same, with None for 404."""
        try:
            return self._get(kind, *parts, **parameters)
        except NotFoundError:
            return None

    def _list(
        self, kind: Callable[[Any], _T], *parts: object, parameters: Any = None, **how: Any
    ) -> list[_T]:
        """how: the fields of `Listing` after its parameters."""
        listing = Listing(path=self._path(*parts), parameters=parameters or {}, **how)
        return [convert(kind, item) for item in read_list(self.connection, listing)]

    def _write(self, verb: str, *parts: object, body: object = None) -> Any:
        return self.connection.write(verb, self._path(*parts), body).data

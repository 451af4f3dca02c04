"""Lists to their last page, at 100 a page, each item once.

Pages are windows over a list that may change while it is read: an insertion shows an item twice, a removal hides
one. Items shown twice are dropped. A hidden one is noticed where GitHub says how many there are; where it does not
and a decision hangs on the list (`twice`), a list of several pages is read until two readings agree, and so is one
that is shorter than it was a moment ago (`recent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from infx.github.connection import Connection
from infx.github.errors import IncompleteListError, UnexpectedReplyError
from infx.phrases import count

PER_PAGE = 100
READINGS = 3  # of a list that moves, before giving up


@dataclass(frozen=True, kw_only=True)
class Listing:
    """Where a list is and how to know that it is whole.

    field: key of the list inside the page; None if a page is the list itself.
    identity: of an item. total: how many there must be, if something outside the list says so. recent: how many there
    were when something else was read; some may have gone since.
    counted: pages carry `total_count`. twice: see above. newest: stop after that many. until: stop after the page
    that holds such an item.
    """

    path: str
    parameters: Mapping[str, str | int | None]
    field: str | None = None
    identity: Callable[[Any], object] = lambda item: item["id"]
    total: int | None = None
    recent: int = 0
    counted: bool = False
    twice: bool = False
    newest: int | None = None
    until: Callable[[Any], bool] | None = None


@dataclass(frozen=True, kw_only=True)
class _Reading:
    items: Mapping[object, Any]
    pages: int
    total: int | None
    moved: bool


def read_list(connection: Connection, listing: Listing) -> list[Any]:
    """Every item once, in GitHub's order. Raises IncompleteListError if some cannot be had."""
    before: _Reading | None = None
    for _ in range(READINGS):
        reading = _read(connection, listing)
        if listing.newest is not None and len(reading.items) >= listing.newest:
            return list(reading.items.values())[: listing.newest]
        is_short = reading.total is not None and len(reading.items) < reading.total
        if not is_short and not reading.moved and _agrees(reading, before, listing):
            return list(reading.items.values())
        before = reading
    told = count(len(reading.items), "item")
    expected = told if reading.total is None else f"{len(reading.items):,} of {count(reading.total, 'item')}"
    raise IncompleteListError(
        f"GitHub delivered {expected} of {listing.path}.",
        hint="The list is longer than GitHub shows, or changes faster than it can be read.",
    )


def read_page(connection: Connection, listing: Listing, number: int) -> tuple[list[Any], bool]:
    """One page by itself, and whether it is the last: for lists that are read no further than somebody needs them."""
    reply = connection.read(listing.path, **listing.parameters, per_page=PER_PAGE, page=number)
    items = _items(reply.data, listing)
    if number == 1 and listing.counted and not items and _total(reply.data, listing):
        raise IncompleteListError(
            f"GitHub delivered nothing of {listing.path}, and says that there is something."
        )
    return items, 'rel="next"' not in reply.headers.get("link", "")


def _agrees(reading: _Reading, before: _Reading | None, listing: Listing) -> bool:
    is_doubtful = (listing.twice and reading.pages > 1) or len(reading.items) < listing.recent
    if not is_doubtful:
        return True
    return before is not None and before.items.keys() == reading.items.keys()


def _read(connection: Connection, listing: Listing) -> _Reading:
    items: dict[object, Any] = {}
    totals: list[int] = []
    pages = 0
    for page in _pages(connection, listing):
        pages += 1
        if listing.counted:
            totals.append(_total(page, listing))
        found = _items(page, listing)
        for item in found:
            items.setdefault(_identity(item, listing), item)
        if listing.newest is not None and len(items) >= listing.newest:
            break
        if listing.until is not None and any(listing.until(item) for item in found):
            break
    total = listing.total if not totals else totals[-1]
    shrank = any(later < earlier for earlier, later in pairwise(totals))
    return _Reading(items=items, pages=pages, total=total, moved=shrank)


def _pages(connection: Connection, listing: Listing) -> Iterator[Any]:
    number = 1
    while True:
        reply = connection.read(listing.path, **listing.parameters, per_page=PER_PAGE, page=number)
        yield reply.data
        if 'rel="next"' not in reply.headers.get("link", ""):
            return
        number += 1


def _items(page: Any, listing: Listing) -> list[Any]:
    found = page.get(listing.field) if listing.field and isinstance(page, dict) else page
    if not isinstance(found, list):
        raise UnexpectedReplyError(f"GitHub answered {listing.path} with something that is not a list.")
    return found


def _identity(item: Any, listing: Listing) -> object:
    try:
        return listing.identity(item)
    except (KeyError, TypeError, AttributeError):
        raise UnexpectedReplyError(f"GitHub's list {listing.path} holds something nameless.") from None


def _total(page: Any, listing: Listing) -> int:
    total = page.get("total_count") if isinstance(page, dict) else None
    if not isinstance(total, int) or isinstance(total, bool) or total < 0:
        raise UnexpectedReplyError(f"GitHub answered {listing.path} without a valid total_count.")
    return total

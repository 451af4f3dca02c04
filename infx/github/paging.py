"""Read lists to their last page, at 100 items a page, each item once.

A list may change while its pages are read: an insertion shows an item twice, a removal hides an item. The
second copy of an item is dropped. A hidden item is noticed if GitHub reports the number of items. If GitHub
does not and a decision depends on the list (`twice`), a list of several pages is read until two readings
agree. So is a list that is shorter than it was a moment ago (`recent`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from infx.github.connection import Connection
from infx.github.errors import IncompleteListError, UnexpectedReplyError
from infx.phrases import count
from infx.records import record

PER_PAGE = 100
READINGS = 3  # of a list that changes, before giving up


@record
class Listing:
    """The place of a list, and how to know that all of it was read.

    Attributes:
        field: key of the list inside a page; None if the page is the list.
        identity: returns the identity of an item.
        total: number of items, if something outside the list says so.
        recent: number of items a moment ago; some may have been removed since.
        counted: pages have a `total_count`.
        twice: read a list of several pages until two readings agree.
        newest: stop after that many items.
        until: stop after the page that holds such an item.
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


@record
class _Reading:
    items: Mapping[object, Any]
    pages: int
    total: int | None
    moved: bool


def read_list(connection: Connection, listing: Listing) -> list[Any]:
    """Read every item once, in GitHub's order. Raises IncompleteListError if items are missing."""
    before: _Reading | None = None
    for _ in range(READINGS):
        reading = _read(connection, listing)
        if listing.newest is not None and len(reading.items) >= listing.newest:
            return list(reading.items.values())[: listing.newest]
        is_short = reading.total is not None and len(reading.items) < reading.total
        if not is_short and not reading.moved and _agrees(reading, before, listing):
            return list(reading.items.values())
        before = reading
    items = count(len(reading.items), "item")
    delivered = (
        items if reading.total is None else f"{len(reading.items):,} of {count(reading.total, 'item')}"
    )
    raise IncompleteListError(
        f"GitHub delivered {delivered} of {listing.path}.",
        hint="The list is longer than GitHub shows, or it changed during every reading: try again later.",
    )


def read_page(connection: Connection, listing: Listing, number: int) -> tuple[list[Any], bool]:
    """Return one page of a list, and whether it is the last one."""
    reply = connection.read(listing.path, **listing.parameters, per_page=PER_PAGE, page=number)
    items = _items(reply.data, listing)
    if number == 1 and listing.counted and not items and _total(reply.data, listing):
        raise IncompleteListError(
            f"GitHub delivered an empty first page of {listing.path}, but a total_count above 0."
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
        page_items = _items(page, listing)
        for item in page_items:
            items.setdefault(_identity(item, listing), item)
        if listing.newest is not None and len(items) >= listing.newest:
            break
        if listing.until is not None and any(listing.until(item) for item in page_items):
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
    items = page.get(listing.field) if listing.field and isinstance(page, dict) else page
    if not isinstance(items, list):
        raise UnexpectedReplyError(f"GitHub's reply to {listing.path} is not a list.")
    return items


def _identity(item: Any, listing: Listing) -> object:
    try:
        return listing.identity(item)
    except (KeyError, TypeError, AttributeError):
        raise UnexpectedReplyError(f"GitHub's list {listing.path} has an item without an id.") from None


def _total(page: Any, listing: Listing) -> int:
    total = page.get("total_count") if isinstance(page, dict) else None
    if not isinstance(total, int) or isinstance(total, bool) or total < 0:
        raise UnexpectedReplyError(f"GitHub's reply to {listing.path} has no valid total_count.")
    return total

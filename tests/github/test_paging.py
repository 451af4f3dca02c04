"""Lists are read to their last page, or refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.github.connection import Connection
from infx.github.errors import IncompleteListError, UnexpectedReplyError
from infx.github.exchange import Reply, Request
from infx.github.paging import READINGS, Listing, read_list
from tests.github.scripted import play, reply


class MovingList:
    """A list on a server; `before` is called before each request and may change the list."""

    def __init__(
        self,
        items: list[int],
        *,
        counted: bool = False,
        before: Callable[[int, list[int]], None] | None = None,
    ) -> None:
        self.items = items
        self.counted = counted
        self.before = before
        self.requests = 0

    def send(self, request: Request) -> Reply:
        if self.before:
            self.before(self.requests, self.items)
        self.requests += 1
        size, number = int(request.parameters["per_page"]), int(request.parameters["page"])
        page: Any = [{"id": item} for item in self.items[(number - 1) * size : number * size]]
        headers = {"link": '<x>; rel="next"'} if number * size < len(self.items) else {}
        if self.counted:
            page = {"total_count": len(self.items), "things": page}
        return Reply(status=200, headers=headers, data=page)

    def fetch(self, url: str) -> Iterator[bytes]:
        raise AssertionError(url)


def listing(**how: Any) -> Listing:
    return Listing(path="/things", parameters={}, **how)


def read(server: MovingList, **how: Any) -> list[int]:
    if server.counted:
        how |= {"field": "things", "counted": True}
    items = read_list(Connection(server, sleep=lambda _: None), listing(**how))
    return [item["id"] for item in items]


@pytest.mark.parametrize("size", [0, 1, 99, 100, 101, 200, 250])
@pytest.mark.parametrize("counted", [True, False])
def test_all_pages_are_read(size: int, counted: bool) -> None:
    server = MovingList(list(range(size)), counted=counted)
    assert read(server) == list(range(size))
    assert server.requests == max(1, math.ceil(size / 100))


def remove_first_at(moment: int) -> Callable[[int, list[int]], None]:
    def before(number: int, items: list[int]) -> None:
        if number == moment:
            items.pop(0)

    return before


def test_a_list_that_shrinks_between_pages_is_read_again() -> None:
    """Item 100 moves to the page that was already read; only the total shows it."""
    server = MovingList(list(range(250)), counted=True, before=remove_first_at(1))
    assert read(server) == list(range(1, 250))
    assert server.requests == 6


def test_a_list_that_grows_at_its_head_has_no_duplicates() -> None:
    """Runs are listed newest first, so a new run moves a known run to the next page."""

    def before(number: int, items: list[int]) -> None:
        if number == 1:
            items.insert(0, -1)

    server = MovingList(list(range(250)), counted=True, before=before)
    assert sorted(read(server)) == [-1, *range(250)]


def test_a_list_without_a_total_is_read_until_two_readings_agree() -> None:
    server = MovingList(list(range(150)), before=remove_first_at(1))
    assert read(server, twice=True) == list(range(1, 150))
    assert server.requests == 6  # 2 pages, wrong; 2 pages; 2 pages that agree


@pytest.mark.parametrize(
    "is_gone", [False, True], ids=["an item moved to the page before", "an item was removed"]
)
def test_a_list_shorter_than_before_is_read_twice(*, is_gone: bool) -> None:
    """When item 1 is removed between the pages, item 101 moves to the page that was already read."""
    items = list(range(1, 202))

    def remove(request: int, items: list[int]) -> None:
        if request == (0 if is_gone else 1):
            items.remove(1)

    server = MovingList(items, before=remove)
    assert read(server, recent=201) == list(range(2, 202))
    assert server.requests == 2 * (2 if is_gone else 3)


def test_one_page_is_read_once() -> None:
    server = MovingList(list(range(100)))
    read(server, twice=True)
    assert server.requests == 1


def test_a_list_that_changes_all_the_time_is_refused() -> None:
    def before(number: int, items: list[int]) -> None:
        items.pop(0)

    server = MovingList(list(range(250)), counted=True, before=before)
    with pytest.raises(IncompleteListError, match="items of /things"):
        read(server)


def test_a_shortfall_against_total_count_is_refused() -> None:
    page = {"total_count": 250, "things": [{"id": number} for number in range(249)]}
    connection, _, _ = play([reply(data=page)] * READINGS)
    with pytest.raises(IncompleteListError, match="delivered 249 of 250 items"):
        read_list(connection, listing(field="things", counted=True))


def test_a_shortfall_against_a_count_from_outside_is_refused() -> None:
    with pytest.raises(IncompleteListError, match="delivered 2 of 3 items"):
        read(MovingList([1, 2]), total=3)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"message": "?"}, None),
        ([{"id": 1}], "things"),
        ({"total_count": 1}, "things"),
        ({"things": []}, "things"),
        ({"total_count": "1", "things": []}, "things"),
        ({"total_count": -1, "things": []}, "things"),
        ({"total_count": True, "things": []}, "things"),
        (None, None),
        ("<html>", None),
    ],
)
def test_pages_of_the_wrong_shape_are_refused(data: object, field: str | None) -> None:
    connection, _, _ = play([reply(data=data)])
    with pytest.raises(UnexpectedReplyError):
        read_list(connection, listing(field=field, counted=field is not None))


def test_reading_stops_after_the_newest_items() -> None:
    server = MovingList(list(range(1000)), counted=True)
    assert read(server, newest=150) == list(range(150))
    assert server.requests == 2


def test_reading_stops_after_the_page_with_the_first_old_item() -> None:
    server = MovingList(list(range(1000)))
    assert len(read(server, until=lambda item: item["id"] >= 120)) == 200
    assert server.requests == 2


@given(
    size=st.integers(0, 420),
    moves=st.lists(st.tuples(st.sampled_from(["add", "remove"]), st.integers(0, 500)), max_size=8),
)
def test_properties_a_counted_list_has_every_permanent_item_once(
    size: int, moves: list[tuple[str, int]]
) -> None:
    """Items are added and removed between requests.

    The result has no duplicates and every item that was in the list throughout the last reading, or it is an
    error.
    """
    versions: list[list[int]] = []

    def before(number: int, items: list[int]) -> None:
        if 0 < number <= len(moves):
            kind, place = moves[number - 1]
            if kind == "add":
                items.append(1000 + number)  # at the end, as comments are
            elif items:
                items.pop(place % len(items))
        versions.append(list(items))

    server = MovingList(list(range(size)), counted=True, before=before)
    try:
        ids = read(server)
    except IncompleteListError:
        return
    pages = max(1, math.ceil(len(versions[-1]) / 100))
    steady = set.intersection(*(set(version) for version in versions[-pages:]))
    assert len(ids) == len(set(ids))
    assert steady <= set(ids)

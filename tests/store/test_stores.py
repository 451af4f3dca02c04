"""Publish, read and withdraw, with every store."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from infx.records import replace
from infx.store.lines import InvalidPublicationError
from infx.store.memory import MemoryStore
from infx.store.port import ResultStore, StoreChange, UnknownRunError, WithdrawnRunError
from tests.store.made import START, make_publication, make_stored, make_withdrawal


def newest_runs(store: ResultStore, *series: str) -> dict[str, dict[int, int]]:
    """Return series → concurrency → the run that measured the newest row."""
    newest = store.read_newest(series or ("s",))
    return {key: {conc: row.run for conc, row in points.items()} for key, points in newest.items()}


def test_an_empty_store_has_nothing(store: ResultStore) -> None:
    assert store.read_newest(["s"]) == {}
    assert store.list_publications() == ()


def test_rows_are_read_as_they_were_published(store: ResultStore) -> None:
    row = make_stored(
        7,
        attempt=2,
        row_id="0123456789ab-2",
        commit="d" * 64,
        values={"a": [1, {"b": None}], "tput": 1e-9, "big": 2**70, "text": "é\0\ud800'\"\n", "no": False},
    )
    other = make_stored(7, series="other")
    assert store.publish(make_publication(7, row, other)) == StoreChange(added=2, replaced=0, unchanged=0)
    assert store.read_newest(["s", "absent"]) == {"s": {64: row}}
    assert store.read_newest(["s"])["s"][64].values == row.values
    assert store.read_newest([]) == {}


def test_publications_are_listed_newest_first(store: ResultStore) -> None:
    for run in (1, 3, 2):
        store.publish(
            make_publication(run, make_stored(run), make_stored(run, conc=1), origin=f"reused-{run}")
        )
    listed = store.list_publications()
    assert [(item.run, item.attempt, item.origin, item.row_count) for item in listed] == [
        (3, 1, "reused-3", 2), (2, 1, "reused-2", 2), (1, 1, "reused-1", 2),
    ]  # fmt: skip
    assert listed[0].published_at == START + timedelta(days=3)


def test_the_row_that_was_measured_last_is_the_newest(store: ResultStore) -> None:
    store.publish(make_publication(1, make_stored(1, day=9), make_stored(1, day=1, conc=1)))
    store.publish(make_publication(2, make_stored(2, day=5), make_stored(2, day=5, conc=1)))
    assert newest_runs(store) == {"s": {64: 1, 1: 2}}


def test_of_rows_of_one_instant_the_later_run_is_the_newest(store: ResultStore) -> None:
    for run in (2, 3, 1):
        store.publish(make_publication(run, make_stored(run, day=1)))
    assert newest_runs(store) == {"s": {64: 3}}


def test_a_repeated_publication_changes_nothing(opener: Callable[[], ResultStore]) -> None:
    publication = make_publication(1, make_stored(1), make_stored(1, conc=1))
    opener().publish(publication)
    before = opener().list_publications()
    again = replace(publication, published_at=START + timedelta(days=99), rows=publication.rows[::-1])
    assert opener().publish(again) == StoreChange(added=0, replaced=0, unchanged=2)
    assert opener().list_publications() == before


def test_a_repeated_publication_may_add_rows(store: ResultStore) -> None:
    store.publish(make_publication(1, make_stored(1)))
    change = store.publish(make_publication(1, make_stored(1, conc=1)))
    assert change == StoreChange(added=1, replaced=0, unchanged=0)
    assert newest_runs(store) == {"s": {64: 1, 1: 1}}
    assert store.list_publications()[0].row_count == 2


def test_a_row_is_replaced_by_run_attempt_and_id(store: ResultStore) -> None:
    store.publish(make_publication(1, make_stored(1, values={"ok": True})))
    # Python takes 1 and True for equal, JSON does not.
    change = store.publish(make_publication(1, make_stored(1, values={"ok": 1})))
    assert change == StoreChange(added=0, replaced=1, unchanged=0)
    assert repr(store.read_newest(["s"])["s"][64].values) == repr({"ok": 1})


def test_a_row_that_moves_to_another_series_leaves_the_older_row(store: ResultStore) -> None:
    store.publish(make_publication(1, make_stored(1, day=1)))
    store.publish(make_publication(2, make_stored(2, day=2, row_id="r")))
    store.publish(make_publication(2, make_stored(2, day=2, row_id="r", series="t")))
    assert newest_runs(store, "s", "t") == {"s": {64: 1}, "t": {64: 2}}


def test_a_row_that_was_measured_earlier_than_first_said(store: ResultStore) -> None:
    store.publish(make_publication(1, make_stored(1, day=5)))
    store.publish(make_publication(2, make_stored(2, day=9)))
    store.publish(make_publication(2, make_stored(2, day=2)))
    assert newest_runs(store) == {"s": {64: 1}}


def test_after_a_withdrawal_the_older_row_is_the_newest(opener: Callable[[], ResultStore]) -> None:
    opener().publish(make_publication(1, make_stored(1, day=1)))
    opener().publish(make_publication(2, make_stored(2, day=2), make_stored(2, day=2, conc=1)))
    withdrawal = make_withdrawal(2)
    assert opener().withdraw(withdrawal)
    assert newest_runs(opener()) == {"s": {64: 1}}
    listed = {item.run: item.withdrawal for item in opener().list_publications()}
    assert listed == {1: None, 2: withdrawal}


def test_a_withdrawal_is_final(store: ResultStore) -> None:
    store.publish(make_publication(2))
    store.withdraw(make_withdrawal(2))
    assert not store.withdraw(make_withdrawal(2, reason="another"))
    with pytest.raises(WithdrawnRunError, match="Run 2 was withdrawn by octocat: the clock was wrong"):
        store.publish(make_publication(2))
    with pytest.raises(WithdrawnRunError):
        store.publish(make_publication(2, attempt=2))
    assert newest_runs(store) == {}


def test_a_withdrawn_run_counts_in_no_publication(store: ResultStore) -> None:
    """A follow-up sweep publishes the rows of its source too, each with the run that measured it."""
    store.publish(make_publication(5, make_stored(4, day=4), make_stored(5, day=5, conc=1)))
    store.withdraw(make_withdrawal(4))
    assert newest_runs(store) == {"s": {1: 5}}
    # A later publication of a row of the withdrawn run does not bring it back.
    store.publish(make_publication(6, make_stored(4, day=4), make_stored(6, day=6, conc=2)))
    assert newest_runs(store) == {"s": {1: 5, 2: 6}}


def test_all_rows_of_a_withdrawn_publication_are_withdrawn(store: ResultStore) -> None:
    store.publish(make_publication(4, make_stored(4, day=4)))
    store.publish(make_publication(5, make_stored(4, day=4), make_stored(3, day=3, conc=1)))
    store.withdraw(make_withdrawal(5))
    assert newest_runs(store) == {"s": {64: 4}}  # it has a publication of its own


def test_a_run_without_a_row_cannot_be_withdrawn(store: ResultStore) -> None:
    with pytest.raises(UnknownRunError, match="neither a publication of run 9"):
        store.withdraw(make_withdrawal(9))
    store.publish(make_publication(1))
    with pytest.raises(UnknownRunError):
        store.withdraw(make_withdrawal(9))


def test_a_text_that_a_person_wrote_is_stored_printable(store: ResultStore) -> None:
    store.publish(make_publication(1))
    store.withdraw(make_withdrawal(1, reason="a\0b\ud800c\nd"))
    assert [item.withdrawal and item.withdrawal.reason for item in store.list_publications()] == ["a b c d"]


BAD_ROWS: list[dict[str, Any]] = [
    {"values": {"tput": float("nan")}}, {"values": {"when": START}}, {"conc": 0}, {"conc": 2**63}, {"attempt": 0},
    {"row_id": "../x"}, {"row_id": ""}, {"commit": "main"}, {"series": "a\nb"}, {"series": "é"},
    {"measured_at": START.replace(tzinfo=None)},
]  # fmt: skip


@pytest.mark.parametrize("changes", BAD_ROWS, ids=str)
def test_a_value_that_no_store_can_hold_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidPublicationError):
        MemoryStore().publish(make_publication(1, replace(make_stored(1), **changes)))


def test_a_row_twice_in_a_publication_is_refused() -> None:
    with pytest.raises(InvalidPublicationError, match="twice"):
        MemoryStore().publish(make_publication(1, make_stored(1), make_stored(1, day=2)))


def test_publishers_at_once_store_each_row_once(opener: Callable[[], ResultStore]) -> None:
    """Each of three runs is published by two publishers, and all six share a series."""
    publications = [
        make_publication(run, make_stored(run, day=run), make_stored(run, day=run, conc=run))
        for run in (1, 2, 3)
    ]
    with ThreadPoolExecutor(6) as pool:
        changes = list(pool.map(lambda publication: opener().publish(publication), publications * 2))
    assert sum(change.added for change in changes) == 6
    assert sum(change.unchanged for change in changes) == 6
    assert [item.row_count for item in opener().list_publications()] == [2, 2, 2]
    assert newest_runs(opener()) == {"s": {64: 3, 1: 1, 2: 2, 3: 3}}


def test_a_withdrawal_during_publications_holds(opener: Callable[[], ResultStore]) -> None:
    opener().publish(make_publication(9, make_stored(9, day=9)))
    with ThreadPoolExecutor(3) as pool:
        published = [pool.submit(opener().publish, make_publication(run)) for run in (1, 2)]
        withdrawn = pool.submit(opener().withdraw, make_withdrawal(9))
        assert [future.result().added for future in published] == [1, 1]
        assert withdrawn.result()
    assert newest_runs(opener()) == {"s": {64: 2}}

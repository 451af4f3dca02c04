"""Kill a writer after each of its steps: it has done everything or nothing, and a repeated call completes it."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import Engine, event

from infx.git import Git, Output
from infx.results.series import Newest, PublicationSummary
from infx.store.port import ResultStore
from tests.store.conftest import OpenStore
from tests.store.made import make_publication, make_stored, make_withdrawal

# The steps of a write to a branch are in a temporary folder, except the push, which has a test of its own.
STORES = [
    pytest.param("branch", marks=pytest.mark.nightly),
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.nightly),
]


class KilledError(BaseException):
    """Raised instead of the end of a process; no code of infx catches it."""


@contextmanager
def kill_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Kill the process after a number of calls of git, or of statements and commits in SQL."""
    counter = itertools.count(1)

    def step(*_: object, **__: object) -> None:
        if next(counter) > steps:
            raise KilledError

    original = Git.call

    def call(git: Git, *arguments: str, **options: object) -> Output:
        output: Output = original(git, *arguments, **options)  # type: ignore[arg-type]
        step()
        return output

    with monkeypatch.context() as patch:
        patch.setattr(Git, "call", call)
        events = ("begin", "after_cursor_execute", "commit")
        for name in events:
            event.listen(Engine, name, step)
        try:
            yield
        finally:
            for name in events:
                event.remove(Engine, name, step)


def survives(write: Callable[[], object], steps: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Return whether the write ends before it is killed."""
    try:
        with kill_after(steps, monkeypatch):
            write()
    except KilledError:
        is_done = False
    else:
        is_done = True
    gc.collect()  # the end of a process also closes connections
    return is_done


def read_state(store: ResultStore) -> tuple[Newest, tuple[PublicationSummary, ...]]:
    return store.read_newest(["s", "t"]), store.list_publications()


@pytest.mark.parametrize("opener", STORES, indirect=True)
def test_a_killed_publisher_has_published_everything_or_nothing(
    opener: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps in itertools.count():
        run = steps + 1
        publication = make_publication(run, make_stored(run, day=run), make_stored(run, day=run, series="t"))
        before = read_state(opener())
        is_done = survives(lambda: opener().publish(publication), steps, monkeypatch)  # noqa: B023 - called at once
        killed = read_state(opener())
        change = opener().publish(publication)
        after = read_state(opener())
        assert killed == (before if change.added else after)
        assert (change.added, change.unchanged) in {(2, 0), (0, 2)}
        newest, listed = after
        assert [{conc: row.run for conc, row in points.items()} for points in newest.values()] == [
            {64: run}
        ] * 2
        assert [item.row_count for item in listed] == [2] * run
        if is_done:
            break
    assert steps > 5  # a store with fewer steps would not be killed


@pytest.mark.nightly
@pytest.mark.parametrize("opener", ["branch", "sqlite", "postgres"], indirect=True)
def test_a_killed_withdrawal_is_complete_or_absent(
    opener: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for steps in itertools.count():
        run = 2 * steps + 1
        opener().publish(make_publication(run, make_stored(run, day=run)))
        opener().publish(make_publication(run + 1, make_stored(run + 1, day=run + 1)))
        is_done = survives(lambda: opener().withdraw(make_withdrawal(run + 1)), steps, monkeypatch)  # noqa: B023
        newest = opener().read_newest(["s"])["s"][64].run
        assert newest == (run if not opener().withdraw(make_withdrawal(run + 1)) else run + 1)
        assert opener().read_newest(["s"])["s"][64].run == run
        if is_done:
            break
    assert steps > 5


@pytest.mark.parametrize("is_sent", [False, True])
@pytest.mark.parametrize("opener", ["branch"], indirect=True)
def test_a_publisher_killed_at_its_push(
    opener: OpenStore, is_sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = Git.push

    def push(git: Git, *arguments: str, **options: str | None) -> None:
        if is_sent:
            original(git, *arguments, **options)  # type: ignore[arg-type]
        raise KilledError

    publication = make_publication(1)
    with monkeypatch.context() as patch:
        patch.setattr(Git, "push", push)
        with pytest.raises(KilledError):
            opener().publish(publication)
    assert len(opener().list_publications()) == int(is_sent)
    assert opener().publish(publication).added == int(not is_sent)
    assert opener().read_newest(["s"])["s"][64].run == 1

"""Every store has the same answers as a plain list of what was published."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infx.git import Git
from infx.records import replace
from infx.results.series import Publication, StoredRow
from infx.store.memory import MemoryStore
from infx.store.open import open_store
from infx.store.port import ResultStore, UnknownRunError, WithdrawnRunError
from tests.store.clones import make_clone
from tests.store.made import make_publication, make_stored, make_withdrawal

SERIES = ("a", "b")
RUNS = st.integers(1, 3)


@st.composite
def draw_publication(draw: st.DrawFn) -> Publication:
    run, attempt = draw(RUNS), draw(st.integers(1, 2))
    keys = draw(st.lists(st.tuples(RUNS, st.sampled_from("xy"), st.integers(1, 2)), unique=True, max_size=3))
    rows = [
        make_stored(
            measured, row_id=row_id, conc=conc, day=draw(st.integers(1, 3)), series=draw(st.sampled_from(SERIES)),
            values={"value": draw(st.sampled_from([1, 1.0, True, None]))},
        )
        for measured, row_id, conc in keys
    ]  # fmt: skip
    return replace(make_publication(run, attempt=attempt), rows=tuple(rows))


Step = Publication | int  # an integer is a run to withdraw


@dataclass
class PlainList:
    """An independent statement of the rules, without any index."""

    rows: dict[tuple[int, int, int, int, str, int], StoredRow] = field(default_factory=dict)
    published: set[tuple[int, int]] = field(default_factory=set)
    withdrawn: set[int] = field(default_factory=set)

    def take(self, step: Step) -> None:
        if isinstance(step, int):
            if any(step in (place[0], place[2]) for place in self.rows) or any(
                step == run for run, _ in self.published
            ):
                self.withdrawn.add(step)
        elif step.run not in self.withdrawn:
            self.published.add((step.run, step.attempt))
            for row in step.rows:
                self.rows[step.run, step.attempt, row.run, row.attempt, row.row_id, row.conc] = row

    def find_newest(self) -> dict[tuple[str, int], str]:
        newest = {}
        for place, row in sorted(
            self.rows.items(), key=lambda item: (item[1].measured_at, *item[0][2:5], *item[0][:2])
        ):
            if place[0] not in self.withdrawn and place[2] not in self.withdrawn:
                newest[row.series, row.conc] = repr(row)
        return newest


def take(store: ResultStore, step: Step) -> None:
    try:
        if isinstance(step, int):
            store.withdraw(make_withdrawal(step))
        else:
            store.publish(step)
    except (UnknownRunError, WithdrawnRunError):
        pass  # the plain list ignores such a step


def check(open_empty: Callable[[Path], ResultStore], steps: list[Step]) -> None:
    plain = PlainList()
    with tempfile.TemporaryDirectory() as folder:
        store = open_empty(Path(folder))
        for step in steps:
            plain.take(step)
            take(store, step)
        newest = store.read_newest(SERIES)
        listed = store.list_publications()
    found = {(key, conc): repr(row) for key, points in newest.items() for conc, row in points.items()}
    assert found == plain.find_newest()
    counts = {(item.run, item.attempt): item.row_count for item in listed}
    assert counts == {place: sum(key[:2] == place for key in plain.rows) for place in plain.published}
    assert {item.run for item in listed if item.withdrawal} == plain.withdrawn & {run for run, _ in counts}


STEPS: st.SearchStrategy[list[Step]] = st.lists(st.one_of(draw_publication(), RUNS), min_size=2, max_size=6)


@given(STEPS)
@settings(deadline=None)
def test_memory_properties(steps: list[Step]) -> None:
    check(lambda _: MemoryStore(), steps)


@given(STEPS)
@settings(deadline=None, max_examples=20)
def test_sqlite_properties(steps: list[Step]) -> None:
    check(lambda folder: open_store(f"sqlite:{folder / 'x.db'}", Git(folder), author="x"), steps)


@pytest.mark.nightly
@given(STEPS)
@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.too_slow])
def test_branches_of_many_lives(steps: list[Step]) -> None:
    check(lambda folder: open_store("branch:results", make_clone(folder), author="x"), steps)


@given(STEPS)
@settings(deadline=None, max_examples=3, suppress_health_check=[HealthCheck.too_slow])
def test_branch(steps: list[Step]) -> None:
    check(lambda folder: open_store("branch:results", make_clone(folder), author="x"), steps)

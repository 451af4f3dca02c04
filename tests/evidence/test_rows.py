"""Compare the rows of a run with the rows of a plan."""

from __future__ import annotations

import pytest

from infx.evidence.rows import FULL, KindRows, SweepKind, find_gap, find_kind, list_kinds
from infx.gate.facts import read_labels
from infx.policy.load import default_policy

LABELS = default_policy().labels
TRIMMED, EVALS = SweepKind(trim=True), SweepKind(evals_only=True)
PLAN = (
    KindRows(kind=FULL, ids=frozenset("abcxy")),
    KindRows(kind=TRIMMED, ids=frozenset("ax")),
    KindRows(kind=EVALS, ids=frozenset("xy")),
)
NOTHING = tuple(KindRows(kind=rows.kind, ids=frozenset()) for rows in PLAN)
NO_EVALS = (
    KindRows(kind=FULL, ids=frozenset("abc")),
    KindRows(kind=EVALS, ids=frozenset()),
)


@pytest.mark.parametrize(
    ("done", "seen", "plan", "asked", "words"),
    [
        ("abcxy", "abcxy", PLAN, FULL, None),
        ("abcxy", "abcxy", PLAN, None, None),
        ("ax", "ax", PLAN, TRIMMED, None),
        ("ax", "ax", PLAN, None, None),
        ("ax", "ax", PLAN, FULL, "3 of 5 planned rows did not succeed in it"),
        ("abcxy", "abcxy", PLAN, TRIMMED, None),  # more than the labels ask for
        ("xy", "xy", PLAN, TRIMMED, "1 of 2 planned rows did not succeed in it"),
        ("abcx", "abcxy", PLAN, FULL, "1 of 5 planned rows did not succeed in it"),
        ("abcxy", "abcxyz", PLAN, FULL, "1 row of it is not planned"),
        ("pq", "pq", PLAN, None, "2 rows of it are not planned"),
        ("abc", "abc", PLAN, None, "2 of 5 planned rows did not succeed in it"),  # matches no kind of sweep
        ("", "", PLAN, None, "5 of 5 planned rows did not succeed in it"),
        ("", "", NOTHING, FULL, None),
        ("", "", NOTHING, None, None),
        ("a", "a", NOTHING, FULL, "1 row of it is not planned"),
        (
            "",
            "",
            NO_EVALS,
            EVALS,
            "3 of 3 planned rows did not succeed in it",
        ),  # a run without rows proves nothing
        ("", "", NO_EVALS, None, "3 of 3 planned rows did not succeed in it"),
    ],
)
def test_the_gap_between_run_and_plan_is_described(
    done: str, seen: str, plan: tuple[KindRows, ...], asked: SweepKind | None, words: str | None
) -> None:
    gap = find_gap(set(done), set(seen), plan, asked)
    assert gap == words or (words is not None and gap is not None and words in gap)
    assert (gap is None) is (words is None)


def test_every_kind_that_labels_can_ask_for_is_listed() -> None:
    kinds = list_kinds(LABELS)
    assert kinds[0] == FULL
    assert len(set(kinds)) == len(kinds) == 16  # two scopes, each with any subset of three effects: 2 · 2³


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        ((), None),
        (("all-evals",), None),
        (("sweep-enabled", "full-sweep-enabled"), None),
        (("full-sweep-enabled",), FULL),
        (("Sweep-Enabled", "all-evals", "agentx-fast"), SweepKind(trim=True, all_evals=True, fast=True)),
        (("full-sweep-enabled", "evals-only", "other"), EVALS),
    ],
)
def test_the_labels_select_the_kind_of_sweep(labels: tuple[str, ...], kind: SweepKind | None) -> None:
    assert find_kind(read_labels(labels, LABELS)) == kind

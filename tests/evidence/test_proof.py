"""Check when a head was first seen, and whose settlement counts for it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from infx.evidence.proof import Proof, find_arrival, find_settler, list_settlers
from infx.markdown import MAX_UNTRUSTED
from infx.model import Run
from infx.policy.signoff import Role
from tests.builders import HEAD, NOW, OLD, comment, person, run
from tests.signoff.facts import POLICY

SETTLE = "/settle sweep I have read the workflow"


def at(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def run_of(sha: str, minutes: int) -> Run:
    return run(id=900 + minutes, head_sha=sha, created_at=at(minutes))


@pytest.mark.parametrize(
    ("runs", "minutes"),
    [
        ([], None),
        ([(OLD, 1)], None),
        ([(HEAD, 1)], 1),
        ([(HEAD, 1), (HEAD, 5), (HEAD, 9)], 1),  # labels start more runs of the same head
        ([(OLD, 0), (HEAD, 1), (HEAD, 5)], 1),
        ([(HEAD, 1), (OLD, 2), (HEAD, 3), (HEAD, 4)], 3),  # pushed away and pushed again
        ([(HEAD, 1), (OLD, 2)], 1),
        ([(HEAD, 4), (HEAD, 3), (OLD, 2), (HEAD, 1)], 3),  # in any order
    ],
)
def test_a_head_arrives_with_its_first_run(runs: list[tuple[str, int]], minutes: int | None) -> None:
    arrival = find_arrival([run_of(sha, minute) for sha, minute in runs], HEAD)
    assert arrival == (None if minutes is None else at(minutes))


def test_a_dispatch_shows_the_commit_in_its_title() -> None:
    dispatched = run(event="workflow_dispatch", head_sha="b" * 40, title=f"PR 77 at {HEAD}", created_at=at(1))
    assert find_arrival([dispatched], HEAD) == at(1)


PEOPLE = {"mia": person("mia", "maintain")}


@pytest.mark.parametrize(
    ("body", "since", "fields", "settler"),
    [
        (SETTLE, at(-1), {}, "mia"),
        (f"Looks good.\n\n{SETTLE}\n", at(-1), {}, "mia"),
        (SETTLE, at(1), {}, None),  # written before the head arrived
        (SETTLE, None, {}, None),  # the time of arrival is unknown
        (SETTLE, at(-1), {"updated_at": at(5)}, None),  # edited
        (SETTLE + "x" * MAX_UNTRUSTED, at(-1), {}, None),
        ("/settle accuracy I have read the workflow", at(-1), {}, None),
    ],
)
def test_a_settlement_counts_by_the_rules_of_sign_offs(
    body: str, since: datetime | None, fields: dict[str, datetime], settler: str | None
) -> None:
    command = comment(body, "mia", **fields)
    assert find_settler([command], POLICY, author="cody", since=since, people=PEOPLE) == settler


def test_the_policy_may_forbid_settlements() -> None:
    checks = POLICY.signoff.checks
    closed = replace(checks["sweep"], settled_by=Role.NO_ONE)
    policy = replace(POLICY, signoff=replace(POLICY.signoff, checks={**checks, "sweep": closed}))
    assert find_settler([comment(SETTLE, "mia")], policy, author="cody", since=at(-1), people=PEOPLE) is None


def test_only_the_newest_settlers_are_listed() -> None:
    comments = [comment(SETTLE, f"p{number}", id=number) for number in range(9)]
    comments.append(comment("/settle 2 another check", "mia", id=99))
    assert list_settlers(comments, POLICY) == ["p8", "p7", "p6"]


@pytest.mark.parametrize(
    ("proof", "is_good"),
    [
        (Proof(), True),
        (Proof(gap="x"), False),
        (Proof(edits=("a",)), False),
        (Proof(edits=("a",), settled_by="mia"), True),
        (Proof(gap="x", edits=("a",), settled_by="mia"), False),  # missing rows cannot be settled
    ],
)
def test_a_proof_needs_all_rows_and_settled_edits(proof: Proof, *, is_good: bool) -> None:
    assert proof.is_good is is_good

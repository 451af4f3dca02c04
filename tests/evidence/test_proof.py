"""When a head came, and whose word counts for it."""

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

WORD = "/settle sweep I have read the workflow"


def at(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


def shown(sha: str, minutes: int) -> Run:
    return run(id=900 + minutes, head_sha=sha, created_at=at(minutes))


@pytest.mark.parametrize(
    ("runs", "minutes"),
    [
        ([], None),
        ([(OLD, 1)], None),
        ([(HEAD, 1)], 1),
        ([(HEAD, 1), (HEAD, 5), (HEAD, 9)], 1),  # a label starts a run, too
        ([(OLD, 0), (HEAD, 1), (HEAD, 5)], 1),
        ([(HEAD, 1), (OLD, 2), (HEAD, 3), (HEAD, 4)], 3),  # it went and came back
        ([(HEAD, 1), (OLD, 2)], 1),
        ([(HEAD, 4), (HEAD, 3), (OLD, 2), (HEAD, 1)], 3),  # in any order
    ],
)
def test_a_head_comes_when_the_first_run_shows_it(runs: list[tuple[str, int]], minutes: int | None) -> None:
    found = find_arrival([shown(*one) for one in runs], HEAD)
    assert found == (None if minutes is None else at(minutes))


def test_a_dispatch_shows_the_commit_in_its_title() -> None:
    dispatched = run(event="workflow_dispatch", head_sha="b" * 40, title=f"PR 77 at {HEAD}", created_at=at(1))
    assert find_arrival([dispatched], HEAD) == at(1)


PEOPLE = {"mia": person("mia", "maintain")}


@pytest.mark.parametrize(
    ("body", "since", "fields", "settler"),
    [
        (WORD, at(-1), {}, "mia"),
        (f"Looks good.\n\n{WORD}\n", at(-1), {}, "mia"),
        (WORD, at(1), {}, None),  # about what was there before
        (WORD, None, {}, None),  # nobody knows when the head came
        (WORD, at(-1), {"updated_at": at(5)}, None),  # edited
        (WORD + "x" * MAX_UNTRUSTED, at(-1), {}, None),
        ("/settle accuracy I have read the workflow", at(-1), {}, None),
    ],
)
def test_a_word_counts_by_the_rules_of_sign_offs(
    body: str, since: datetime | None, fields: dict[str, datetime], settler: str | None
) -> None:
    said = comment(body, "mia", **fields)
    found = find_settler([said], POLICY, author="cody", since=since, people=PEOPLE)
    assert found == settler


def test_the_policy_may_let_nobody_settle() -> None:
    checks = POLICY.signoff.checks
    closed = replace(checks["sweep"], settled_by=Role.NO_ONE)
    policy = replace(POLICY, signoff=replace(POLICY.signoff, checks={**checks, "sweep": closed}))
    assert find_settler([comment(WORD, "mia")], policy, author="cody", since=at(-1), people=PEOPLE) is None


def test_few_are_asked_for_and_the_last_first() -> None:
    said = [comment(WORD, f"p{number}", id=number) for number in range(9)]
    said.append(comment("/settle 2 another check", "mia", id=99))
    assert list_settlers(said, POLICY) == ["p8", "p7", "p6"]


@pytest.mark.parametrize(
    ("proof", "is_good"),
    [
        (Proof(), True),
        (Proof(gap="x"), False),
        (Proof(edits=("a",)), False),
        (Proof(edits=("a",), settled_by="mia"), True),
        (Proof(gap="x", edits=("a",), settled_by="mia"), False),  # rows are not settled by words
    ],
)
def test_a_proof_is_whole_or_none(proof: Proof, *, is_good: bool) -> None:
    assert proof.is_good is is_good

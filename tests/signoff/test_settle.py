"""Settlements: who may settle a warning, with which command, and for which commit."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.evidence.settle import Refusal, Settlement, has_role, parse_settlements, select_settlements
from infx.model import Comment, CommentKind, StatusState
from infx.policy.signoff import CheckStatus, Role
from infx.signoff.judge import judge
from infx.signoff.record import (
    Binding,
    Record,
    Sighting,
    Standing,
    bind,
    digest_body,
    find_record,
    find_sightings,
    make_marker,
    parse_record,
    rebind,
)
from tests.builders import EVE, HEAD, NOW, OLD, comment, person, pull, run, status
from tests.signoff.facts import POLICY, checklist, facts

ROLES = {"amy": "write", "mia": "admin", "max": "maintain", "eve": "read", "odd": "custom", "cody": "admin"}
PEOPLE = {login: person(login, role) for login, role in ROLES.items()}
LATER = NOW + timedelta(minutes=5)


def settle(body: str, author: str = "mia", **fields: Any) -> Comment:
    return comment(body, author=author, **{"created_at": LATER, "updated_at": LATER, "id": 900, **fields})


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("/settle 4 merged by hand", [(4, "merged by hand")]),
        ("/settle reuse merged by hand", [(4, "merged by hand")]),
        ("hi\n/settle 4 merged by hand\n\n/settle 14 only two points exist", [(4, "merged by hand"), (14, "only two points exist")]),
        ("/settle 4 merged by hand\r\nthanks", [(4, "merged by hand")]),
        ("please /settle 4 merged by hand", []),
        ("`/settle 4 merged by hand`", []),
        ("> /settle 4 merged by hand", []),
        ("```\n/settle 4 merged by hand\n```", []),
        ("/settled 4 merged by hand", []),
    ],
)  # fmt: skip
def test_command(body: str, expected: list[tuple[int, str]]) -> None:
    found = parse_settlements(settle(body), "/settle")
    assert [(one.check, one.reason) for one in found if isinstance(one, Settlement)] == expected


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("/settle", "not name a check from 0 to 15"),
        ("/settle 16 merged by hand", "not name a check from 0 to 15"),
        ("/settle everything merged by hand", "not name a check from 0 to 15"),
        ("/settle 4", "shorter than 10 characters"),
        ("/settle 4 ok", "shorter than 10 characters"),
        ("/settle 4 ...........", "shorter than 10 characters"),
    ],
)
def test_command_that_settles_nothing(body: str, words: str) -> None:
    (found,) = parse_settlements(settle(body), "/settle")
    assert isinstance(found, Refusal)
    assert words in found.why


@pytest.mark.parametrize(
    ("given", "check", "why"),
    [
        (settle("/settle 4 merged by hand", "amy"), 4, None),
        (settle("/settle 1 seen it run myself", "amy"), 1, "requires the role maintain"),
        (settle("/settle 1 seen it run myself", "max"), 1, None),
        (settle("/settle 14 only two points exist", "max"), 14, "requires the role admin"),
        (settle("/settle 14 only two points exist", "mia"), 14, None),
        (settle("/settle 4 merged by hand", "eve"), 4, "does not have"),
        (settle("/settle 4 merged by hand", "odd"), 4, "does not have"),
        (settle("/settle 4 merged by hand", "stranger"), 4, "does not have"),
        (settle("/settle 4 merged by hand", "Cody"), 4, "author"),
        (settle("/settle 4 merged by hand", "app[bot]"), 4, "Only people"),
        (settle("/settle 4 merged by hand", created_at=NOW - timedelta(hours=1), updated_at=NOW - timedelta(hours=1)), 4, "before the verdict"),
        (settle("/settle 4 merged by hand", updated_at=LATER + timedelta(hours=1)), 4, "edited"),
    ],
)  # fmt: skip
def test_who_and_when(given: Comment, check: int, why: str | None) -> None:
    settled, refused = select_settlements([given], POLICY.signoff, author="cody", since=NOW, people=PEOPLE)
    assert (check in settled) is (why is None)
    assert [why in refusal.why for refusal in refused if why] == ([True] if why else [])


def test_without_a_verdict_there_is_nothing_to_settle() -> None:
    settled, _ = select_settlements([settle("/settle 4 merged by hand")], POLICY.signoff, author="cody", since=None, people=PEOPLE)  # fmt: skip
    assert settled == {}


def test_reviews_settle_nothing() -> None:
    review = settle("/settle 4 merged by hand", kind=CommentKind.REVIEW)
    assert select_settlements([review], POLICY.signoff, author="cody", since=NOW, people=PEOPLE) == ({}, ())


def test_a_settled_row_stays_a_warning_and_names_the_person() -> None:
    signoff_facts = facts(
        comments=(settle("/settle 4 merged by hand", "mia"),), people=tuple(PEOPLE.values())
    )
    (result,) = (result for result in judge(signoff_facts, POLICY).results if result.check.number == 4)
    assert result.outcome.status is CheckStatus.WARN
    assert result.is_good
    assert result.settlement is not None
    assert result.settlement.comment.author.login == "mia"


def test_only_warnings_are_settled() -> None:
    signoff_facts = facts(codeowners=None, comments=(settle("/settle 0 I know that they own it"),), people=tuple(PEOPLE.values()))  # fmt: skip
    judgment = judge(signoff_facts, POLICY)
    result = judgment.results[0]
    assert (result.outcome.status, result.settlement) == (CheckStatus.FAIL, None)
    assert [refusal.why for refusal in judgment.refused] == [
        "Check 0 ended in FAIL; only a WARN can be settled."
    ]


def test_a_check_that_no_one_may_settle_is_refused() -> None:
    strict = replace(POLICY.signoff.checks["reuse"], settled_by=Role.NO_ONE)
    policy = replace(POLICY.signoff, checks={**POLICY.signoff.checks, "reuse": strict})
    commands = [settle("/settle 4 merged by hand", "mia")]
    settled, (refusal,) = select_settlements(commands, policy, author="cody", since=NOW, people=PEOPLE)
    assert (settled, refusal.why) == ({}, "Check 4 cannot be settled; fix what it warns about.")


@pytest.mark.parametrize(
    ("role", "who"),
    [
        (Role.NO_ONE, set()),
        (Role.WRITE, {"amy", "mia", "max", "cody"}),
        (Role.MAINTAIN, {"mia", "max", "cody"}),
        (Role.ADMIN, {"mia", "cody"}),
    ],
)
def test_roles(role: Role, who: set[str]) -> None:
    assert {login for login, person in PEOPLE.items() if has_role(person, role)} == who


SIGNOFF = comment(checklist())
RECORD = Record(sha=OLD, diff="d" * 64, body=digest_body(checklist()), since=NOW)


@pytest.mark.parametrize(
    ("record", "head", "diff", "standing", "sha"),
    [
        (None, HEAD, "d" * 64, Standing.FRESH, HEAD),
        (RECORD, OLD, "d" * 64, Standing.CURRENT, OLD),
        (RECORD, OLD, "e" * 64, Standing.CURRENT, OLD),
        (RECORD, HEAD, "d" * 64, Standing.CARRIED, OLD),
        (RECORD, HEAD, "e" * 64, Standing.STALE, OLD),
        (replace(RECORD, body="0" * 16), HEAD, "e" * 64, Standing.FRESH, HEAD),
    ],
)
def test_binding(record: Record | None, head: str, diff: str, standing: Standing, sha: str) -> None:
    binding = bind(record, SIGNOFF, head, diff, LATER)
    assert (binding.standing, binding.record.sha) == (standing, sha)


@pytest.mark.parametrize(
    ("kind", "written_on", "standing"),
    [
        (CommentKind.REVIEW, HEAD, Standing.FRESH),
        (CommentKind.REVIEW, OLD, Standing.STALE),
        (CommentKind.REVIEW, None, Standing.FRESH),
        (CommentKind.REVIEW_COMMENT, OLD, Standing.FRESH),
    ],
)
def test_a_review_is_bound_to_its_commit(
    kind: CommentKind, written_on: str | None, standing: Standing
) -> None:
    review = replace(SIGNOFF, kind=kind, commit_sha=written_on)
    assert bind(None, review, HEAD, "d" * 64, NOW).standing is standing


def seen(sha: str, minutes: int) -> Sighting:
    """Return a sighting of a commit, so many minutes after the sign-off was written."""
    return Sighting(sha=sha, at=NOW + timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("sightings", "standing"),
    [
        ((), Standing.UNSEEN),
        ((seen(HEAD, 5),), Standing.UNSEEN),
        ((seen(OLD, 2), seen(HEAD, 5)), Standing.UNSEEN),
        ((seen(OLD, -5),), Standing.STALE),  # the head was pushed and started nothing
        ((seen(OLD, -5), seen(HEAD, 5)), Standing.STALE),
        ((seen(HEAD, -9), seen(OLD, -5), seen(HEAD, 5)), Standing.STALE),  # the head was reset in between
        ((seen(HEAD, -1),), Standing.FRESH),
        ((seen(OLD, -5), seen(HEAD, 0)), Standing.FRESH),
        ((seen(OLD, -5), seen(HEAD, -1), seen(HEAD, 5)), Standing.FRESH),  # a label came later
    ],
)
def test_a_signoff_is_bound_to_the_head_seen_last(
    sightings: tuple[Sighting, ...], standing: Standing
) -> None:
    fresh = bind(None, SIGNOFF, HEAD, "d" * 64, LATER)
    for ordered in (sightings, sightings[::-1]):
        binding = rebind(fresh, SIGNOFF, HEAD, ordered)
        assert binding.standing is standing
        assert binding.record.sha == (OLD if standing is Standing.STALE else HEAD)


@pytest.mark.parametrize(
    ("kind", "sha", "standing"),
    [
        (CommentKind.REVIEW, HEAD, Standing.FRESH),
        (CommentKind.REVIEW, OLD, Standing.UNSEEN),
        (CommentKind.REVIEW_COMMENT, HEAD, Standing.UNSEEN),  # GitHub moves it to later heads
    ],
)
def test_a_review_of_the_head_needs_no_sighting(kind: CommentKind, sha: str, standing: Standing) -> None:
    review = replace(SIGNOFF, kind=kind, commit_sha=sha)
    fresh = bind(replace(RECORD, body="0" * 16), review, HEAD, "d" * 64, LATER)
    assert rebind(fresh, review, HEAD, ()).standing is standing


def test_an_assessed_signoff_stays_bound() -> None:
    current = bind(RECORD, SIGNOFF, OLD, "d" * 64, LATER)
    assert rebind(current, SIGNOFF, OLD, (seen(HEAD, -5), seen(OLD, 5))) == current


def test_runs_own_statuses_and_reviews_are_sightings() -> None:
    # Statuses of other accounts do not count, nor do dispatches, which run on another commit than they name.
    pending = status(state=StatusState.PENDING)
    review = comment("", kind=CommentKind.REVIEW, commit_sha="e" * 40)
    sightings = find_sightings(
        pull(),
        [run(head_sha=OLD), run(event="workflow_dispatch")],
        [pending, replace(pending, creator=EVE), replace(pending, created_at=None)],
        [review, comment("", commit_sha=HEAD), replace(review, kind=CommentKind.REVIEW_COMMENT)],
        POLICY.publisher,
    )
    assert [(sighting.sha, sighting.at) for sighting in sightings] == [
        (OLD, run().created_at),
        (HEAD, NOW),
        ("e" * 40, NOW),
    ]


def test_record_round_trip_and_line_ends() -> None:
    assert parse_record(f"x\n{RECORD}\r\ny") == RECORD
    assert digest_body("a \r\nb\n") == digest_body("a\nb")
    assert isinstance(bind(RECORD, SIGNOFF, OLD, "d" * 64, NOW), Binding)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "<!-- signed-at x -->",
        str(RECORD).replace("2026", "year"),
        str(RECORD).replace("+00:00", ""),
        "\n" * 9 + str(RECORD),
    ],
)
def test_malformed_records_are_ignored(line: str) -> None:
    assert parse_record(line) is None


@pytest.mark.parametrize(
    ("author", "found"), [("github-actions[bot]", True), ("eve", False), ("coverage[bot]", False)]
)
def test_only_records_in_own_comments_are_trusted(author: str, found: bool) -> None:
    body = f"{make_marker(SIGNOFF.kind, SIGNOFF.id, POLICY)}\n{RECORD}\n## ✅✅✅ **Verdict: PASS** ✅✅✅\n"
    own = comment(body, author=author, id=901)
    assert (find_record((own,), SIGNOFF, POLICY, {}) == RECORD) is found
    moved = replace(own, body="Look:\n" + body)
    assert find_record((moved,), SIGNOFF, POLICY, {}) is None

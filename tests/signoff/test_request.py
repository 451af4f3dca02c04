"""Check which comments are sign-offs, who may sign, which events start a verification, and when a sign-off is required."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from infx import yaml12
from infx.gather.local import read_policy_path
from infx.model import GHOST, Collaborator, CommentKind, FileStatus, ReviewState, User, UserType
from infx.signoff.request import (
    find_missing_part,
    find_outdated,
    find_refusal,
    find_scope_refusal,
    find_signer_refusal,
)
from infx.signoff.scope import decide_scope
from infx.signoff.trigger import Trigger, list_trigger_words, parse_trigger
from tests.builders import HEAD, NOW, comment, person, pull
from tests.signoff.facts import MASTER, POLICY, checklist, facts, file

ROOT = Path(__file__).parents[2]
PHRASE = POLICY.signoff.phrase
GREETING = (
    f"Ask one owner to fill in the checklist, including the phrase `{PHRASE}, I have reviewed this and have`."
)


@pytest.mark.parametrize(
    "body",
    [
        checklist(),
        checklist().replace("As a PR", "as  a\nPR"),
        checklist().replace("- [x]", "* [X]"),
        checklist().replace("- [x]", "1. [x]"),
        "Thanks!\n\n" + checklist(),
        f"**{PHRASE}**\n\n- [ ] nothing yet",
        checklist().replace("\n", "\r\n"),
    ],
)
def test_signoff(body: str) -> None:
    assert find_missing_part(body, PHRASE) is None


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("", "phrase"),
        ("Nice work.", "phrase"),
        (GREETING, "No paragraph"),
        (f"We need: {PHRASE}, …\n\n- [x] a", "No paragraph"),
        (f"{PHRASE}, I approve.", "no task list"),
        (f"{PHRASE}:\n\n- (x) a\n- [] b", "no task list"),
        ("> " + checklist().replace("\n", "\n> ") + "\n\nthanks!", "No paragraph"),
        (f"```\n{checklist()}\n```", "No paragraph"),
        (f"<!--\n{checklist()}\n-->", "No paragraph"),
        (f"- {PHRASE}:\n  - [x] a", "No paragraph"),
        (f"# {PHRASE}\n\n- [x] a", "No paragraph"),
        (f"{PHRASE}:\n\n```\n- [x] a\n```", "no task list"),
    ],
)
def test_no_signoff(body: str, words: str) -> None:
    assert words in (find_missing_part(body, PHRASE) or "")


A, C, R, D, P = (
    ReviewState.APPROVED,
    ReviewState.COMMENTED,
    ReviewState.CHANGES_REQUESTED,
    ReviewState.DISMISSED,
    ReviewState.PENDING,
)


@pytest.mark.parametrize(
    ("states", "current"),
    [
        ([A], {0}),
        ([A, A], {1}),
        ([A, D], set()),
        ([A, P], set()),
        ([A, D, P], set()),
        ([D, A], {1}),
        ([A, R], {1}),
        ([A, C], {1}),
        ([D], set()),
        ([P], set()),
        ([None], set()),
        ([A, None], set()),
    ],
)
def test_newest_review_counts_whatever_its_state(states: list[ReviewState | None], current: set[int]) -> None:
    """Only the same person's later review counts, in whatever order the reviews are listed."""
    reviews = [
        comment(checklist(), id=place, kind=CommentKind.REVIEW, review_state=state, created_at=NOW + timedelta(hours=place))
        for place, state in enumerate(states)
    ]  # fmt: skip
    other = comment(checklist(), "amy", id=90, kind=CommentKind.REVIEW, review_state=A, created_at=NOW + timedelta(days=1))  # fmt: skip
    for listed in (reviews, reviews[::-1]):
        outdated = find_outdated([*listed, other])
        assert {review.id for review in reviews} - outdated.keys() == current
        assert 90 not in outdated


def test_a_review_that_only_carries_line_comments_is_ignored() -> None:
    comments = [
        comment(checklist(), id=1, kind=CommentKind.REVIEW, review_state=A),
        comment(" ", id=2, kind=CommentKind.REVIEW, review_state=C),
        comment("/settle 3 because", id=3, created_at=NOW + timedelta(days=1)),
    ]
    assert find_outdated(comments) == {2: "noor has written a newer review."}


@pytest.mark.parametrize(
    "author",
    [
        User(login="bench-bot[bot]", type=UserType.BOT),
        User(login="mannequin", type=UserType.MANNEQUIN),
        User(login="acme", type=UserType.ORGANIZATION),
        GHOST,
    ],
)
def test_only_people_can_sign(author: User) -> None:
    signoff = replace(comment(checklist()), author=author)
    assert "not a person" in (find_refusal(signoff, PHRASE) or "")


@pytest.mark.parametrize(
    ("fields", "words"),
    [({}, None), ({"is_open": False}, "#77 is closed."), ({"base_ref": "evil"}, "#77 targets evil")],
)
def test_only_open_pull_requests_into_the_base_branch_are_verified(
    fields: dict[str, Any], words: str | None
) -> None:
    refusal = find_scope_refusal(pull(**fields), "main")
    assert refusal is None if words is None else words in (refusal or "")


@pytest.mark.parametrize(
    ("permission", "role", "may"),
    [
        ("write", "write", True),
        ("write", "maintain", True),
        ("admin", "admin", True),
        ("read", "read", False),
        ("read", "triage", False),
        ("write", "release-manager", False),
        ("write", "", False),
        ("none", "none", False),
    ],
)
def test_who_may_sign(permission: str, role: str, may: bool) -> None:
    signer = person("noor", role, permission=permission)
    assert (find_signer_refusal(signer, "noor") is None) is may


def test_an_unreadable_role_counts_against_the_signer() -> None:
    assert "could not be read" in (find_signer_refusal(None, "noor") or "")


def event(
    body: str, *, kind: str = "User", before: str | None = None, on: str = "pull_request"
) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "issue": {"number": 77, on: {}},
        "comment": {"body": body, "user": {"type": kind}},
    }
    return {**payload, "changes": {"body": {"from": before}}} if before is not None else payload


RUN = {"id": 5, "path": POLICY.sweep.workflow, "head_sha": HEAD, "event": "pull_request"}


@pytest.mark.parametrize(
    ("name", "payload", "expected"),
    [
        ("issue_comment", event(checklist()), Trigger(pull=77)),
        ("issue_comment", event("gone", before=checklist()), Trigger(pull=77)),
        ("issue_comment", event("/settle 4 for a reason"), Trigger(pull=77)),
        ("issue_comment", event("/use 42"), Trigger(pull=77)),
        ("workflow_run", {"workflow_run": RUN}, Trigger(head_sha=HEAD)),
        (
            "workflow_run",
            {"workflow_run": {**RUN, "path": POLICY.signoff.relay_workflow}},
            Trigger(head_sha=HEAD),
        ),
        (
            "workflow_run",
            {"workflow_run": {**RUN, "event": "workflow_dispatch"}},
            Trigger(head_sha=HEAD, run_id=5),
        ),
        (
            "workflow_run",
            {
                "workflow_run": {
                    **RUN,
                    "event": "workflow_dispatch",
                    "display_title": f"PR 77 at {HEAD}",
                }
            },
            Trigger(pull=77),
        ),
        (
            "workflow_run",
            {"workflow_run": {**RUN, "display_title": f"PR 78 at {HEAD}"}},
            Trigger(head_sha=HEAD),
        ),
        ("workflow_dispatch", {"inputs": {"pr": "77"}}, Trigger(pull=77)),
    ],
)
def test_trigger(name: str, payload: dict[str, Any], expected: Trigger) -> None:
    assert parse_trigger(name, payload, POLICY) == expected


@pytest.mark.parametrize(
    ("name", "payload", "words"),
    [
        ("issue_comment", event("Nice."), "contains no command"),
        ("issue_comment", event(GREETING, kind="Bot"), "only people"),
        ("issue_comment", event(checklist(), on="other"), "not on a pull request"),
        ("issue_comment", {}, "not on a pull request"),
        ("issue_comment", {"issue": {"number": "77", "pull_request": {}}}, "not on a pull request"),
        ("workflow_run", {"workflow_run": {**RUN, "path": ".github/workflows/ci.yml"}}, "another workflow"),
        ("workflow_run", {"workflow_run": {**RUN, "head_sha": "main"}}, "no commit"),
        ("workflow_run", {"workflow_run": None}, "another workflow"),
        ("workflow_dispatch", {"inputs": {"pr": "77; rm"}}, "no pull request"),
        ("push", {}, "does not concern"),
    ],
)
def test_no_trigger(name: str, payload: dict[str, Any], words: str) -> None:
    trigger = parse_trigger(name, payload, POLICY)
    assert (trigger.pull, trigger.head_sha) == (None, None)
    assert words in trigger.reason


def test_the_workflow_filters_by_the_same_words() -> None:
    # Otherwise a waiting verification could be replaced by a run that verifies nothing.
    workflow = yaml12.load((ROOT / ".github/workflows/signoff.yml").read_bytes(), "signoff.yml").value
    words = set(
        re.findall(r"contains\(github\.event\.comment\.body, '([^']+)'\)", workflow["jobs"]["verify"]["if"])
    )
    assert words == set(list_trigger_words(POLICY))
    assert workflow["on"]["workflow_run"]["workflows"] == ["run-sweep", "signoff-relay"]


def people(**roles: str) -> tuple[Collaborator, ...]:
    return tuple(person(login, role) for login, role in roles.items())


SCOPED = replace(POLICY.signoff, core_owners=("@acme/core",))


@pytest.mark.parametrize(
    ("paths", "known", "required"),
    [
        ((MASTER,), people(noor="write"), True),
        ((MASTER,), people(noor="admin"), False),
        ((MASTER,), (), True),
        (("run.sh",), (), False),
        (("run.sh", "configs/amd.yaml"), (), True),
        ((), (), False),
    ],
)
def test_scope(paths: tuple[str, ...], known: tuple[Collaborator, ...], required: bool) -> None:
    signoff_facts = facts(files=tuple(file(path) for path in paths), people=known)
    assert decide_scope(signoff_facts, SCOPED).is_required is required


@pytest.mark.parametrize(
    "fields",
    [
        {"codeowners": None, "files": ()},
        {"files": (), "shortfalls": ("Page 2 is missing.",)},
        {"files": (file("misc/x", status=FileStatus.RENAMED, previous_path="configs/amd.yaml"),)},
    ],
)
def test_unreadable_facts_require_a_signoff(fields: dict[str, Any]) -> None:
    assert decide_scope(facts(**fields), SCOPED).is_required


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (None, "configs/policy.yaml"),
        ("main:rules/p.yaml", "rules/p.yaml"),
        ("rules/p.yaml", "rules/p.yaml"),
        ("./rules/p.yaml", "rules/p.yaml"),
    ],
)
def test_policy_path(source: str | None, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert read_policy_path(source) == path


def test_comments_of_facts_are_issue_comments() -> None:
    assert {saved.kind for saved in facts().comments} == {CommentKind.ISSUE}

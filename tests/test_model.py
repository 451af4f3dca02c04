from __future__ import annotations

from typing import Any

import pytest

from infx.model import GHOST, ChangedFile, Collaborator, FileStatus, User, UserType, read_run_id


@pytest.mark.parametrize(
    ("user", "human"),
    [
        (User(login="amy"), True),
        (User(login="bench-bot[bot]", type=UserType.BOT), False),
        (User(login="old", type=UserType.MANNEQUIN), False),
        (User(login="acme", type=UserType.ORGANIZATION), False),
        (GHOST, False),
    ],
)
def test_only_a_person_with_an_account_is_human(user: User, human: bool) -> None:
    assert user.is_human is human


# GitHub answers twice: `permission` knows four words, `role` may be a custom role's name.
@pytest.mark.parametrize(
    ("permission", "role", "writes", "administers"),
    [
        ("admin", "admin", True, True),
        ("write", "maintain", True, False),
        ("write", "write", True, False),
        ("write", "release-manager", False, False),
        ("admin", "release-manager", False, False),
        ("read", "triage", False, False),
        ("read", "write", False, False),
        ("none", "", False, False),
        ("", "admin", False, False),
    ],
)
def test_both_answers_must_agree_on_what_somebody_may_do(
    permission: str, role: str, writes: bool, administers: bool
) -> None:
    who = Collaborator(login="amy", permission=permission, role=role)
    assert (who.can_write, who.is_admin) == (writes, administers)


@pytest.mark.parametrize(
    ("fields", "paths"),
    [
        ({"path": "a", "status": FileStatus.MODIFIED}, ("a",)),
        ({"path": "b", "status": FileStatus.RENAMED, "previous_path": "a"}, ("a", "b")),
    ],
)
def test_a_rename_touches_both_paths(fields: dict[str, Any], paths: tuple[str, ...]) -> None:
    assert ChangedFile(**fields).paths == paths


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://github.com/acme/bench/actions/runs/501", 501),
        ("https://github.com/acme/bench/actions/runs/501/", 501),
        ("https://github.com/acme/bench/actions/runs/501/attempts/2", 501),
        ("https://github.com/acme/bench/actions/runs/501/job/7", 501),
        (f"https://github.com/acme/bench/actions/runs/{'1' * 19}", None),  # no number that GitHub gives
        ("https://github.com/acme/bench/pull/77#issuecomment-11", None),
        ("", None),
    ],
)
def test_the_run_of_an_address(url: str, expected: int | None) -> None:
    assert read_run_id(url) == expected

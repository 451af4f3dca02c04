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


# GitHub gives two answers: `permission` is one of four words, `role` may be the name of a custom role.
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
def test_permission_and_role_must_agree(permission: str, role: str, writes: bool, administers: bool) -> None:
    collaborator = Collaborator(login="amy", permission=permission, role=role)
    assert (collaborator.can_write, collaborator.is_admin) == (writes, administers)


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
        (f"https://github.com/acme/bench/actions/runs/{'1' * 19}", None),  # longer than GitHub's numbers
        ("https://github.com/acme/bench/pull/77#issuecomment-11", None),
        ("", None),
    ],
)
def test_the_run_id_of_a_url(url: str, expected: int | None) -> None:
    assert read_run_id(url) == expected

"""Finding commands that ask for the reuse of a sweep, and selecting the one that counts."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from infx.model import GHOST, Comment, CommentKind, User, UserType
from infx.policy.load import default_policy
from infx.reuse.command import (
    find_command,
    find_misread,
    find_misread_commands,
    list_usage,
    select_authorized,
)
from tests.builders import NOW, comment, person

POLICY = default_policy().reuse
PEOPLE = {"noor": person("noor")}


@pytest.mark.parametrize(
    ("body", "run_id"),
    [
        ("/use 42", 42),
        ("  /use 42  ", 42),
        ("/use\t42", 42),
        ("/reuse-sweep-run 42", 42),
        ("/reuse-sweep-run 42\r\nthanks", 42),
        ("/reuse-sweep-run", None),
        ("thanks\n/use 1\n/use 2", 2),
        ("/use 7\n\n/reuse-sweep-run", None),
    ],
)
def test_a_command_line_is_found(body: str, run_id: int | None) -> None:
    assert find_command(body, POLICY.commands) == (run_id,)


@pytest.mark.parametrize(
    "body",
    [
        "Usage:\n```\n/reuse-sweep-run 42\n```",
        "<!--\n/reuse-sweep-run 9\n-->",
        "    /reuse-sweep-run 42",
        "> /use 42",
        "- /use 42",
        "`/use 42`",
        "/use",
        "/use latest",
        "/use 42 now",
        "/use\n42",
        "please /use 42",
        "/reuse-sweep-runs 42",
        "/USE 42",
        "/use 9999999999999999999999",
    ],
)
def test_other_lines_are_not_commands(body: str) -> None:
    assert find_command(body, POLICY.commands) is None


def associated(body: str, author: str = "noor", **fields: Any) -> Comment:
    """Return a comment whose author GitHub associates with the repository."""
    return comment(body, author, **{"association": "MEMBER", **fields})


def test_the_newest_command_by_creation_counts() -> None:
    """An edit does not make an old comment the newest."""
    old = associated("/use 1", id=1, created_at=NOW, updated_at=NOW + timedelta(days=1))
    new = associated("/use 2", id=2, created_at=NOW + timedelta(hours=1))
    chosen = select_authorized([new, old], POLICY, PEOPLE)
    assert chosen is not None
    assert (chosen.run_id, chosen.comment.id) == (2, 2)


@pytest.mark.parametrize(
    ("permission", "role", "counts"),
    [
        ("admin", "admin", True),
        ("write", "maintain", True),
        ("write", "write", True),
        ("write", "release-manager", False),  # a custom role is not one of GitHub's five roles
        ("read", "triage", False),
        ("read", "read", False),
        ("none", "none", False),
    ],
)
def test_current_permission_and_role_decide(permission: str, role: str, *, counts: bool) -> None:
    people = {"noor": person("noor", role, permission=permission)}
    command = associated("/use 1")
    assert (select_authorized([command], POLICY, people) is not None) is counts
    assert select_authorized([replace(command, kind=CommentKind.REVIEW)], POLICY, people) is None
    assert select_authorized([command], POLICY, {}) is None


@pytest.mark.parametrize(
    "author",
    [
        GHOST,
        User(login="Ghost"),
        User(login=""),
        User(login="noor", type=UserType.BOT),
        User(login="noor", type=UserType.MANNEQUIN),
        User(login="noor", type=UserType.ORGANIZATION),
    ],
)
def test_only_commands_of_people_with_a_login_count(author: User) -> None:
    """This is so even if that login is listed as an administrator."""
    people = {name: person(name, "admin") for name in ("noor", "ghost", "")}
    comments = [associated("/use 1", id=1), replace(associated("/use 2", id=2), author=author)]
    chosen = select_authorized(comments, POLICY, people)
    assert chosen is not None
    assert chosen.run_id == 1


def test_a_command_without_write_access_hides_no_older_command() -> None:
    comments = [associated("/use 1", id=1), associated("/use 2", "eve", id=2)]
    chosen = select_authorized(comments, POLICY, PEOPLE)
    assert chosen is not None
    assert chosen.run_id == 1


MISREAD = [
    "/reuse-sweep-run 42 please",
    "/reuse-sweep-run ４２",
    "/reuse-sweep-run\u300042",
    "/reuse-sweep-run ٤٢",
    "/reuse-sweep-run４２",
    "/reuse-sweep-run42",
    "/reuse-sweep-run #42",
    "/reuse-sweep-run: 42",
    "/reuse-sweep-run 42.",
    "/reuse-sweep-run 42 43",
    "/reuse-sweep-run -42",
    "/Reuse-Sweep-Run 42",
    "/use",
    "/use latest",
    "/use 42 now",
    "/USE 42",
    "/use 9999999999999999999999",
    "/use https://github.com/acme/bench/actions/runs/42",
]


@pytest.mark.parametrize("line", MISREAD)
def test_an_invalid_command_is_reported(line: str) -> None:
    """No run is reused, and the line appears in a notice."""
    body = f"Thanks!\n{line}\nSee above."
    assert find_command(body, POLICY.commands) is None
    assert find_misread(body, POLICY.commands) == line
    assert find_misread_commands([comment(body)], POLICY) == (line,)


@pytest.mark.parametrize(
    "body",
    [
        "/use 42",
        "/reuse-sweep-run",
        "/reuse-sweep-run 42\r\nthanks",
        "/use 42 now\n/use 42",
        "please /use 42 now",
        "/use/local/bin is full",
        "/users 42",
        "/user",
        "/reuse-sweep-runs 42",
        "`/use 42 now`",
        "> /use 42 now",
        "- /use 42 now",
        "    /use 42 now",
        "```\n/use 42 now\n```",
        "<!--\n/use 42 now\n-->",
        "/use 42 now\n" + "[" * 65_000,  # a parser takes seconds for it
    ],
)
def test_a_valid_command_or_other_line_is_not_reported(body: str) -> None:
    assert find_misread(body, POLICY.commands) is None


def test_every_command_of_the_policy_has_its_usage() -> None:
    """The usage is a command once RUN-NUMBER is replaced."""
    usage = list_usage(POLICY.commands)
    assert usage == ["/use RUN-NUMBER", "/reuse-sweep-run [RUN-NUMBER]"]
    for line in usage:
        assert find_misread(line, POLICY.commands) == line  # a copy of the usage itself is not a command
        filled = line.replace("[RUN-NUMBER]", "42").replace("RUN-NUMBER", "42")
        assert find_command(filled, POLICY.commands) == (42,)


def test_the_last_command_of_each_person_counts() -> None:
    def post(body: str, minute: int, author: str = "noor") -> Comment:
        return comment(body, author, id=minute, created_at=NOW + timedelta(minutes=minute))

    wrong, right = "/use 42 now", "/use 42"
    assert find_misread_commands([post(wrong, 1), post(right, 2)], POLICY) == ()
    assert find_misread_commands([post(right, 2), post(wrong, 1)], POLICY) == ()
    assert find_misread_commands([post(right, 1), post(wrong, 2)], POLICY) == (wrong,)
    assert find_misread_commands([post(wrong, 1), post("thanks", 2)], POLICY) == (wrong,)
    assert find_misread_commands([post(wrong, 1), post(right, 2, "amy")], POLICY) == (wrong,)
    assert find_misread_commands([post(wrong, 1), post(f"{wrong}!", 2, "amy")], POLICY) == (
        wrong,
        f"{wrong}!",
    )


def test_commands_of_bots_and_reviews_are_not_reported() -> None:
    """A bot that quotes the notice must not get another notice."""
    assert find_misread_commands([comment("/use 42 now", "helper[bot]")], POLICY) == ()
    review = replace(comment("/use 42 now"), kind=CommentKind.REVIEW)
    assert find_misread_commands([review], POLICY) == ()

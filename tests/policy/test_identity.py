"""What is ours, by whom it is from."""

from __future__ import annotations

import pytest

from infx.model import User, UserType
from infx.policy.identity import find_status, is_ours
from tests.builders import EVE, status

NAMES = ("GitHub-Actions[bot]", "robot", "ghost", "")


@pytest.mark.parametrize(
    ("login", "kind", "expected"),
    [
        ("github-actions[bot]", UserType.BOT, True),
        ("Robot", UserType.USER, True),  # an account that a machine uses
        ("github-actions[bot]", UserType.USER, False),
        ("robot", UserType.BOT, False),  # an app's login would end in [bot]
        ("eve", UserType.USER, False),
        ("github-actions[bot]", UserType.ORGANIZATION, False),
        ("robot", UserType.MANNEQUIN, False),
        ("ghost", UserType.USER, False),  # an account that is gone, whatever the list says
        ("Ghost", UserType.USER, False),
        ("", UserType.USER, False),
    ],
)
def test_login_and_type_say_who_is_ours(login: str, kind: UserType, expected: bool) -> None:
    assert is_ours(User(login=login, type=kind), NAMES) is expected


def test_whoever_sets_our_status_anew_takes_it_back() -> None:
    ours, theirs, other = status(), status(creator=EVE), status("infx/approval")
    assert find_status([other, ours, theirs], "infx/sweep", NAMES) is ours
    assert find_status([theirs, ours], "infx/sweep", NAMES) is None
    assert find_status([other], "infx/sweep", NAMES) is None
    assert find_status([ours], None, NAMES) is None

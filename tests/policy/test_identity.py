"""Recognizing the policy's identities."""

from __future__ import annotations

import pytest

from infx.model import User, UserType
from infx.policy.identity import find_status, is_identity
from tests.builders import EVE, status

NAMES = ("GitHub-Actions[bot]", "robot", "ghost", "")


@pytest.mark.parametrize(
    ("login", "kind", "expected"),
    [
        ("github-actions[bot]", UserType.BOT, True),
        ("Robot", UserType.USER, True),  # an account that a machine uses
        ("github-actions[bot]", UserType.USER, False),
        ("robot", UserType.BOT, False),  # an app's login ends in [bot]
        ("eve", UserType.USER, False),
        ("github-actions[bot]", UserType.ORGANIZATION, False),
        ("robot", UserType.MANNEQUIN, False),
        ("ghost", UserType.USER, False),  # a deleted account, even if the list names it
        ("Ghost", UserType.USER, False),
        ("", UserType.USER, False),
    ],
)
def test_login_and_type_identify_an_author(login: str, kind: UserType, expected: bool) -> None:
    assert is_identity(User(login=login, type=kind), NAMES) is expected


def test_a_newer_status_by_another_account_overrides_infx() -> None:
    own, foreign, other = status(), status(creator=EVE), status("infx/approval")
    assert find_status([other, own, foreign], "infx/sweep", NAMES) is own
    assert find_status([foreign, own], "infx/sweep", NAMES) is None
    assert find_status([other], "infx/sweep", NAMES) is None
    assert find_status([own], None, NAMES) is None

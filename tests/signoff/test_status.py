"""The commit status of sign-offs fits GitHub's limit."""

from __future__ import annotations

from infx.policy.load import default_policy
from infx.signoff.publish import make_status
from infx.signoff.scope import SignoffScope


def test_a_long_list_of_owners_is_cut() -> None:
    owners = tuple(f"@acme/the-team-that-owns-recipes-{number}" for number in range(4))
    status = make_status(SignoffScope(is_required=True, reason="", owners=owners), (), default_policy())
    assert status is not None
    words = f"Waiting for the sign-off of one owner: {', '.join(owners)}"
    assert len(words) > 140
    assert status.description == f"{words[:139]}…"

"""Merge a pull request that a code owner has signed off, on a base branch that has moved since."""

from __future__ import annotations

from infx.policy.load import default_policy
from tests.merge.world import OTHER, OWN, World
from tests.reconcile.world import BASE

PHRASE = "As a PR reviewer and CODEOWNER, I have reviewed this and have:"
TEMPLATE = f"{PHRASE}\n\n- [{{}}] **Sweep.** Linked a green sweep\n\nSigned: @noor\n"
CHECKS = "".join(f"    {slug}: off\n" for slug in default_policy().signoff.checks if slug != "checklist")
POLICY = f"repository: acme/bench\nsignoff:\n  checks:\n{CHECKS}"
SIGNOFF = "codeowner-signoff-verify"


def find_signoff(world: World) -> tuple[str, str]:
    """Return the state and the words of the newest sign-off status on the head."""
    own = [s for s in world.hub.state.statuses if (s.sha, s.context) == (world.head(), SIGNOFF)]
    return own[-1].state, own[-1].description or ""


def test_a_sign_off_carries_over_the_update_of_the_branch(world: World) -> None:
    """Without the sign-off, the branch gets no commit; with it, the merge needs no second one."""
    world.policy = POLICY
    owned = {".github/CODEOWNERS": "* @noor\n", "docs/PR_REVIEW_CHECKLIST.md": TEMPLATE.format(" ")}
    world.hub.push("main", owned)
    world.pull()
    world.conflict()
    before = world.head()
    called = world.merge()
    assert called.json["reason"] == "sign-off"
    assert world.head() == before

    world.hub.comment(77, TEMPLATE.format("x"), by="noor")
    called = world.merge()
    assert called.code == 0, called.err
    state, words = find_signoff(world)
    assert state == "success"
    assert f"Signed off by noor at {before[:12]}" in words
    assert "carried over" in words
    assert world.file() == BASE + OTHER + OWN

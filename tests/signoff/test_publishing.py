"""Publishing while GitHub fails or asks to wait."""

from __future__ import annotations

import json

import pytest

from infx.git import Git
from infx.hub import FOREVER, Fault, FaultKind
from tests.signoff.world import CHANGE, World, checklist, reuse

PASS = "## ✅✅✅"


def test_after_a_rate_limited_write_everything_is_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The sign-off is edited during the wait, and the published verdict is about its new text.
    reuse(world, world.sweep().id)
    signoff = world.sign()
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        world.hub.edit_comment(signoff.id, checklist().replace("[x]", "[ ]"))

    monkeypatch.setattr("infx.cli.github.wait", wait)
    world.hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, writes=True, seconds=30))
    called = world.verify("--pr", "77", "--publish")
    assert (called.code, waits) == (0, [30])
    assert [text.partition("\n")[0] for text in world.verdicts()] == ["## ❌❌❌ **REJECTED** ❌❌❌"]
    assert world.status() == ("failure", "Sign-off of noor rejected by check 5")
    assert called.err.count("codeowner-signoff-verify: ") == 1


def test_a_wait_beyond_the_budget_is_reported_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: pytest.fail("waited"))
    world.sign()
    world.hub.faults.add(Fault(kind=FaultKind.SECONDARY_LIMIT, writes=True, seconds=1000, times=FOREVER))
    called = world.try_to_verify("--pr", "77", "--publish")
    assert called.code == 3
    assert called.err.count("Waiting 1000 s is more than") == 1


def test_an_unreadable_pull_does_not_stop_the_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two pull requests have the same head, and the older one cannot be read.
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    git = Git(world.folder / "clone")
    git.run("push", "--quiet", "origin", "refs/remotes/origin/feat-x:refs/heads/feat-z")
    world.hub.sync()
    world.hub.open_pull("feat-z", title="The same", number=76)
    reuse(world, world.sweep().id)
    world.sign()
    world.hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/pulls/76$", times=FOREVER))
    payload = {
        "id": 1,
        "path": ".github/workflows/run-sweep.yml",
        "head_sha": world.head,
        "event": "pull_request",
    }
    called = world.try_to_verify("--publish", event=("workflow_run", {"workflow_run": payload}))
    assert called.code == 3
    assert "PR 76: GitHub failed with 502 at GET /repos/acme/bench/pulls/76" in called.err
    assert len(world.verdicts()) == 1
    assert world.verdicts()[0].startswith(PASS)
    assert world.status() == ("pending", "PR 76: Could not be read")


def test_an_unreadable_fork_approval_does_not_stop_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    run = world.hub.add_run(event="workflow_dispatch", branch="main", by="github-actions[bot]")
    heads = {}
    for number in (78, 79):
        branch = f"fork-{number}"
        world.hub.push(branch, CHANGE, branch, by="eve", repository="eve/bench")
        opened = world.hub.open_pull(branch, title="Fork", number=number, repository="eve/bench", by="eve")
        heads[number] = opened.head_sha
    url = f"https://github.com/acme/bench/actions/runs/{run.id}"
    world.hub.set_status(heads[79], "infx/approval", "success", target_url=url)
    world.hub.comment(79, checklist(), by="noor")
    world.hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path=f"{heads[78]}/statuses", times=FOREVER))
    payload = {"id": run.id, "path": ".github/workflows/run-sweep.yml", "head_sha": run.head_sha, "event": "workflow_dispatch"}  # fmt: skip
    called = world.verify(event=("workflow_run", {"workflow_run": payload}))
    assert "#79: codeowner-signoff-verify" in called.err
    assert json.loads(called.out)["pull"] == 79

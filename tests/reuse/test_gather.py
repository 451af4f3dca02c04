"""Callers that have read the pull request already get the same facts, for fewer requests and without a fetch."""

from __future__ import annotations

import pytest

from infx.gate.event import Event, EventName
from infx.gather.clone import GitClone
from infx.gather.reuse import ReuseGatherer
from infx.github.api import connect
from infx.reuse.decide import decide_reuse
from infx.reuse.decision import ReuseVerdict
from infx.reuse.facts import AskedPull, ReuseFacts
from tests.reuse.world import World


def test_what_a_caller_has_read_is_not_read_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.sweep()
    world.ask()
    token = world.hub.workflow_token(contents="read", actions="read", pull_requests="read", statuses="read")
    github = connect("acme/bench", environ=world.hub.environ(token))
    clone = GitClone(world.clone)
    gatherer = ReuseGatherer(
        github=github, policy=world.policy, clone=clone, policy_path="configs/policy.yaml"
    )
    event = Event(name=EventName.ASKED, pull=77)
    wanted = gatherer.gather(event)
    assert decide_reuse(wanted, world.policy).verdict is ReuseVerdict.REUSE

    overview, tip = github.overview(77), clone.fetch("main", [77])
    world.hub.clear_log()
    monkeypatch.setattr(GitClone, "fetch", None)
    asked = AskedPull(number=77, comments=overview.comments)
    facts = gatherer.complete(ReuseFacts(event=event, pulls=(asked,), pull=overview.pull), tip=tip)
    assert facts == wanted
    assert len(world.hub.log) == 7

"""Approving a fork's revision: reading the comment, deciding, and writing in the right order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from infx.apply.approval import publish_approval
from infx.errors import UnavailableError
from infx.gate.approval import (
    ApprovalAnswer,
    ApprovalDecision,
    ApprovalFacts,
    decide_approval,
    find_approved,
    find_request,
)
from infx.gate.event import Event, EventName
from infx.gate.facts import Changelog, GateFacts, MergeCheck
from infx.gather.approval import gather_approval
from infx.github.api import GitHub, connect
from infx.hub import Hub
from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.hub.seed import WORKFLOW_FILES
from infx.model import Comment, CommentKind, CommentReference, User
from infx.policy.load import default_policy
from tests.builders import APP, BASE, BOT, HEAD, NOW, OLD, comment, person
from tests.gate.facts import MERGE, PULL

POLICY = default_policy()
COMMAND = "/approve-sweep"


def asking(body: str = f"{COMMAND} {HEAD}", author: User | str = "mia") -> Comment:
    return comment(body, author)


@pytest.mark.parametrize(
    ("body", "asked"),
    [
        (f"{COMMAND} {HEAD}", HEAD),
        (f"{COMMAND}\t {HEAD}  \r\n", HEAD),
        (f"Looks fine.\n\n{COMMAND} {HEAD}\n\nThanks!", HEAD),
        (f"Looks fine.\n{COMMAND} {HEAD}", HEAD),
        (f"{COMMAND} {HEAD}\n{COMMAND} {HEAD}", HEAD),
        (f"{COMMAND} {HEAD}\n{COMMAND} {OLD}", ""),  # which?
        (COMMAND, ""),
        (f"{COMMAND} {HEAD} please", f"{HEAD} please"),
        (f"{COMMAND} abc", "abc"),
        (f"> {COMMAND} {HEAD}", None),
        (f"```\n{COMMAND} {HEAD}\n```", None),
        (f"    {COMMAND} {HEAD}", None),
        (f"<!--\n{COMMAND} {HEAD}\n-->", None),
        (f"- {COMMAND} {HEAD}", None),
        (f"`{COMMAND} {HEAD}`", None),
        (f"say {COMMAND} {HEAD}", None),
        (f"{COMMAND}s {HEAD}", None),
        (f"{COMMAND}{HEAD}", None),
        ("", None),
    ],
)
def test_a_comment_names_the_commit_to_approve(body: str, asked: str | None) -> None:
    assert find_request(body, COMMAND) == asked


LONG = f"{COMMAND} {HEAD}\n\n" + "[" * 65_000


def test_a_long_comment_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten such comments, which anyone can post, kept a reconciliation busy for seconds."""
    monkeypatch.setattr("markdown_it.MarkdownIt.parse", None)  # a call fails
    assert find_request(LONG, COMMAND) is None
    assert find_approved([asking(LONG)] * 10, COMMAND) is None


def test_a_long_approval_is_refused_and_a_stranger_gets_no_answer() -> None:
    refused = decide_approval(replace(FACTS, comment=asking(LONG)), POLICY)
    assert refused.answer is ApprovalAnswer.REFUSED
    assert "longer than 4,000 characters" in refused.words
    eve = replace(FACTS, comment=asking(LONG), actor=person("eve", "read"), gate=None)
    assert decide_approval(eve, POLICY).answer is ApprovalAnswer.NOTHING
    bot = asking(LONG, BOT)
    assert decide_approval(replace(FACTS, comment=bot), POLICY).answer is ApprovalAnswer.NOTHING


FORK = replace(PULL, head_repository="eve/bench")
FACTS = ApprovalFacts(
    comment=asking(),
    actor=person("mia"),
    gate=GateFacts(event=Event(name=EventName.ASKED, pull=77), pull=FORK, changelog=Changelog(touched=True)),
    merge=MergeCheck(sha=MERGE, parents=(BASE, HEAD), base_is_current=True, is_from_github=True),
)


def with_fork(**fields: object) -> ApprovalFacts:
    assert FACTS.gate is not None
    return replace(FACTS, gate=replace(FACTS.gate, pull=replace(FORK, **fields)))  # type: ignore[arg-type]  # any field of PullRequest


def test_an_approval_has_the_inputs_of_its_dispatch() -> None:
    decision = decide_approval(FACTS, POLICY)
    assert decision.answer is ApprovalAnswer.APPROVED
    assert decision.head_sha == HEAD
    assert decision.inputs is not None
    assert (decision.inputs.pull, decision.inputs.base_ref) == (77, BASE)
    assert (decision.inputs.head_ref, decision.inputs.merge_sha) == (HEAD, MERGE)


NO_ACCESS = (
    "mia does not have write access to the repository; approving requires it by permission and by role."
)


def test_a_sha_in_upper_case_is_the_same_commit() -> None:
    facts = replace(FACTS, comment=asking(f"{COMMAND} {HEAD.upper()}"))
    assert decide_approval(facts, POLICY).answer is ApprovalAnswer.APPROVED


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (replace(FACTS, comment=asking(f"{COMMAND} {HEAD[:39]}")), "40 digits"),
        (replace(FACTS, comment=asking(f"{COMMAND} {HEAD} now")), "40 digits"),
        (replace(FACTS, comment=asking(COMMAND)), "40 digits"),
        (replace(FACTS, comment=asking(f"{COMMAND} {OLD}")), f"the head is {HEAD[:12]}"),
        (replace(FACTS, comment=replace(asking(), updated_at=NOW + timedelta(minutes=1))), "was edited"),
        (replace(FACTS, actor=person("mia", "triage")), NO_ACCESS),
        (replace(FACTS, actor=person("mia", "read")), NO_ACCESS),
        (replace(FACTS, actor=replace(person("mia"), role="label-manager")), NO_ACCESS),
        (replace(FACTS, actor=replace(person("mia"), permission="read")), NO_ACCESS),
        (replace(FACTS, actor=None), NO_ACCESS),
        (with_fork(head_repository="acme/bench"), "a label starts its sweeps"),
        (with_fork(is_open=False), "closed"),
        (with_fork(labels=()), "no label that starts a sweep"),
        (with_fork(labels=("sweep-enabled", "full-sweep-enabled")), "both"),
        (with_fork(mergeable=False), "merge conflict"),
        (with_fork(mergeable=None), "does not know yet"),
        (replace(FACTS, merge=None), "not GitHub's test merge"),
        (
            replace(FACTS, merge=MergeCheck(sha=MERGE, parents=(BASE, OLD), base_is_current=True)),
            "not GitHub's test merge",
        ),
        (
            replace(FACTS, merge=MergeCheck(sha=MERGE, parents=(OLD, HEAD), base_is_current=False)),
            "not GitHub's test merge",
        ),
    ],
)
def test_an_approval_is_refused_with_its_reason(facts: ApprovalFacts, words: str) -> None:
    decision = decide_approval(facts, POLICY)
    assert decision.answer is ApprovalAnswer.REFUSED
    assert words in decision.words
    assert decision.inputs is None


@pytest.mark.parametrize(
    "author",
    [
        BOT,
        APP,
        User(login="ghost"),
    ],
)
def test_only_people_approve(author: User) -> None:
    facts = replace(FACTS, comment=asking(author=author))
    assert decide_approval(facts, POLICY).answer is ApprovalAnswer.NOTHING


# On the hub


@dataclass
class Scene:
    hub: Hub
    github: GitHub

    def answer(self, body: str, by: str = "mia") -> tuple[ApprovalFacts, ApprovalDecision]:
        made = self.hub.comment(80, body, by=by)
        reference = CommentReference(
            repository="acme/bench", pull_number=80, kind=CommentKind.ISSUE, id=made.id
        )
        facts = gather_approval(reference, POLICY, self.github)
        return facts, decide_approval(facts, POLICY)

    def publish(self, facts: ApprovalFacts, decision: ApprovalDecision) -> None:
        publish_approval(facts, decision, POLICY, self.github)

    @property
    def head(self) -> str:
        return self.hub.state.pulls[80].head_sha

    @property
    def thumbs(self) -> list[str]:
        comments = self.hub.state.comments.values()
        return [reaction.content for comment in comments for reaction in comment.reactions]

    @property
    def statuses(self) -> list[tuple[str, str | None, str | None]]:
        approvals = [status for status in self.hub.state.statuses if status.context == "infx/approval"]
        return [(status.state, status.description, status.target_url) for status in approvals]


@pytest.fixture
def scene() -> Iterator[Scene]:
    with Hub() as hub:
        for login, role in {"mia": "maintain", "eve": "read"}.items():
            hub.account(login, role=role)
        hub.push("main", {"perf-changelog.yaml": "one\n", **WORKFLOW_FILES})
        hub.push(
            "patch", {"perf-changelog.yaml": "one\nfork\n"}, by="eve", repository="eve/bench", start="main"
        )
        hub.open_pull("patch", by="eve", repository="eve/bench", number=80)
        hub.label(80, "full-sweep-enabled", by="mia")
        token = hub.workflow_token(pull_requests="write", statuses="write", actions="write", contents="read")
        yield Scene(hub, connect("acme/bench", environ=hub.environ(token), sleep=lambda _: None))


def test_status_then_dispatch_then_link(scene: Scene) -> None:
    facts, decision = scene.answer(f"{COMMAND} {scene.head}")
    assert decision.answer is ApprovalAnswer.APPROVED, decision.words
    scene.hub.clear_log()
    scene.publish(facts, decision)
    writes = [exchange.path for exchange in scene.hub.log if exchange.method == "POST"]
    assert [path.split("/")[4] for path in writes] == ["statuses", "actions", "statuses", "issues"]
    run = next(iter(scene.hub.state.runs.values()))
    assert (run.event, run.head_branch, run.workflow) == ("workflow_dispatch", "main", "run-sweep.yml")
    assert run.inputs["head-ref"] == scene.head
    assert run.inputs["pr"] == "80"
    who = f"Approved by mia (test merge {run.inputs['merge-sha']})"
    assert scene.statuses[0] == ("success", who, facts.comment.url)
    assert scene.statuses[1][:2] == ("success", f"{who}; the sweep is linked")
    assert str(run.id) in (scene.statuses[1][2] or "")
    assert scene.thumbs == ["+1"]


def test_a_refusal_writes_only_a_reaction(scene: Scene) -> None:
    facts, decision = scene.answer(f"{COMMAND} {'e' * 40}")
    scene.publish(facts, decision)
    assert decision.answer is ApprovalAnswer.REFUSED
    assert scene.statuses == []
    assert not scene.hub.state.runs
    assert scene.thumbs == ["-1"]


def test_an_outsider_costs_two_requests(scene: Scene) -> None:
    """Anyone can post comments, so a comment must cost few requests."""
    scene.hub.clear_log()
    _, decision = scene.answer(f"{COMMAND} {scene.head}", by="eve")
    assert decision.answer is ApprovalAnswer.REFUSED
    assert scene.hub.reads == 2
    scene.hub.clear_log()
    _, decision = scene.answer(f"{COMMAND} {scene.head}\n" + "[" * 65_000)
    assert decision.answer is ApprovalAnswer.REFUSED
    assert scene.hub.reads == 2
    scene.hub.clear_log()
    _, decision = scene.answer("Nice work!", by="eve")
    assert decision.answer is ApprovalAnswer.NOTHING
    assert scene.hub.reads == 1


def test_a_refused_dispatch_revokes_the_approval(scene: Scene) -> None:
    facts, decision = scene.answer(f"{COMMAND} {scene.head}")
    scene.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/dispatches", times=FOREVER))
    with pytest.raises(UnavailableError):
        scene.publish(facts, decision)
    assert [state for state, _, _ in scene.statuses] == ["success", "error"]


def test_a_dispatch_whose_reply_is_lost_is_not_made_twice(scene: Scene) -> None:
    facts, decision = scene.answer(f"{COMMAND} {scene.head}")
    scene.hub.faults.add(Fault(kind=FaultKind.DROP, path="/dispatches", applied=True))
    scene.publish(facts, decision)
    assert len(scene.hub.state.runs) == 1
    assert (scene.statuses[-1][1] or "").endswith("; the sweep is linked")


def test_nothing_is_dispatched_without_the_approval_status(scene: Scene) -> None:
    facts, decision = scene.answer(f"{COMMAND} {scene.head}")
    scene.hub.faults.add(Fault(kind=FaultKind.FORBIDDEN, path="/statuses/", writes=True, times=FOREVER))
    with pytest.raises(UnavailableError):
        scene.publish(facts, decision)
    assert not scene.hub.state.runs


def test_the_head_moved_while_the_comment_was_written(scene: Scene) -> None:
    old = scene.head
    scene.hub.push("patch", {"perf-changelog.yaml": "one\nevil\n"}, by="eve", repository="eve/bench")
    _, decision = scene.answer(f"{COMMAND} {old}")
    assert decision.answer is ApprovalAnswer.REFUSED
    assert scene.head[:12] in decision.words

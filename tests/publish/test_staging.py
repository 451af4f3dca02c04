"""`/stage-results` on the hub: who may, which run, and one event for one comment."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from infx.hub import FOREVER, Fault, FaultKind
from infx.hub.service import Snapshot
from infx.hub.state import Comment, Run
from infx.publish.staging import StageCommand, parse_command
from tests.calling import Called
from tests.publish.world import TARGET, Publishing, prepare
from tests.reuse.world import CHANGE, POLICY

FULL, TRIMMED = "full-sweep-fail-fast", "sweep-enabled"


@dataclass
class Staging:
    """A pull request with a full-sweep label and a finished sweep that began while the label was on."""

    publishing: Publishing
    start: Snapshot

    @property
    def hub(self) -> Any:
        return self.publishing.world.hub

    def sweep(self, conclusion: str = "success", **more: Any) -> Run:
        return self.publishing.world.sweep(
            conclusion, rows=(), artifacts=("sweep-plan", "results_bmk"), **more
        )

    def say(self, body: str = "/stage-results", by: str = "noor") -> Comment:
        comment: Comment = self.hub.comment(77, body, by=by)
        return comment

    def run(self, comment: Comment, *arguments: str, token: str | None = None) -> Called:
        path = self.publishing.world.folder / "stage.yaml"
        path.write_text(f"{POLICY}publish: {{stage: {{target: {TARGET}}}}}\n")
        event = self.publishing.world.folder / "comment.json"
        event.write_text(
            json.dumps({"action": "created", "issue": {"number": 77}, "comment": {"id": comment.id}})
        )
        words = [
            "stage",
            "--policy",
            str(path),
            "--event",
            str(event),
            "--event-name",
            "issue_comment",
            *arguments,
        ]
        token = token or self.hub.workflow_token(contents="read", pull_requests="write", actions="read")
        secret = self.publishing.target_token if self.publishing.has_token else ""
        return self.publishing.world.call_plain(
            words, {**self.hub.environ(token), "INFX_TARGET_TOKEN": secret}
        )

    @property
    def sent(self) -> list[tuple[str, dict[str, Any], str]]:
        return self.publishing.sent

    @property
    def answers(self) -> list[str]:
        return [one.body for one in self.hub.comments_of(77) if one.body.startswith("<!-- infx-staged ")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Staging]:
    with prepare(tmp_path_factory.mktemp("staging")) as publishing:
        hub = publishing.world.hub
        hub.label(77, FULL, by="mia")
        staging = Staging(publishing, hub.snapshot())
        staging.sweep()
        staging.start = hub.snapshot()
        yield staging


@pytest.fixture
def staging(prepared: Staging) -> Staging:
    prepared.hub.restore(prepared.start)
    prepared.hub.faults.clear()
    prepared.hub.clear_log()
    prepared.publishing.has_token = True
    return prepared


@pytest.mark.parametrize(
    ("body", "command"),
    [
        ("/stage-results", StageCommand()),
        ("\u3000/stage-results \n", StageCommand()),
        ("/stage-results 42", StageCommand(run_id=42)),
        ("/stage-results\u00a0", StageCommand()),
        ("/stage-results now", StageCommand(is_valid=False)),
        ("/stage-results 42 43", StageCommand(is_valid=False)),
        ("/stage-results\n42", StageCommand(is_valid=False)),
        ("/stage-resultsx", StageCommand(is_valid=False)),
        ("/stage-results \u0664\u0662", StageCommand(is_valid=False)),
        ("please /stage-results", None),
        ("> /stage-results", None),
        ("", None),
    ],
)
def test_the_whole_comment_is_the_command(body: str, command: StageCommand | None) -> None:
    assert parse_command(body, "/stage-results") == command


def test_a_finished_sweep_is_shown_once(staging: Staging) -> None:
    comment = staging.say()
    called = staging.run(comment)
    assert called.code == 0, called.err
    ((name, payload, login),) = staging.sent
    key = payload.pop("key")
    run = max(staging.hub.state.runs)
    assert (name, login) == ("stage-results", "publisher[bot]")
    assert payload == {
        "source-repository": "acme/bench",
        "pr-number": "77",
        "run-id": str(run),
        "run-attempt": "1",
        "run-date": "2026-11-30",
        "requested-by": "noor",
        "comment-id": str(comment.id),
    }
    (answer,) = staging.answers
    assert answer.startswith(f"<!-- infx-staged {comment.id} -->\n<!-- sent {key} -->\n@noor ")
    assert staging.run(comment).code == 0
    assert len(staging.sent) == 1
    staging.run(staging.say())
    assert len(staging.sent) == 2, "another comment shows it again"
    assert staging.sent[1][1]["key"] != key


@pytest.mark.parametrize(("by", "role"), [("eve", "read"), ("noor", "triage"), ("cody", "custom")])
def test_others_show_nothing(staging: Staging, by: str, role: str) -> None:
    if role == "custom":
        staging.hub.account(by, role="reviewer", custom_base="write")
    else:
        staging.hub.account(by, role=role)
    called = staging.run(staging.say(by=by))
    assert called.code == 1
    assert f"{by} may not write to this repository." in called.err
    assert staging.sent == []


def test_a_bot_gives_no_command(staging: Staging) -> None:
    called = staging.run(staging.say(by="github-actions[bot]"))
    assert (called.code, staging.sent, staging.answers) == (0, [], [])


def test_another_text_is_answered_with_the_usage(staging: Staging) -> None:
    called = staging.run(staging.say("/stage-results please"))
    assert called.code == 1
    assert "The whole comment must be" in called.err
    assert "<!-- not-sent - -->" in staging.answers[0]
    assert staging.sent == []


def test_the_pull_request_needs_a_full_sweep_label_now(staging: Staging) -> None:
    staging.hub.unlabel(77, FULL)
    staging.hub.label(77, TRIMMED)
    called = staging.run(staging.say())
    assert called.code == 1
    assert "needs a label that starts a full sweep" in called.err


def test_a_run_that_began_without_the_label_is_not_shown(staging: Staging) -> None:
    staging.hub.unlabel(77, FULL)
    late = staging.sweep()
    staging.hub.label(77, FULL)
    assert staging.run(staging.say(f"/stage-results {late.id}")).code == 1
    assert staging.run(staging.say()).code == 0
    assert staging.sent[0][1]["run-id"] == str(late.id - 1), "the older run began while the label was on"


@pytest.mark.parametrize("conclusion", ["failure", "cancelled"])
def test_a_red_run_is_shown_too(staging: Staging, conclusion: str) -> None:
    """Staging proves nothing: people look at partial results there."""
    run = staging.sweep(conclusion)
    assert staging.run(staging.say()).code == 0
    assert staging.sent[0][1]["run-id"] == str(run.id)


@pytest.mark.parametrize("name", ["sweep-plan", "results_bmk"])
def test_a_run_whose_artifacts_have_expired_is_not_shown(staging: Staging, name: str) -> None:
    for artifact in staging.hub.state.artifacts.values():
        artifact.expired = artifact.name == name
    assert staging.run(staging.say()).code == 1
    assert staging.sent == []


def test_a_run_of_another_pull_request_is_not_shown(staging: Staging) -> None:
    staging.hub.push("feat-y", CHANGE, "other")
    staging.hub.open_pull("feat-y", number=78)
    run = staging.hub.add_run(pull=78)
    for name in ("sweep-plan", "results_bmk"):
        staging.hub.add_artifact(run.id, name, {"x.json": "[]"})
    staging.hub.finish_run(run.id, "success")
    called = staging.run(staging.say(f"/stage-results {run.id}"))
    assert called.code == 1
    assert "is not in the pull request" in called.err


def test_without_a_site_or_a_token_nothing_is_shown(staging: Staging) -> None:
    staging.publishing.has_token = False
    comment = staging.say()
    called = staging.run(comment)
    assert called.code == 1
    assert "There is no token for acme/app" in called.err
    staging.publishing.has_token = True
    assert staging.run(comment).code == 0
    assert len(staging.sent) == 1


def test_a_foreign_answer_neither_stops_nor_hides_anything(staging: Staging) -> None:
    comment = staging.say()
    staging.hub.comment(77, f"<!-- infx-staged {comment.id} -->\n<!-- sent {'a' * 16} -->\n", by="eve")
    assert staging.run(comment).code == 0
    assert len(staging.sent) == 1


def test_an_event_of_unknown_fate_waits_for_a_person(staging: Staging) -> None:
    comment = staging.say()
    staging.hub.faults.add(Fault(kind=FaultKind.DROP, path="/dispatches", applied=True))
    assert staging.run(comment).code == 3
    called = staging.run(comment)
    assert called.code == 1
    assert "Delivery unknown" in called.err
    assert len(staging.sent) == 1
    assert staging.run(comment, "--recover").code == 0
    assert staging.sent[0] == staging.sent[1]


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": FaultKind.DROP, "times": FOREVER, "applied": True},
        pytest.param({"kind": FaultKind.FORBIDDEN}, marks=pytest.mark.nightly),
        pytest.param({"kind": FaultKind.DROP, "times": FOREVER}, marks=pytest.mark.nightly),
        pytest.param({"kind": FaultKind.BAD_GATEWAY, "applied": True}, marks=pytest.mark.nightly),
        pytest.param({"kind": FaultKind.NOT_FOUND}, marks=pytest.mark.nightly),
    ],
    ids=str,
)
def test_a_fault_at_each_request_sends_at_most_one_event(staging: Staging, fault: dict[str, Any]) -> None:
    staging.run(staging.say())
    total = len(staging.hub.log)
    assert total == 12
    for nth in range(1, total + 1):
        staging.hub.restore(staging.start)
        comment = staging.say()
        struck = staging.hub.faults.add(Fault(**fault, nth=nth))
        staging.run(comment)
        assert struck.hits, nth
        staging.hub.faults.clear()
        called = staging.run(comment)
        assert len(staging.sent) <= 1, nth
        if called.code:
            assert "Delivery unknown" in called.err, (nth, called.err)
            assert staging.run(comment, "--recover").code == 0
        assert 1 <= len(staging.sent) <= 2, nth
        assert len({payload["key"] for _, payload, _ in staging.sent}) == 1
        assert len(staging.answers) == 1, nth

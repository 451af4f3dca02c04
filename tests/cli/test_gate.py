"""infx gate, explain and approve as workflows and people call them: exit codes, outputs, words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt

from infx.escape import prose
from infx.gate.facts import Changelog, GateFacts
from infx.hub import Hub
from infx.hub.faults import FOREVER, Fault, FaultKind
from infx.hub.seed import WORKFLOW_FILES
from infx.saved import dump_json, parse_json
from tests.builders import HEAD
from tests.calling import Called, call
from tests.gate.facts import READY, with_event, with_pull

OUTPUTS = {
    "verdict", "reason", "refused", "group", "pull", "head-sha", "merge-sha", "base-sha", "stage", "canary", "fail-fast",
    "complete",
    "reuse-enabled", "reuse-source-run-id", "reuse-source-run-attempt", "reuse-source-run-url", "reuse-source-pr-number",
    "reuse-source-head-sha", "reuse-incomplete", "reuse-reason",
}  # fmt: skip

# Hostile text for every field that people can fill.
HOSTILE = (
    'a"; touch pwned; echo "',
    "x$(touch${IFS}pwned)",
    '"`touch pwned`"',
    "no\nreuse-enabled=true\nreuse-source-run-id=1",
    "x\n::set-output name=verdict::run\n::error::gotcha",
    "x\r\n##[error]gotcha",
    "line\nEOF\nverdict=run",
    "ghadelimiter_1\n",
    "@acme/core <img src=x onerror=y> [click](https://evil.test) | cell | `code`",
    "{head_sha} {0} %s {fork.__class__}",
    "\x1b[31mred\x00\u202ereversed",
    "长" * 5000,
)


@dataclass
class Machine:
    """A folder in which commands run, and the last call."""

    folder: Path
    last: Called = field(init=False)

    def call(self, *arguments: str) -> int:
        self.last = call(*arguments)
        return self.last.code

    @property
    def out(self) -> str:
        return self.last.out

    @property
    def err(self) -> str:
        return self.last.err

    @property
    def json(self) -> Any:
        return self.last.json

    @property
    def summary(self) -> str:
        return self.last.summary

    @property
    def outputs(self) -> dict[str, str]:
        return self.last.outputs


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    (tmp_path / "policy.yaml").write_text("repository: acme/bench\n")
    environ = {
        "GITHUB_ACTIONS": "true",
        "INFX_POLICY": str(tmp_path / "policy.yaml"),
    }
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    return Machine(tmp_path)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    with Hub() as hub:
        hub.account("cody", role="write")
        hub.push("main", {"perf-changelog.yaml": "one\n"})
        hub.push("feat-x", {"perf-changelog.yaml": "one\ntwo\n"}, "Faster", start="main")
        hub.open_pull("feat-x", number=77)
        token = hub.workflow_token(pull_requests="read", contents="read", actions="read", statuses="read")
        for name, value in hub.environ(token).items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("time.sleep", lambda _: None)
        yield hub


def save(machine: Machine, facts: GateFacts) -> str:
    path = machine.folder / "facts.json"
    path.write_text(dump_json(facts))
    return str(path)


def give_event(machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the hub's newest event the event of the run."""
    event = hub.state.events[-1]
    path = machine.folder / "event.json"
    path.write_text(json.dumps(event.payload))
    monkeypatch.setenv("GITHUB_EVENT_PATH", str(path))
    monkeypatch.setenv("GITHUB_EVENT_NAME", event.name)
    monkeypatch.setenv("GITHUB_RUN_ID", "501")
    monkeypatch.setenv("GITHUB_RUN_ATTEMPT", "1")


def test_a_labeled_pull_request(machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.label(77, "full-sweep-fail-fast")
    give_event(machine, hub, monkeypatch)
    assert machine.call("gate") == 0
    assert machine.outputs == {
        "verdict": "run",
        "reason": "ready",
        "refused": "false",
        "group": "sweep-pr-77",
        "pull": "77",
        "head-sha": hub.state.pulls[77].head_sha,
        "merge-sha": "",
        "base-sha": "",
        "stage": "pr",
        "canary": "true",
        "fail-fast": "true",
        "complete": "",
        "reuse-enabled": "false",
        "reuse-source-run-id": "",
        "reuse-source-run-attempt": "",
        "reuse-source-run-url": "",
        "reuse-source-pr-number": "",
        "reuse-source-head-sha": "",
        "reuse-incomplete": "false",
        "reuse-reason": "",
    }
    assert machine.json["sentence"].startswith("Sweep: full, first a canary")
    assert machine.summary.startswith("### A sweep starts\n")


def test_a_re_run_notes_that_labels_changed_since_the_event(
    machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The gate uses the current labels, but readers of the event or of the first attempt expect the earlier ones."""
    hub.label(77, "sweep-enabled")
    give_event(machine, hub, monkeypatch)
    hub.label(77, "documentation")  # a label that the policy does not know
    monkeypatch.setenv("GITHUB_RUN_ATTEMPT", "2")
    monkeypatch.setenv("GITHUB_TRIGGERING_ACTOR", "cody")
    assert machine.call("gate") == 0
    assert (machine.json["scope"], machine.json["notes"]) == ("trimmed", [])
    hub.unlabel(77, "sweep-enabled")
    hub.label(77, "full-sweep-enabled", "all-evals")
    changed = "Labels have changed since the event, and the current ones count: then sweep-enabled; now full-sweep-enabled and all-evals."
    assert machine.call("gate") == 0
    assert machine.json["notes"] == [changed]
    assert changed in machine.err.splitlines()
    assert prose(changed) in machine.summary
    assert "| labels at the event | `sweep-enabled` |" in machine.summary
    hub.unlabel(77, "full-sweep-enabled")
    assert machine.call("gate") == 0
    assert machine.json["verdict"] == "ignore"
    assert "then sweep-enabled; now all-evals." in machine.err


def test_a_decision_against_a_sweep_is_exit_0(
    machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.label(77, "documentation")
    give_event(machine, hub, monkeypatch)
    assert machine.call("gate") == 0
    assert machine.outputs["verdict"] == "ignore"
    assert machine.outputs["group"] == "ignored-run-501"


@pytest.mark.parametrize("path", ["/files", "/permission", "/pulls/77$"])
def test_no_answer_from_github_is_exit_3_without_outputs(
    machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    hub.label(77, "full-sweep-fail-fast")
    give_event(machine, hub, monkeypatch)
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path=path, times=FOREVER))
    assert machine.call("gate") == 3
    assert machine.outputs == {}
    assert machine.out == "" or not machine.out.startswith("{")


@pytest.mark.parametrize("command", ["gate", "explain"])
def test_a_push_without_a_known_base_is_exit_3_without_outputs(
    machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Otherwise the plan would compare the base branch with itself and find nothing to run."""
    (machine.folder / "policy.yaml").write_text("on-merge: reuse-or-sweep\n")
    head = hub.git.resolve("refs/heads/main")
    payload = {"ref": "refs/heads/main", "before": "0" * 40, "after": head, "commits": [{"id": head}]}
    path = machine.folder / "event.json"
    path.write_text(json.dumps({**payload, "sender": {"login": "cody"}}))
    assert machine.call(command, "--event", str(path)) == (3 if command == "gate" else 0)
    assert machine.outputs == {}
    assert "the base revision is unavailable" in machine.err + machine.out
    feat = hub.state.pulls[77].head_sha
    path.write_text(json.dumps({**payload, "after": feat, "commits": [{"id": feat}]}))
    assert machine.call("gate", "--event", str(path)) == 0
    assert (machine.outputs["base-sha"], machine.outputs["head-sha"]) == (head, feat)


def test_unknown_mergeability_is_exit_3_for_gate_and_text_for_explain(
    machine: Machine,
) -> None:
    facts = save(machine, with_pull(mergeable=None))
    assert machine.call("gate", "--facts", facts) == 3
    assert machine.outputs == {}
    assert machine.call("explain", "--facts", facts) == 0
    assert machine.json["reason"] == "mergeable-unknown"


def test_a_refusal_is_an_annotation(machine: Machine) -> None:
    facts = with_pull(labels=("full-sweep-enabled", "full-sweep-fail-fast"))
    assert machine.call("gate", "--facts", save(machine, facts)) == 0
    assert machine.outputs["refused"] == "true"
    assert (
        "::error title=gate-conflicting-labels::No sweep: the PR has both full-sweep-enabled and "
        "full-sweep-fail-fast. Remove one." in machine.err
    )


def test_explain_prints_a_sentence_and_the_facts(machine: Machine, hub: Hub) -> None:
    hub.label(77, "full-sweep-fail-fast", "full-sweep-enabled")
    assert machine.call("explain", "--pr", "77", "--format", "table") == 0
    first, *rest = machine.out.splitlines()
    assert first == "No sweep: the PR has both full-sweep-enabled and full-sweep-fail-fast. Remove one."
    looked = {line.split("  ")[1]: line.rsplit("  ", 1)[1] for line in rest if line.startswith("  ")}
    assert looked["labels"] == "full-sweep-fail-fast and full-sweep-enabled"
    assert looked["head"] == hub.state.pulls[77].head_sha
    assert looked["from a fork"] == "no"


def test_explain_of_an_event_file(machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.label(77, "documentation")
    give_event(machine, hub, monkeypatch)
    assert machine.call("explain", "--event", "event.json") == 0
    assert machine.json["reason"] == "unrelated-label"
    assert machine.json["looked-at"]["event"].startswith("pull_request labeled, label documentation")


def test_saved_facts_give_the_same_decision(machine: Machine, hub: Hub) -> None:
    hub.label(77, "full-sweep-enabled")
    assert machine.call("explain", "--pr", "77", "--save-facts", "facts.json") == 0
    first = machine.json
    hub.stop()
    assert machine.call("explain", "--facts", "facts.json") == 0
    assert machine.json == first


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gate"], "No event is given."),
        (["gate", "--pr", "77", "--facts", "x"], "exclude each other"),
        (["gate", "--facts", "missing.json"], "cannot be read"),
        (["gate", "--pr", "0"], "not in the range"),
    ],
)
def test_wrong_options_are_a_usage_error(machine: Machine, arguments: list[str], words: str) -> None:
    assert machine.call(*arguments) == 2
    assert words in machine.err


@pytest.mark.parametrize("payload", ["{}", '{"action": "labeled", "number": 0, "pull_request": {}}'])
def test_an_event_without_its_pull_request_is_a_usage_error(machine: Machine, payload: str) -> None:
    (machine.folder / "e.json").write_text(payload)
    assert machine.call("explain", "--event", "e.json", "--event-name", "pull_request") == 2
    assert "The event names no pull request. Give --pr." in machine.err
    (machine.folder / "facts.json").write_text('{"event": {"name": "asked"}}')
    assert machine.call("explain", "--facts", "facts.json") == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"event": {"name": "push", "color": 1}}',
        '{"event": {"name": "pull"}}',
        '{"event": {"name": "push"}, "runs": {}}',
        '{"event": {"name": "push", "attempt": "1"}}',
        '{"event": {"name": "push"}, "pull": {"number": 7}}',
    ],
)
def test_invalid_facts_are_refused_with_their_place(machine: Machine, text: str) -> None:
    (machine.folder / "facts.json").write_text(text)
    assert machine.call("explain", "--facts", "facts.json") == 2
    assert "facts.json: " in machine.err


def test_on_actions_the_policy_must_be_named(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("INFX_POLICY")
    assert machine.call("gate", "--facts", save(machine, READY)) == 2
    assert "policy must be named" in machine.err


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(machine: Machine, text: str) -> None:
    """Hostile text may be in every field that a pull request, its author or another user can fill."""
    pull = {
        "title": text,
        "body": text,
        "head_ref": text,
        "head_repository": f"eve/{text}",
        "labels": (text, "sweep-enabled"),
    }
    facts = with_pull(with_event(label=text, actor=text), **pull)
    facts = replace(
        facts,
        head_message=text,
        label_actor=text,
        conflicts=(text, text),
        changelog=Changelog(touched=True, problems=(text,)),
    )
    variants = [
        facts,
        with_event(facts, label="sweep-enabled"),
        with_pull(with_event(facts, label="sweep-enabled"), mergeable=False),
        with_pull(with_event(facts, label="sweep-enabled"), head_repository="acme/bench"),
        replace(
            with_pull(READY, labels=(text, "sweep-enabled")),
            event=replace(READY.event, actor=text),
            actor=None,
        ),
    ]
    for variant in variants:
        for command in ("gate", "explain"):
            assert machine.call(command, "--facts", save(machine, variant)) == 0
            check_harmless(machine, command)


def check_harmless(machine: Machine, command: str) -> None:
    assert not (machine.folder / "pwned").exists()
    assert set(machine.outputs) == (OUTPUTS if command == "gate" else set())
    for value in machine.outputs.values():
        assert re.fullmatch(r"[a-z0-9-]*", value)
    lines = (machine.out + "\n" + machine.err).splitlines()
    commands = [line for line in lines if line.lstrip().startswith("::")]
    assert all(re.match(r"::error title=gate-[a-z-]+::No sweep: ", line) for line in commands), commands
    assert not any("##[" in line for line in lines if line not in commands)
    html = MarkdownIt("commonmark").enable("table").render(machine.summary)
    outside = re.sub(r"<code>.*?</code>", "", html)
    assert set(re.findall(r"<(\w+)", outside)) <= {
        "h3",
        "p",
        "ul",
        "li",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    }
    assert not re.search(r"@\w", outside)
    assert "\x1b" not in machine.out + machine.err
    assert HEAD in machine.outputs.get("head-sha", HEAD)


def test_facts_of_any_text_survive_the_file() -> None:
    for text in HOSTILE:
        facts = replace(READY, head_message=text, conflicts=(text,))
        assert parse_json(GateFacts, dump_json(facts).encode(), "f") == facts


def test_approve_answers_the_comment_of_the_run(
    machine: Machine, hub: Hub, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.account("mia", role="maintain")
    hub.push("patch", {"perf-changelog.yaml": "one\nfork\n"}, by="eve", repository="eve/bench", start="main")
    pull = hub.open_pull("patch", by="eve", repository="eve/bench")
    hub.label(pull.number, "full-sweep-enabled", by="mia")
    hub.push("main", WORKFLOW_FILES)
    monkeypatch.setenv(
        "GH_TOKEN",
        hub.workflow_token(pull_requests="write", statuses="write", actions="write", contents="read"),
    )
    hub.comment(pull.number, f"/approve-sweep {pull.head_sha}", by="mia")
    give_event(machine, hub, monkeypatch)
    assert machine.call("approve", "--dry-run") == 0
    assert machine.json["answer"] == "approved"
    assert not hub.state.statuses
    assert machine.call("approve") == 0
    assert "/actions/runs/" in machine.json["run"]
    hub.comment(pull.number, f"/approve-sweep {HEAD}", by="mia")
    give_event(machine, hub, monkeypatch)
    assert machine.call("approve") == 1
    assert "the head is" in machine.err
    url = f"https://github.com/acme/bench/pull/77#issuecomment-{hub.comment(pull.number, 'x').id}"
    assert machine.call("approve", "--comment-url", url) == 1
    assert f"belongs to pull request {pull.number}, not to 77" in machine.err
    hub.comment(pull.number, "thanks", by="mia")
    give_event(machine, hub, monkeypatch)
    assert machine.call("approve") == 0
    assert machine.json["answer"] == "nothing"

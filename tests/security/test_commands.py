"""Run every command of the workflows on hostile pull requests: nothing is executed and no person is notified."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.hub import Hub
from tests.security.hostile import (
    CommandOutput,
    check_lines,
    check_markdown,
    check_outputs,
    make_single_lines,
    make_texts,
)
from tests.security.world import World

GATE_OUTPUTS = {
    "verdict", "reason", "refused", "group", "pull", "head-sha", "merge-sha", "base-sha", "stage", "canary", "fail-fast",
    "reuse-enabled", "reuse-source-run-id", "reuse-source-run-attempt", "reuse-source-run-url", "reuse-source-pr-number",
    "reuse-source-head-sha", "reuse-incomplete", "reuse-reason", "complete",
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("security")
    with Hub(folder / "hub") as hub:
        world = World(hub=hub, folder=folder, canary=folder / "canary")
        yield world
        assert hub.errors == []


@pytest.fixture(autouse=True)
def _harmless(world: World) -> Iterator[None]:
    """Check after every test that no text was executed, and that no output contains commands."""
    count = len(world.command_outputs)
    yield
    for output in world.command_outputs[count:]:
        check_command_output(output)
    assert not world.canary.exists()


def check_command_output(output: CommandOutput) -> None:
    assert output.code != 4, output.err  # 4: a bug in infx
    out = output.out
    if output.name == "row run":  # its first line turns commands off
        first, _, out = out.partition("\n")
        assert re.fullmatch(r"::stop-commands::[0-9a-f]{32}", first)
    check_lines(out, annotations=False)
    check_lines(output.err)
    check_markdown(output.summary)


@pytest.fixture(scope="module")
def decision(world: World) -> Path:
    """Return the file with the gate's decision on the good pull request."""
    environ = world.event(
        "pull_request", world.good, action="labeled", label={"name": "full-sweep-fail-fast"}
    )
    output = world.call("gate", environ=environ)
    path = world.folder / "decision.json"
    path.write_text(output.out)
    return path


@pytest.fixture(scope="module")
def plan(world: World, decision: Path) -> Path:
    """Return the folder with the good pull request's plan, split into shards."""
    revisions = ("--base-ref", "origin/main", "--head-ref", world.good.head_sha)
    output = world.call("plan", "--strict", *revisions, "--decision", str(decision), at=check_out_good(world))
    (world.folder / "plan.json").write_text(output.out)
    out = world.folder / "sweep-plan"
    options = ("--plan", str(world.folder / "plan.json"), "--decision", str(decision), "--out", str(out))
    output = world.call("shards", *options, at=check_out_good(world))
    outputs = check_outputs(output.outputs, {"shards", "shard-count", "row-count", "canary-id", "sums"})
    assert (outputs["shards"], outputs["shard-count"]) == ("[0]", "1")
    assert int(outputs["row-count"]) >= 2 * len(make_single_lines(world.canary))
    return out


def check_out_good(world: World) -> Path:
    """Return a checkout of the good pull request's head."""
    path = world.folder / "measured"
    if not path.exists():
        world.shell(
            f"git clone --quiet '{world.hub.git.path}' measured && git -C measured checkout --quiet {world.good.head_sha}"
        )
    return path


@pytest.mark.parametrize("which", ["good", "bad", "fork", "clash"])
@pytest.mark.parametrize("action", ["labeled", "synchronize", "opened"])
def test_gate_and_explain_do_not_execute_texts(world: World, which: str, action: str) -> None:
    pull = getattr(world, which)
    for label in ("full-sweep-fail-fast", *make_texts(world.canary)):
        environ = world.event("pull_request", pull, action=action, label={"name": label})
        output = world.call("gate", environ=environ)
        outputs = check_outputs(output.outputs, GATE_OUTPUTS)
        assert all(re.fullmatch(r"[a-z0-9-]*", value) for value in outputs.values()), outputs
        if action != "labeled":
            break
    world.call("explain", "--pr", str(pull.number), "--format", "table", environ=environ)
    assert world.call("explain", "--pr", str(pull.number), environ=environ).out.startswith("{")


def test_inputs_of_a_dispatch_are_data(world: World) -> None:
    """A person who dispatches has write access, but may paste hostile texts."""
    for text in make_texts(world.canary):
        for inputs in (
            {"command": f"full-sweep {text}", "head-ref": "main"},
            {"base-ref": "main", "head-ref": text},
            {"base-ref": text, "head-ref": "main", "modifiers": text},
        ):
            output = world.call(
                "gate", code=None, environ=world.event("workflow_dispatch", world.good, inputs=inputs)
            )
            if output.code == 0:
                check_outputs(output.outputs, GATE_OUTPUTS)


@pytest.mark.parametrize(("which", "code"), [("good", 0), ("bad", 1), ("fork", 0)])
def test_a_hostile_changelog_is_validated(world: World, which: str, code: int) -> None:
    pull = getattr(world, which)
    options = ("--base-ref", "origin/main", "--head-ref", pull.head_sha, "--pr", str(pull.number))
    for form in ("json", "table"):
        world.call("changelog", "validate", *options, "--format", form, code=code)
    world.call("changelog", "validate", *options, "--stage", "main", code=1)


def test_a_bad_pull_request_is_not_planned(world: World) -> None:
    revisions = ("--base-ref", "origin/main", "--head-ref", world.bad.head_sha)
    output = world.call("plan", "--strict", *revisions, code=1)
    assert output.out == ""
    world.shell(
        f"rm -rf bad && git clone --quiet '{world.hub.git.path}' bad && git -C bad checkout --quiet {world.bad.head_sha}"
    )
    world.call("config", "check", code=1, at=world.folder / "bad")


def test_the_matrix_of_a_shard_has_no_hostile_text(world: World, plan: Path) -> None:
    for which in (("--canary",), ("--shard", "0")):
        output = world.call("rows", "--plan", str(plan), *which)
        matrix = json.loads(check_outputs(output.outputs, {"matrix", "count"})["matrix"])
        assert all(set(row) == {"id", "runs-on", "name"} for row in matrix)
        assert all(re.match(r"[0-9a-f]{12} · (single-node|canary|eval)", row["name"]) for row in matrix)


RUN_ROWS = 4  # each row costs a second; all have hostile texts


def test_rows_pass_texts_on_unchanged(world: World, plan: Path) -> None:
    """In a shell, a row's variables have the values of the configuration."""
    matrix = json.loads(world.call("rows", "--plan", str(plan), "--shard", "0").out)
    seen = set()
    for index, row in enumerate(matrix):
        options = ("--plan", str(plan), "--id", row["id"])
        world.call("row", "show", *options)
        script = world.call("row", "env", *options).out
        values = json.loads(world.call("row", "env", *options, "--format", "json").out)
        (world.folder / "env.sh").write_text(script)
        assert world.shell('. ./env.sh; printf %s "$MODEL"') == values["MODEL"]
        seen.add(values["MODEL"])
        if index >= RUN_ROWS:
            continue
        output = world.run_row(plan, row["id"], check_out_good(world), world.folder / f"artifacts/{index}")
        name = check_outputs(output.outputs, {"artifact-name"})["artifact-name"]
        assert re.fullmatch(r"(bmk|eval)_[A-Za-z0-9._-]+", name)
        (world.folder / f"artifacts/{index}").rename(world.folder / f"artifacts/{name}")
    assert seen == set(make_single_lines(world.canary))


def test_results_with_hostile_texts_are_collected(world: World, plan: Path) -> None:
    """Artifacts come from the pull request's code, so every field may be hostile."""
    folder = world.folder / "hostile-artifacts"
    jobs = [json.loads(line) for line in (plan / "jobs.jsonl").read_text().splitlines()]
    for index, text in enumerate(make_texts(world.canary)):
        (unplanned := folder / f"x{index}{text.replace('/', '_').replace(chr(0), '')[:100]}").mkdir(
            parents=True
        )
        (unplanned / "agg_x.json").write_text("{}")
        job = jobs[index % len(jobs)]
        kind = "eval_" if job["row"].get("eval-only") else "bmk_"
        own = folder / f"{kind}{job['result-name']}"
        own.mkdir(exist_ok=True)
        row = {
            text: text,
            "hw": text,
            "conc": text,
            "model": text,
            "image": text,
            "benchmark_outcome": {"status": text},
        }
        (own / f"agg_{index}.json").write_text(json.dumps(row))
        named = dict.fromkeys(["hw", "infmax_model_prefix", "framework", "precision"], text[:200] or "x")
        long = dict.fromkeys(["image", "model"], text[:1000] or "x")
        sizes = {"conc": 16, "isl": 1, "osl": 1, "disagg": False, "tput_per_gpu": 1}
        whole = {**named, **long, **sizes, "spec_decoding": "none", "router": {"name": text[:200] or "x"}}
        (own / f"agg_whole_{index}.json").write_text(json.dumps(whole))
        (own / "meta_env.json").write_text(json.dumps({text: text, "conc": 16}))
        (other := own / f"set{index}").mkdir()
        (other / "meta_env.json").write_text(json.dumps({**whole, "router": [text], "tp": {text: text}}))
        result = {
            "results": {text: {text: text, "exact_match,strict-match": text}},
            "n-samples": {text: text},
        }
        (own / f"results_{index}.json").write_text(json.dumps(result))
        (own / f"results_{index}_x{text.replace('/', '_').replace(chr(0), '')[:80]}.json").write_text(text)
    options = ("--plan", str(plan), "--artifacts", str(folder))
    assert world.call("results", "report", *options).out
    output = world.call("results", "collect", *options, "--out", str(world.folder / "results"), code=1)
    assert "the plan says" in output.summary
    outputs = check_outputs(output.outputs, {"present", "missing", "failed", "results", "evals"})
    assert all(value.isdigit() for value in outputs.values())


@pytest.mark.parametrize("which", ["good", "bad", "fork", "clash"])
def test_comments_and_statuses_contain_no_hostile_text(world: World, which: str) -> None:
    """The greeting, the notices and the statuses mention no one and show no untrusted element."""
    pull = getattr(world, which)
    output = world.call("reconcile", "--pr", str(pull.number), "--format", "table", code=None)
    assert output.code in {0, 1}, output.err
    world.call("reconcile", "--pr", str(pull.number), "--dry-run", code=None)
    bot_comments = [
        comment for comment in world.hub.comments_of(pull.number) if comment.author == "github-actions[bot]"
    ]
    assert bot_comments
    for comment in bot_comments:
        check_markdown(comment.body or "")
    for status in world.hub.state.statuses:
        assert not re.search(r"[\r\n\x00-\x1f]", status.description or "")


def test_hostile_approvals_start_no_run(world: World) -> None:
    """Only the line with the command is used, and it needs the full SHA of the head."""
    pull = world.fork
    world.hub.compute_merge(pull)
    run_count = len(world.hub.state.runs)
    hostile_texts = make_texts(world.canary)
    bodies = [f"/approve-sweep {text}" for text in hostile_texts]
    bodies.append("\n".join(hostile_texts))
    bodies.append(f"{hostile_texts[-1]}\n/approve-sweep {world.good.head_sha}\n{hostile_texts[0]}")
    for body in bodies:
        comment = world.hub.comment(pull.number, body, by="mia")
        issue = {"number": pull.number, "title": body, "pull_request": {}}
        environ = world.event(
            "issue_comment", pull, action="created", issue=issue, comment={"id": comment.id, "body": body}
        )
        output = world.call("approve", code=None, environ=environ)
        assert output.code in {0, 1}
        check_outputs(output.outputs, set())
    assert len(world.hub.state.runs) == run_count


def test_a_hostile_sign_off_gets_a_harmless_answer(world: World) -> None:
    phrase = "As a PR reviewer and CODEOWNER, I have reviewed this and have:"
    details = "\n\n".join(make_texts(world.canary))
    boxes = "\n".join(f"- [x] {text}" for text in make_single_lines(world.canary))
    world.hub.comment(
        world.good.number,
        f"{phrase}\n\n{boxes}\n\n## Additional detail\n\n{details}\n\nSigned: mia",
        by="mia",
    )
    world.call(
        "signoff", "verify", "--pr", str(world.good.number), "--publish", "--format", "table", code=None
    )
    bot_comments = [
        comment
        for comment in world.hub.comments_of(world.good.number)
        if comment.author == "github-actions[bot]"
    ]
    for comment in bot_comments:
        check_markdown(
            (comment.body or "").replace("@mia, ", "")
        )  # the answer mentions the person who signed

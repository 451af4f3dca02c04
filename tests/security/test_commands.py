"""A hostile pull request through every command that the workflows run: nothing is executed, nobody is notified."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.hub import Hub
from tests.security.hostile import Said, check_lines, check_markdown, check_outputs, lines_of_text, texts
from tests.security.world import World

GATE_OUTPUTS = {
    "verdict", "reason", "refused", "group", "pull", "head-sha", "merge-sha", "base-sha", "stage", "canary", "fail-fast",
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
    """After every test: nothing was executed, and nothing that was said gives orders."""
    first = len(world.said)
    yield
    for said in world.said[first:]:
        check_said(said)
    assert not world.canary.exists()


def check_said(said: Said) -> None:
    assert said.code != 4, said.err  # a bug in infx
    out = said.out
    if said.name == "row run":  # before anything else it turns commands off
        first, _, out = out.partition("\n")
        assert re.fullmatch(r"::stop-commands::[0-9a-f]{32}", first)
    check_lines(out, annotations=False)
    check_lines(said.err)
    check_markdown(said.summary)


@pytest.fixture(scope="module")
def decision(world: World) -> Path:
    """What the gate says of the good pull request, as a file."""
    environ = world.event(
        "pull_request", world.good, action="labeled", label={"name": "full-sweep-fail-fast"}
    )
    said = world.call("gate", environ=environ)
    path = world.folder / "decision.json"
    path.write_text(said.out)
    return path


@pytest.fixture(scope="module")
def plan(world: World, decision: Path) -> Path:
    """The folder of the good pull request's cut plan."""
    revisions = ("--base-ref", "origin/main", "--head-ref", world.good.head_sha)
    said = world.call("plan", "--strict", *revisions, "--decision", str(decision), at=measured(world))
    (world.folder / "plan.json").write_text(said.out)
    out = world.folder / "sweep-plan"
    options = ("--plan", str(world.folder / "plan.json"), "--decision", str(decision), "--out", str(out))
    said = world.call("shards", *options, at=measured(world))
    outputs = check_outputs(said.outputs, {"shards", "shard-count", "row-count", "canary-id", "sums"})
    assert (outputs["shards"], outputs["shard-count"]) == ("[0]", "1")
    assert int(outputs["row-count"]) >= 2 * len(lines_of_text(world.canary))
    return out


def measured(world: World) -> Path:
    """The head of the good pull request, laid out with all of its files."""
    path = world.folder / "measured"
    if not path.exists():
        world.shell(
            f"git clone --quiet '{world.hub.git.path}' measured && git -C measured checkout --quiet {world.good.head_sha}"
        )
    return path


@pytest.mark.parametrize("which", ["good", "bad", "fork", "clash"])
@pytest.mark.parametrize("action", ["labeled", "synchronize", "opened"])
def test_gate_and_explain(world: World, which: str, action: str) -> None:
    pull = getattr(world, which)
    for label in ("full-sweep-fail-fast", *texts(world.canary)):
        environ = world.event("pull_request", pull, action=action, label={"name": label})
        said = world.call("gate", environ=environ)
        outputs = check_outputs(said.outputs, GATE_OUTPUTS)
        assert all(re.fullmatch(r"[a-z0-9-]*", value) for value in outputs.values()), outputs
        if action != "labeled":
            break
    world.call("explain", "--pr", str(pull.number), "--format", "table", environ=environ)
    assert world.call("explain", "--pr", str(pull.number), environ=environ).out.startswith("{")


def test_a_hostile_dispatch(world: World) -> None:
    """Whoever dispatches may write; what they paste is still data."""
    for text in texts(world.canary):
        for inputs in (
            {"command": f"full-sweep {text}", "head-ref": "main"},
            {"base-ref": "main", "head-ref": text},
            {"base-ref": text, "head-ref": "main", "modifiers": text},
        ):
            said = world.call(
                "gate", code=None, environ=world.event("workflow_dispatch", world.good, inputs=inputs)
            )
            if said.code == 0:
                check_outputs(said.outputs, GATE_OUTPUTS)


@pytest.mark.parametrize(("which", "code"), [("good", 0), ("bad", 1), ("fork", 0)])
def test_validation_of_the_changelog(world: World, which: str, code: int) -> None:
    pull = getattr(world, which)
    options = ("--base-ref", "origin/main", "--head-ref", pull.head_sha, "--pr", str(pull.number))
    for form in ("json", "table"):
        world.call("changelog", "validate", *options, "--format", form, code=code)
    world.call("changelog", "validate", *options, "--stage", "main", code=1)


def test_planning_a_bad_one(world: World) -> None:
    revisions = ("--base-ref", "origin/main", "--head-ref", world.bad.head_sha)
    said = world.call("plan", "--strict", *revisions, code=1)
    assert said.out == ""
    world.shell(
        f"rm -rf bad && git clone --quiet '{world.hub.git.path}' bad && git -C bad checkout --quiet {world.bad.head_sha}"
    )
    world.call("config", "check", code=1, at=world.folder / "bad")


def test_the_matrix_of_a_shard(world: World, plan: Path) -> None:
    for which in (("--canary",), ("--shard", "0")):
        said = world.call("rows", "--plan", str(plan), *which)
        matrix = json.loads(check_outputs(said.outputs, {"matrix", "count"})["matrix"])
        assert all(set(row) == {"id", "runs-on", "name"} for row in matrix)
        assert all(re.match(r"[0-9a-f]{12} · (single-node|canary|eval)", row["name"]) for row in matrix)


def test_rows(world: World, plan: Path) -> None:
    """Their variables mean in a shell what they mean in the configuration, and their commands are data's readers."""
    matrix = json.loads(world.call("rows", "--plan", str(plan), "--shard", "0").out)
    seen = set()
    for index, row in enumerate(matrix):
        given = ("--plan", str(plan), "--id", row["id"])
        world.call("row", "show", *given)
        script = world.call("row", "env", *given).out
        values = json.loads(world.call("row", "env", *given, "--format", "json").out)
        (world.folder / "env.sh").write_text(script)
        assert world.shell('. ./env.sh; printf %s "$MODEL"') == values["MODEL"]
        seen.add(values["MODEL"])
        said = world.run_row(plan, row["id"], measured(world), world.folder / f"artifacts/{index}")
        name = check_outputs(said.outputs, {"artifact-name"})["artifact-name"]
        assert re.fullmatch(r"(bmk|eval)_[A-Za-z0-9._-]+", name)
        (world.folder / f"artifacts/{index}").rename(world.folder / f"artifacts/{name}")
    assert seen == set(lines_of_text(world.canary))


def test_results(world: World, plan: Path) -> None:
    """What a row's own command left behind, and artifacts that say whatever they please."""
    folder = world.folder / "hostile-artifacts"
    jobs = [json.loads(line) for line in (plan / "jobs.jsonl").read_text().splitlines()]
    for index, text in enumerate(texts(world.canary)):
        (stranger := folder / f"x{index}{text.replace('/', '_').replace(chr(0), '')[:100]}").mkdir(
            parents=True
        )
        (stranger / "agg_x.json").write_text("{}")
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
    said = world.call("results", "collect", *options, "--out", str(world.folder / "results"), code=1)
    assert "the plan says" in said.summary
    outputs = check_outputs(said.outputs, {"present", "missing", "failed", "results", "evals"})
    assert all(value.isdigit() for value in outputs.values())


@pytest.mark.parametrize("which", ["good", "bad", "fork", "clash"])
def test_reconcile(world: World, which: str) -> None:
    """Greeting, notices (of the conflict too) and statuses: nothing in them speaks to anybody or shows anything foreign."""
    pull = getattr(world, which)
    said = world.call("reconcile", "--pr", str(pull.number), "--format", "table", code=None)
    assert said.code in {0, 1}, said.err
    world.call("reconcile", "--pr", str(pull.number), "--dry-run", code=None)
    ours = [
        comment for comment in world.hub.comments_of(pull.number) if comment.author == "github-actions[bot]"
    ]
    assert ours
    for comment in ours:
        check_markdown(comment.body or "")
    for status in world.hub.state.statuses:
        assert not re.search(r"[\r\n\x00-\x1f]", status.description or "")


def test_approval(world: World) -> None:
    """The command counts on a line of its own, whatever stands around it, and nothing else of the comment does."""
    pull = world.fork
    world.hub.compute_merge(pull)
    before = len(world.hub.state.runs)
    every = texts(world.canary)
    bodies = [f"/approve-sweep {text}" for text in every]
    bodies += ["\n".join(every), f"{every[-1]}\n/approve-sweep {world.good.head_sha}\n{every[0]}"]
    for body in bodies:
        comment = world.hub.comment(pull.number, body, by="mia")
        issue = {"number": pull.number, "title": body, "pull_request": {}}
        environ = world.event(
            "issue_comment", pull, action="created", issue=issue, comment={"id": comment.id, "body": body}
        )
        said = world.call("approve", code=None, environ=environ)
        assert said.code in {0, 1}
        check_outputs(said.outputs, set())
    assert len(world.hub.state.runs) == before


def test_signing_off(world: World) -> None:
    phrase = "As a PR reviewer and CODEOWNER, I have reviewed this and have:"
    every = "\n\n".join(texts(world.canary))
    boxes = "\n".join(f"- [x] {text}" for text in lines_of_text(world.canary))
    world.hub.comment(
        world.good.number, f"{phrase}\n\n{boxes}\n\n## Additional detail\n\n{every}\n\nSigned: mia", by="mia"
    )
    world.call(
        "signoff", "verify", "--pr", str(world.good.number), "--publish", "--format", "table", code=None
    )
    ours = [
        comment
        for comment in world.hub.comments_of(world.good.number)
        if comment.author == "github-actions[bot]"
    ]
    for comment in ours:
        check_markdown((comment.body or "").replace("@mia, ", ""))  # whoever signed is told

"""Check which runs and which earlier sign-offs count for a head, end to end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import infx.gather.signoff_links
from infx.signoff.facts import LinkState
from tests.signoff.world import BASE, ENTRY, MASTER, OLD, World, open_world, signed_off


def verify_sweep(world: World) -> tuple[str, str]:
    """Return status and reason of check 1."""
    called = world.verify("--pr", "77", "--format", "json")
    check = json.loads(called.out)["checks"][1]
    return check["status"], check["reason"]


@pytest.mark.parametrize("branch", ["main", "feat-x"])
@pytest.mark.parametrize(
    "title",
    ["PR 77 at {other}", "PR 78 at {head}", "PR 77 at its head", "full-sweep --model-prefix m1", "run-sweep"],
)
def test_a_dispatch_for_another_commit_or_selection_is_not_evidence(
    world: World, branch: str, title: str
) -> None:
    # The workflow is unmodified and all rows succeeded, but for another commit, pull request or selection.
    named = title.format(head=world.head, other=world.hub.git.resolve("main"))
    world.sweep(event="workflow_dispatch", branch=branch, title=named)
    world.sign()
    status, reason = verify_sweep(world)
    assert status == "FAIL"
    assert "There is no run of" in reason


def test_a_dispatch_for_this_head_on_the_base_branch_is_evidence(world: World) -> None:
    base = world.hub.git.resolve("main")
    world.sweep(event="workflow_dispatch", branch="main", head_sha=base, title=f"PR 77 at {world.head}")
    world.sign()
    assert verify_sweep(world)[0] == "PASS"


def test_a_dispatch_of_the_branch_s_own_workflow_warns(world: World) -> None:
    workflow = ".github/workflows/run-sweep.yml"
    world.hub.push("feat-x", {workflow: "jobs: {}\n"}, "mine")
    world.sweep(event="workflow_dispatch", branch="feat-x", title=f"PR 77 at {world.head}")
    world.sign()
    status, reason = verify_sweep(world)
    assert (status, workflow in reason) == ("WARN", True)


def test_a_run_of_another_repository_is_not_evidence(world: World) -> None:
    run = world.sweep()
    world.hub.state.runs[run.id].head_repository = "eve/bench"
    world.sign()
    assert verify_sweep(world)[0] == "FAIL"


def test_unplanned_rows_warn(world: World) -> None:
    run = world.sweep()
    world.hub.add_job(run.id, f"sweep / rows / {'0' * 12} · single-node 8k1k · h200 · m1")
    world.sign()
    status, reason = verify_sweep(world)
    assert status == "WARN"
    assert "The run also has 1 unplanned row: `000000000000`." in reason


# A sign-off that carries over

SCENARIO = "      - isl: {isl}\n        osl: 1024\n        search-space:\n"
POINTS = "".join(
    f"          - {{tp: 8, ep: {ep}, conc-list: [{conc}]}}\n"
    for ep in (1, 2, 4, 8)
    for conc in (4, 8, 16, 32, 64, 128, 256)
)


def scenarios(first: str, second: str) -> str:
    """Return one configuration with two scenarios, whose 28 lines each may be identical."""
    head = MASTER.partition("      - isl")[0]
    return head + SCENARIO.format(isl=1024) + first + SCENARIO.format(isl=8192) + second


EDITED = POINTS.replace("{tp: 8, ep: 4, conc-list: [32]}", "{tp: 8, ep: 4, conc-list: [48]}")
TWICE = ("serve --port 8000\nwait\n" + "sleep 1\n" * 24) * 2
SCRIPT = "benchmarks/single_node/m1_fp8_h200_vllm.sh"


@pytest.fixture
def twins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Open a world whose configuration and script repeat their lines; the first copy of a line is edited."""
    monkeypatch.setattr(infx.gather.signoff_links, "fetch_page", lambda url: LinkState.PUBLISHED)
    base = {**BASE, "configs/nvidia.yaml": scenarios(POINTS, POINTS), SCRIPT: TWICE}
    change = {"configs/nvidia.yaml": scenarios(EDITED, POINTS), "perf-changelog.yaml": OLD + "\n" + ENTRY}
    with open_world(tmp_path, base, change) as world:
        yield world


def verify_standing(world: World) -> str:
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    if verdict.startswith("### Sign-off out of date"):
        return "stale"
    return "carried" if "It covers" in verdict else "current"


def test_an_edit_moved_to_another_scenario_is_a_different_diff(twins: World) -> None:
    signed_off(twins)
    twins.hub.push("feat-x", {"configs/nvidia.yaml": scenarios(POINTS, EDITED)}, "move it")
    assert verify_standing(twins) == "stale"
    assert (twins.status() or ("",))[0] == "pending"


def test_an_edit_moved_within_a_script_is_a_different_diff(twins: World) -> None:
    first = TWICE.replace("port 8000", "port 9000", 1)
    second = "port 9000".join(TWICE.rsplit("port 8000", 1))
    twins.hub.push("feat-x", {SCRIPT: first}, "first")
    signed_off(twins)
    twins.hub.push("feat-x", {SCRIPT: second}, "second")
    assert verify_standing(twins) == "stale"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("tp: 8, ep: 4, conc-list: [48]", "tp: 8, ep: 4, conc-list: [64]"),  # a value
        (
            "          - {tp: 8, ep: 8, conc-list: [4]}\n",
            "          # was slow\n          - {tp: 8, ep: 8, conc-list: [4]}\n",
        ),
        ("multinode: false", "multinode: false  # one node"),
    ],
    ids=["value", "comment", "remark"],
)
def test_any_changed_line_is_a_different_diff(twins: World, before: str, after: str) -> None:
    signed_off(twins)
    text = scenarios(EDITED, POINTS)
    twins.hub.push("feat-x", {"configs/nvidia.yaml": text.replace(before, after, 1)}, "more")
    assert verify_standing(twins) == "stale"


def merge_main(world: World, files: dict[str, str]) -> None:
    world.hub.push("main", files, "news", by="mia")
    world.hub.merge_base_branch(77)


FAR = "\nm9-fp8-h200-vllm:\n" + MASTER.partition("\n")[2].replace("CONC", "[4]").replace("m1", "m9")


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"README.md": "news\n"}, "carried"),
        ({"configs/nvidia.yaml": FAR + scenarios(POINTS, POINTS)}, "carried"),  # another entry, above
        ({"benchmarks/other.sh": "x\n"}, "carried"),  # not what was signed
        ({"configs/nvidia.yaml": scenarios(POINTS, POINTS).replace("org/M1", "org/M1-b")}, "stale"),
    ],
    ids=["prose", "another entry", "another file", "the same entry"],
)
def test_a_signoff_carries_over_merges_of_the_base_branch(
    twins: World, files: dict[str, str], expected: str
) -> None:
    signed_off(twins)
    merge_main(twins, files)
    assert verify_standing(twins) == expected


def test_reverting_a_change_of_the_base_branch_is_a_different_diff(twins: World) -> None:
    # The file is the same as when it was signed, but it now reverts a line of the base branch.
    own = TWICE + "echo own\n"
    twins.hub.push("feat-x", {SCRIPT: own}, "own")
    signed_off(twins)
    merge_main(twins, {SCRIPT: "echo first\n" + TWICE})
    twins.hub.push("feat-x", {SCRIPT: own}, "take it back")
    assert verify_standing(twins) == "stale"


def test_a_changed_mode_is_a_different_diff(world: World) -> None:
    # A script that becomes executable keeps its content.
    from infx.git import Git

    signed_off(world)
    git = Git(world.folder / "clone")
    git.run("fetch", "--quiet", "origin", "feat-x")
    git.run("checkout", "--quiet", "--detach", "FETCH_HEAD")
    git.run("update-index", "--chmod=+x", SCRIPT)
    git.run("commit", "--quiet", "--message", "run it")
    git.run("push", "--quiet", "origin", "HEAD:feat-x")
    world.hub.sync()
    git.run("checkout", "--quiet", "--force", "main")
    assert verify_standing(world) == "stale"

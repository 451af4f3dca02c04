"""Sign-offs end to end: the command that the workflow runs, against the hub and a real clone."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest

from infx.git import Git
from infx.github.api import GitHub
from infx.github.errors import IncompleteListError
from infx.hub import FOREVER, Fault, FaultKind
from infx.model import PullRequest
from tests.signoff.world import (
    BASE,
    CHANGE,
    ENTRY,
    MASTER,
    OLD,
    World,
    checklist,
    open_world,
    reuse,
    signed_off,
)

PASS, WARN, REJECTED = "## ✅✅✅", "## ⚠️", "## ❌❌❌"


def test_good_signoff_passes(world: World) -> None:
    signed_off(world)
    (verdict,) = world.verdicts()
    assert verdict.startswith(PASS)
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


def test_a_second_verification_writes_nothing(world: World) -> None:
    signed_off(world)
    world.hub.clear_log()
    world.verify("--pr", "77", "--publish")
    assert world.hub.writes == 0


def test_other_owner_is_rejected(world: World) -> None:
    reuse(world, world.sweep().id)
    world.sign(by="amy")
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    assert verdict.startswith(f"{REJECTED} **REJECTED** ❌❌❌\n@amy, ")
    assert "`amy` does not own `configs/nvidia.yaml` (owners: `@noor`, `@acme/core`)" in verdict
    assert world.status() == ("failure", "Sign-off of amy rejected by check 0")


def test_a_waiting_owner_outweighs_a_rejected_signer(world: World) -> None:
    world.sweep()
    world.sign()
    world.sign(by="amy")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("pending", "Sign-off of noor: check 4 must be settled")


def test_signoff_waits_for_its_sweep(world: World) -> None:
    # The event of the finished run starts another verification, which edits the comment.
    world.sign()
    world.verify("--pr", "77", "--publish")
    assert world.status() == (
        "pending",
        "Sign-off of noor: checks 1, 2 wait for a sweep; checks 4, 14 must be settled",
    )
    run = world.sweep()
    reuse(world, run.id)
    event = {"workflow_run": {"id": run.id, "path": ".github/workflows/run-sweep.yml", "head_sha": world.head, "event": "pull_request"}}  # fmt: skip
    world.verify("--publish", event=("workflow_run", event))
    assert [text.split(" **")[0] for text in world.verdicts()] == [PASS]
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


def test_a_failed_sweep_is_not_waited_for(world: World) -> None:
    reuse(world, world.sweep(failing=[2]).id)
    world.sign()
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("failure", "Sign-off of noor rejected by check 1")


def test_low_score_fails(world: World) -> None:
    reuse(world, world.sweep(score=0.5).id)
    world.sign()
    world.verify("--pr", "77", "--publish")
    assert "reached 0.5, below 0.9" in world.verdicts()[0]


def test_a_settled_warning_stays_a_warning(world: World) -> None:
    # A command counts only after the verdict, from a person with the role who is not the author.
    world.sweep()
    world.sign()
    early = world.hub.comment(77, "/settle 4 merged by hand this time", by="mia")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("pending", "Sign-off of noor: check 4 must be settled")
    world.hub.comment(77, "/settle 4 I wrote this, trust me", by="cody")
    world.hub.comment(77, "/settle 4 I only read here", by="eve")
    called = world.verify("--pr", "77", "--publish", "--format", "json")
    refused = {
        entry["comment"].rpartition("-")[2]: entry["why"] for entry in json.loads(called.out)["refused"]
    }
    assert refused[str(early.id)] == "It was written before the verdict on this commit."
    assert sorted(refused.values())[1:] == [
        "It was written before the verdict on this commit.",
        "The author of the pull request cannot settle its checks.",
    ]
    assert world.status() == ("pending", "Sign-off of noor: check 4 must be settled")
    world.hub.comment(77, "/settle 4 merged by hand this time", by="amy")
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    assert verdict.startswith(WARN)
    assert re.search(
        r"⚠️ Check 4 .*: WARN — .* Settled by `amy` \(\[comment\]\(.*\)\): `merged by hand this time`\.",
        verdict,
    )
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}, 1 warning settled")


def test_push_makes_a_signoff_stale(world: World) -> None:
    signed_off(world)
    first = world.head
    world.hub.push(
        "feat-x", {**CHANGE, "benchmarks/single_node/m1_fp8_h200_vllm.sh": "vllm serve --x\n"}, "more"
    )
    world.verify("--pr", "77", "--publish")
    (text,) = world.verdicts()
    assert text.startswith(
        f"### Sign-off out of date\n\n`noor` signed off at `{first}`. The head is now `{world.head}`"
    )
    assert world.status() == (
        "pending",
        f"noor signed off at {first[:12]}; the diff has changed since",
    )


def test_an_edited_signoff_is_a_new_signoff(world: World) -> None:
    signed_off(world)
    world.hub.push("feat-x", {**CHANGE, "README.md": "more\n"}, "more")
    comment = world.hub.comments_of(77)[1]
    world.hub.edit_comment(comment.id, (comment.body or "") + "\nLooked at the new commit.\n")
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")
    assert world.verdicts()[0].startswith(PASS)


def test_merge_of_main_with_the_same_diff_carries_over(world: World) -> None:
    # The merge also brings another entry before the own one, and the link becomes canonical.
    signed_off(world)
    first = world.head
    other = OLD.replace("old one", "another").replace("pull/10", "pull/11")
    world.hub.push(
        "main", {**BASE, "README.md": "news\n", "perf-changelog.yaml": f"{OLD}\n{other}"}, "news", by="mia"
    )
    git = Git(world.folder / "clone")
    git.run("fetch", "--quiet", "origin", "main", "feat-x")
    git.run("checkout", "--quiet", "origin/feat-x")
    git.call("merge", "--quiet", "--no-edit", "origin/main")
    mine = ENTRY.replace("pull/XXX", "pull/77")
    (world.folder / "clone/perf-changelog.yaml").write_text(f"{OLD}\n{other}\n{mine}", encoding="utf-8")
    git.run("add", "--all")
    git.run("commit", "--quiet", "--no-edit")
    git.run("push", "--quiet", "origin", "HEAD:feat-x")
    world.hub.sync()
    git.run("checkout", "--quiet", "main")
    assert world.head != first
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    footer = f"Assessed commit: `{first}`. It covers `{world.head}`, whose diff against the base branch is identical."
    assert verdict.rstrip().endswith(footer)
    assert world.status() == ("success", f"Signed off by noor at {first[:12]}, carried over to the same diff")


def test_the_same_lines_elsewhere_are_a_different_diff(world: World) -> None:
    twice = MASTER + MASTER.replace("m1-fp8-h200-vllm", "m1-fp8-h200-vllm-2")
    world.hub.push("main", {**BASE, "configs/nvidia.yaml": twice.replace("CONC", "[4, 8]")}, "two", by="mia")
    bodies = [
        twice.replace("CONC", "[4, 8, 16]", 1).replace("CONC", "[4, 8]"),
        twice.replace("CONC", "[4, 8]", 1).replace("CONC", "[4, 8, 16]"),
    ]
    seen = set()
    for body in bodies:
        world.hub.push("feat-x", {**BASE, **CHANGE, "configs/nvidia.yaml": body}, "move", by="cody")
        called = world.verify("--pr", "77")
        world.sign()
        world.verify("--pr", "77", "--save-facts", str(world.folder / "f.json"))
        seen.add(json.loads((world.folder / "f.json").read_text())["diff"])
        world.hub.delete_comment(world.hub.comments_of(77)[-1].id)
        assert json.loads(called.out) == []
    assert len(seen) == 2


@pytest.mark.parametrize("how", ["deleted", "edited away"])
def test_a_deleted_or_emptied_signoff_is_withdrawn(world: World, how: str) -> None:
    signed_off(world)
    comment = next(c for c in world.hub.comments_of(77) if c.author == "noor")
    if how == "deleted":
        world.hub.delete_comment(comment.id)
    else:
        world.hub.edit_comment(comment.id, "Never mind.")
    world.verify("--pr", "77", "--publish")
    (text,) = world.verdicts()
    assert text.startswith("### Sign-off withdrawn")
    assert world.status() == ("pending", "Waiting for the sign-off of one owner: @noor")


def test_emphasis_in_the_phrase_is_ignored(world: World) -> None:
    reuse(world, world.sweep().id)
    world.sign(checklist().replace("CODEOWNER", "**CODEOWNER**", 1))
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


@pytest.mark.parametrize(
    ("body", "login"),
    [
        (checklist("bench-bot"), "bench-bot[bot]"),
        (checklist("eve"), "eve"),
        ("> " + checklist().replace("\n", "\n> ") + "\n\nthanks!", "noor"),
        (f"```\n{checklist()}\n```", "noor"),
        (f"<!--\n{checklist()}\n-->", "noor"),
        ("We need As a PR reviewer and CODEOWNER, I have reviewed this and have, somewhere", "noor"),
    ],
)
def test_other_comments_are_not_verified(world: World, body: str, login: str) -> None:
    world.sign(body, by=login)
    world.verify("--pr", "77", "--publish")
    assert world.verdicts() == []
    assert world.status() == ("pending", "Waiting for the sign-off of one owner: @noor")


def test_no_signoff_is_required_for_exempt_owners(world: World) -> None:
    world.hub.push("docs", {"README.md": "hello\n"}, "docs")
    world.hub.open_pull("docs", title="Docs", number=78)
    world.verify("--pr", "78", "--publish")
    (status,) = [s for s in world.hub.state.statuses if s.context == "codeowner-signoff-verify"]
    assert (status.sha, status.state) == (world.hub.state.pulls[78].head_sha, "success")


def test_the_status_names_the_reason_for_unknown_owners(tmp_path: Path) -> None:
    with open_world(
        tmp_path, {path: text for path, text in BASE.items() if "CODEOWNERS" not in path}
    ) as world:
        world.verify("--pr", "77", "--publish")
        words = "Waiting for a sign-off. Owners cannot be read: The base branch has no CODEOWNERS file."
        assert world.status() == ("pending", words)


def test_a_review_and_a_line_comment_are_signoffs(world: World) -> None:
    reuse(world, world.sweep().id)
    world.hub.review(77, checklist(), by="noor")
    world.hub.review_comment(77, checklist("amy"), path="configs/nvidia.yaml", by="amy")
    world.verify("--pr", "77", "--publish")
    assert [text.split(" **")[0] for text in world.verdicts()] == [PASS, REJECTED]
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


def test_dismissed_review_is_withdrawn(world: World) -> None:
    reuse(world, world.sweep().id)
    review = world.hub.review(77, checklist(), by="noor")
    world.verify("--pr", "77", "--publish")
    world.hub.dismiss_review(review.id)
    event = {"workflow_run": {"id": 1, "path": ".github/workflows/signoff-relay.yml", "head_sha": world.head, "event": "pull_request_review"}}  # fmt: skip
    world.verify("--publish", event=("workflow_run", event))
    assert world.verdicts()[0].startswith("### Sign-off withdrawn")


def test_review_of_an_older_head_is_stale(world: World) -> None:
    old = world.head
    world.hub.push("feat-x", {**CHANGE, "README.md": "more\n"}, "more")
    world.hub.review(77, checklist(), by="noor", sha=old)
    world.verify("--pr", "77", "--publish")
    assert world.verdicts()[0].startswith("### Sign-off out of date")


def test_json_is_one_document(world: World) -> None:
    assert json.loads(world.verify("--pr", "77", "--format", "json").out) == []
    world.sign()
    signoff = json.loads(world.verify("--pr", "77", "--format", "json").out)
    assert (signoff["pull"], signoff["checks"][0]["evidence"][1]) == (
        77,
        "perf-changelog.yaml: line 1 * @acme/core: yes",
    )
    world.sign(by="amy")
    signoffs = json.loads(world.verify("--pr", "77", "--format", "json").out)
    assert [signoff["checks"][0]["status"] for signoff in signoffs] == ["PASS", "FAIL"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("eval_results_all", b"not a zip", "not a readable zip"),
        ("eval_results_all", {"agg_eval_all.json": "[{"}, "is not JSON"),
        ("eval_results_all", {"agg_eval_all.json": '{"a": 1}'}, "not a list"),
        ("eval_results_all", {"agg_eval_all.json": '[{"task": 1}]'}, "task is int"),
        ("eval_results_all", {"agg_eval_all.json": '[{"task": "gsm8k", "score": NaN}]'}, "NaN"),
        (
            "eval_results_all",
            {"agg_eval_all.json": f'[{{"task": "gsm8k", "score": 1{"0" * 400}}}]'},
            "not a finite number",
        ),
        ("eval_results_all", {"agg_eval_all.json": "[]", "../../evil.json": "[]"}, "2 JSON files"),
        (
            "eval_results_all",
            {"agg_eval_all.json": " " * 6_000_000 + "[]"},
            "more than the limit of 5,000,000",
        ),
        ("eval_results_all", {"agg_eval_all.json": "[" * 100_000}, "nested too deeply"),
        ("results_bmk", {"agg_bmk.json": '[{"hw": "h200"}]'}, "row 0"),
    ],
    ids=[
        "no zip",
        "no JSON",
        "no list",
        "wrong type",
        "NaN",
        "huge",
        "second file",
        "bomb",
        "nested",
        "no row",
    ],
)
def test_bad_artifacts_turn_nothing_green(world: World, name: str, content: Any, words: str) -> None:
    run = world.sweep()
    reuse(world, run.id)
    world.hub.add_artifact(run.id, name, content)
    world.sign()
    world.verify("--pr", "77", "--publish")
    (verdict,) = world.verdicts()
    assert words in verdict
    assert world.status() is not None
    assert world.status() != ("success", f"Signed off by noor at {world.head[:12]}")


def test_unlisted_files_turn_nothing_green(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(_: GitHub, pull: PullRequest) -> list[object]:
        raise IncompleteListError(f"Pull request {pull.number} has 3,200 files; GitHub lists only 3,000.")

    reuse(world, world.sweep().id)
    world.sign()
    monkeypatch.setattr(GitHub, "files", short)
    world.verify("--pr", "77", "--publish")
    assert "GitHub lists only 3,000" in world.verdicts()[0]
    assert world.status() == (
        "failure",
        f"Sign-off of noor rejected by checks {', '.join(map(str, range(16)))}",
    )


@pytest.mark.parametrize("labels", [4, 8])
def test_idle_runs_do_not_hide_a_sweep(world: World, labels: int) -> None:
    # Every label starts a run whose gate decides against a sweep.
    run = world.sweep()
    world.hub.add_artifact(run.id, "sweep-plan", {"plan.json": "{}"})
    for _ in range(labels):
        idle = world.hub.add_run(pull=77)
        world.hub.add_job(idle.id, "gate", conclusion="success")
        world.hub.add_job(idle.id, "sweep", conclusion="skipped")
        world.hub.finish_run(idle.id)
    reuse(world, run.id)
    world.sign()
    world.verify("--pr", "77", "--publish")
    assert world.status() == ("success", f"Signed off by noor at {world.head[:12]}")


def test_a_failed_sweep_is_shown_despite_a_later_label(world: World) -> None:
    run = world.sweep(failing=[2])
    world.hub.finish_run(world.hub.add_run(pull=77).id)
    reuse(world, run.id)
    world.sign()
    world.verify("--pr", "77", "--publish")
    assert "1 of 7 rows did not succeed" in world.verdicts()[0]
    assert world.status() == ("failure", "Sign-off of noor rejected by check 1")


def test_a_sweep_may_still_come_after_an_idle_run(world: World) -> None:
    world.hub.finish_run(world.hub.add_run(pull=77).id)
    world.sign()
    world.verify("--pr", "77", "--publish")
    words = "Sign-off of noor: checks 1, 2 wait for a sweep; checks 4, 14 must be settled"
    assert world.status() == ("pending", words)


def test_saved_facts_replay_the_verdict(world: World, tmp_path: Path) -> None:
    signed_off(world)
    saved = tmp_path / "facts.json"
    live = world.verify("--pr", "77", "--save-facts", str(saved), "--format", "table")
    world.hub.clear_log()
    replayed = world.verify("--facts", str(saved), "--format", "table")
    assert (replayed.code, replayed.out, len(world.hub.log)) == (0, live.out, 0)
    assert replayed.out.rstrip() == world.verdicts()[0].strip()
    explained = world.verify("--facts", str(saved), "--explain", "1")
    assert explained.out.splitlines()[0] == "Check 1 (Green sweep): PASS"
    assert sum("done: m1 fp8 h200" in line for line in explained.out.splitlines()) == 7


def test_invalid_saved_facts_are_refused(world: World, tmp_path: Path) -> None:
    bad = tmp_path / "facts.json"
    bad.write_text('{"repository": 3}', encoding="utf-8")
    called = world.try_to_verify("--facts", str(bad))
    assert called.code == 2
    assert "repository" in called.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--facts", "f.json", "--publish"], "cannot be published"),
        (["--facts", "f.json", "--pr", "77"], "--facts and --pr exclude"),
        (["--facts", "f.json", "--comment-url", "u"], "--facts and --comment-url exclude"),
        (["--event", "e.json", "--pr", "77"], "--event already names"),
        (["--pr", "77", "--explain", "99"], "no check '99'"),
    ],
)
def test_conflicting_options_are_refused(world: World, arguments: list[str], words: str) -> None:
    called = world.try_to_verify(*arguments)
    assert called.code == 2
    assert words in called.err
    assert world.hub.log == []


def test_rejection_is_exit_code_1_on_a_laptop(world: World) -> None:
    world.sign(by="amy")
    called = world.verify("--pr", "77")
    assert called.code == 1
    assert world.verdicts() == []
    assert world.status() is None


def test_budget_of_requests(world: World) -> None:
    # 40 files, 30 commits and 300 comments take at most 35 requests and pages, and less than 3 seconds. Ten of them are
    # for the decision about reuse: pull requests of the branch, artifacts, and four pages of the timeline, read twice.
    files = {f"benchmarks/x{number}.sh": f"echo {number}\n" for number in range(38)}
    for number, part in enumerate(zip(list(files)[::2], list(files)[1::2], strict=True)):
        world.hub.push("feat-x", {path: files[path] for path in part}, f"part {number}")
    for number in range(10):
        world.hub.push("feat-x", {"benchmarks/x0.sh": f"echo {number}\n"}, f"again {number}")
    run = world.sweep()
    for number in range(297):
        world.hub.comment(77, f"comment {number}", by="eve")
    reuse(world, run.id)
    world.sign()
    world.hub.clear_log()
    start = time.perf_counter()
    world.verify("--pr", "77", "--publish")
    took = time.perf_counter() - start
    assert len(world.hub.log) <= 35
    assert took < 3
    assert world.verdicts()[0].startswith(WARN)  # the new scripts need human review


def test_budget_with_many_owners_runs_and_signoffs(world: World) -> None:
    # Each team is requested once for all signers, and no jobs are read of runs without rows.
    owners = (
        "* @acme/core @acme/a\nconfigs/nvidia.yaml @noor @acme/b\nbenchmarks/ @o1 @o2 @o3 @acme/c @acme/d\n"
    )
    world.hub.push("main", {".github/CODEOWNERS": owners}, "owners", by="mia")
    world.hub.push("feat-x", {f"benchmarks/x{number}.sh": "echo\n" for number in range(38)}, "more")
    run = world.sweep()
    world.hub.add_artifact(run.id, "sweep-plan", {"plan.json": "{}"})
    for _ in range(8):
        world.hub.finish_run(world.hub.add_run(pull=77).id)
    reuse(world, run.id)
    for login in ("lee", "kim", "noor"):
        world.hub.account(login, role="write")
        world.sign(checklist(login), by=login)
    world.hub.clear_log()
    world.verify("--pr", "77", "--publish")
    assert count_requests(world) <= 31  # three for the decision about reuse
    assert len(world.verdicts()) == 3


def count_requests(world: World) -> int:
    """Count requests without further pages and without downloads from the file store, which is not the API."""
    return sum(
        exchange.query.get("page", "1") == "1" and not exchange.path.startswith("/_store/")
        for exchange in world.hub.log
    )


def test_budget_does_not_grow_with_rows(world: World) -> None:
    # 1,502 rows with a job and an artifact each take at most 25 requests and 16 further pages of each.
    concs = ", ".join(map(str, range(1, 1501)))
    world.hub.push("feat-x", {**CHANGE, "configs/nvidia.yaml": MASTER.replace("CONC", f"[{concs}]")}, "many")
    run = world.sweep()
    rows = world.rows()
    assert len(rows) == 1502
    for row in rows:
        world.hub.add_artifact(run.id, f"row_{row.id}", {"x.json": "{}"})
    reuse(world, run.id)
    world.sign()
    world.hub.clear_log()
    world.verify("--pr", "77", "--publish")
    assert count_requests(world) <= 25
    assert len(world.hub.log) - count_requests(world) <= 16 + 16 + 2  # and two downloads
    assert "All 1,502 rows" in world.verdicts()[0]


def count_verification(world: World) -> int:
    world.hub.clear_log()
    world.verify("--pr", "77", "--publish")
    return len(world.hub.log)


def test_a_fault_at_any_request_turns_nothing_green(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    # A sign-off that must not pass does not pass while GitHub fails from some request on. The next run ends as
    # without the fault.
    monkeypatch.setattr("infx.cli.github.wait", lambda seconds: None)
    reuse(world, world.sweep(failing=[0]).id)
    world.sign()
    clean = world.hub.snapshot()
    total = count_verification(world)
    undisturbed = world.status()
    kinds = [FaultKind.BAD_GATEWAY, FaultKind.FORBIDDEN, FaultKind.DROP]
    for nth in range(1, total + 1):
        world.hub.restore(clean)
        fault = world.hub.faults.add(Fault(kind=kinds[nth % 3], nth=nth, times=FOREVER))
        assert world.try_to_verify("--pr", "77", "--publish").code in {0, 1, 3}
        assert fault.hits > 0
        world.hub.faults.clear()
        assert all(status.state != "success" for status in world.hub.state.statuses)
        assert not any(text.startswith(PASS) for text in world.verdicts())
        if nth % 4 == 0:
            world.verify("--pr", "77", "--publish")
            assert (world.status(), len(world.verdicts())) == (undisturbed, 1)


@pytest.mark.parametrize("order", [(77, 78), (78, 77)])
def test_one_commit_has_one_signoff_status(world: World, order: tuple[int, int]) -> None:
    # 77 and 78 have the same head, and only 77 is signed off: the worse status counts, in any order.
    signed_off(world)
    assert (world.status() or ("",))[0] == "success"
    world.hub.push("feat-y", {}, start="feat-x")
    world.hub.git.update_ref("refs/heads/feat-y", world.head)
    world.hub.open_pull("feat-y", number=78)
    for number in order:
        world.verify("--pr", str(number), "--publish")
        assert world.status() == ("pending", "PR 78: Waiting for the sign-off of one owner: @noor")
    written = len(world.hub.state.statuses)
    for number in order:
        world.verify("--pr", str(number), "--publish")
    assert len(world.hub.state.statuses) == written
    world.hub.close_pull(78)
    world.verify("--pr", "77", "--publish")
    assert (world.status() or ("",))[0] == "success"

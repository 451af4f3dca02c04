"""The demo is played once, and everything that it leaves behind is looked at: comments, statuses, artifacts, main.

Nothing past the hub is faked, so what stands here is what the workflows' commands did.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.demo.play import Play, play
from infx.demo.repository import CHANGELOG, MASTER, base_files
from infx.demo.stage import RowOutcome, Step
from infx.matrix.jobs import Job
from infx.model import CommentKind

OFFLOAD, ARMS, DISAGG = 2996, 3028, 3405


class Quiet:
    def begin(self, total: int, title: str) -> None: ...

    def started(self, job: Job) -> None: ...

    def ended(self, outcome: RowOutcome) -> None: ...

    def end(self) -> None: ...


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Play]:
    told: list[Step] = []
    with play(tmp_path_factory.mktemp("demo")) as story:
        story.begin(told.append, Quiet())
        for act in story.scenes().values():
            act.play()
        assert told == story.stage.steps
        yield story


def read_main(played: Play, path: str) -> str:
    found = played.hub.git.file("refs/heads/main", path)
    assert found is not None
    return found[2].decode()


def appended(key: str, words: str, number: int) -> str:
    return (
        f'\n- config-keys:\n    - {key}\n  description:\n    - "{words}"\n'
        f"  pr-link: https://github.com/acme/bench/pull/{number}\n"
    )


def test_main_holds_every_entry_once_and_its_old_bytes(played: Play) -> None:
    """In the order of the merges, each with its own canonical link, whatever its author had written."""
    assert read_main(played, CHANGELOG) == (
        base_files()[CHANGELOG]
        + appended("dsr1-fp8-h200-sglang", "Measure again with the new driver", 2997)
        + appended(
            "dsv41flash-fp4-gb200-vllm-agentic-dspark-mooncake",
            "Add DeepSeek-V4.1-Flash on GB200 with KV offload through Mooncake",
            OFFLOAD,
        )
        + appended("qwen3.5-fp8-h100-sglang", "Measure again with the new driver", 3029)
        + appended(
            "dsv41flash-fp4-b300-vllm-agentic-dspark", "Add TEP4 and DEP4 at concurrency 32, 64 and 128", ARMS
        )
        + appended(
            "kimik3-fp4-b300-dynamo-vllm-agentic-dspark-mooncake-dcp8-disagg-1p1d",
            "Add Kimi-K3 on B300, disaggregated, one prefill and one decode engine",
            DISAGG,
        )
    )


def test_main_holds_what_was_measured_last(played: Play) -> None:
    master = read_main(played, MASTER)
    assert "dram-utilization: 0.4\n" in master
    assert "dram-utilization: 0.6\n" not in master
    assert master.count("vllm/vllm-openai:v0.27.2") == 1
    assert "disagg-1p1d:\n" in master


@pytest.mark.parametrize(
    ("number", "comments"),
    [
        (OFFLOAD, [("github-actions[bot]", "greeting"), ("github-actions[bot]", "visualizer")]),
        (ARMS, [("github-actions[bot]", "greeting"), ("github-actions[bot]", "visualizer")]),
        (
            DISAGG,
            [
                ("github-actions[bot]", "greeting"),
                ("mia", "/approve-sweep"),
                ("github-actions[bot]", "visualizer"),
                ("mia", "/approve-sweep"),
            ],
        ),
    ],
)
def test_what_stands_on_a_pull_request_in_the_end(
    played: Play, number: int, comments: list[tuple[str, str]]
) -> None:
    """One greeting, one comment that follows the newest run, and no notice whose cause is gone."""
    marks = {
        "<!-- infx-greeting -->": "greeting",
        "<!-- inferencex-unofficial-run-visualizer -->": "visualizer",
        "/approve-sweep": "/approve-sweep",
    }
    found = [
        (comment.author, next(name for mark, name in marks.items() if (comment.body or "").startswith(mark)))
        for comment in played.hub.comments_of(number)
    ]
    assert found == comments


def visualizer(played: Play, number: int) -> str:
    bodies = [comment.body or "" for comment in played.hub.comments_of(number)]
    return next(body for body in bodies if "unofficialRun=" in body)


@pytest.mark.parametrize(
    ("number", "rows", "evals", "earlier"),
    [
        (OFFLOAD, "| 10 | 0 | 0 | 0 |", "| 1 | 0 | 0 | 0 |", 1),
        (ARMS, "| 14 | 0 | 0 | 0 |", "| 3 | 0 | 0 | 0 |", 1),
        (DISAGG, "| 1 | 0 | 0 | 0 |", "| 2 | 0 | 0 | 0 |", 1),
    ],
)
def test_the_comment_about_runs_names_the_newest_and_counts_its_rows(
    played: Play, number: int, rows: str, evals: str, earlier: int
) -> None:
    body = visualizer(played, number)
    newest = max(sweep.run for sweep in played.stage.sweeps if sweep.pull == number)
    lines = body.splitlines()
    assert lines[2:4] == [
        f"View unofficial run (performance): https://inferencex.semianalysis.com/inference?unofficialRun={newest}",
        f"View unofficial run (accuracy): https://inferencex.semianalysis.com/evaluation?unofficialRun={newest}",
    ]
    assert f"| rows 性能 {rows}" in body
    assert f"| evals 精度 {evals}" in body
    assert f"<summary>{earlier} earlier run" in body


def test_each_placeholder_was_refused_at_the_first_push_and_repaired(played: Play) -> None:
    refused = [step for step in played.stage.steps if step.code == 1]
    assert [(step.scene, step.pull) for step in refused] == [("A", OFFLOAD), ("C", DISAGG)]
    assert ["TBD" in refused[0].shown[0], "PRLINK_PLACEHOLDER" in refused[1].shown[0]] == [True, True]
    repairs = [step for step in played.stage.steps if step.command and "--fix" in step.command]
    assert [step.pull for step in repairs] == [OFFLOAD, DISAGG]


def test_every_notice_was_said_once_and_taken_back(played: Play) -> None:
    """Each cause is told by a comment of its own that goes with it."""
    lines = [line for step in played.stage.steps for line in step.shown]
    created = Counter(re.findall(r"create the notice ([\w-]+) comment", "\n".join(lines)))
    deleted = Counter(re.findall(r"delete the notice ([\w-]+) comment", "\n".join(lines)))
    assert created == {"changelog": 1, "conflict": 2, "labels": 1, "fork": 1, "approval-void": 1}
    assert deleted == created


@pytest.mark.parametrize(
    ("number", "outcomes"),
    [
        (OFFLOAD, [{"success": 11}, {"success": 11}]),
        (ARMS, [{"failure": 1}, {"success": 17}]),
        (DISAGG, [{"success": 3}, {"success": 3}]),
    ],
)
def test_sweeps_and_their_rows(played: Play, number: int, outcomes: list[dict[str, int]]) -> None:
    """Scene B's first sweep stops at the point that runs out of memory; how many ran before it depends on the machine."""
    sweeps = [sweep for sweep in played.stage.sweeps if sweep.pull == number]
    counts = [Counter(row.conclusion for row in sweep.rows) for sweep in sweeps]
    assert len(counts) == len(outcomes)
    for count, wanted in zip(counts, outcomes, strict=True):
        assert {name: count[name] for name in wanted} == wanted
    if number == ARMS:
        (failed,) = [row for row in sweeps[0].rows if row.conclusion == "failure"]
        assert (failed.job.row.conc, failed.job.row.eval_only) == ((64,), None)
        assert "4.45 GiB" in failed.words


def test_every_row_that_passed_left_its_artifact(played: Play) -> None:
    for sweep in played.stage.sweeps:
        names = {a.name for a in played.hub.state.artifacts.values() if a.run == sweep.run}
        passed = [row for row in sweep.rows if row.conclusion == "success"]
        rows = {name for name in names if name.startswith(("bmk_", "eval_")) and name != "eval_results_all"}
        assert len(rows) == len(passed)
        assert {"sweep-plan", "results_bmk"} <= names


@pytest.mark.parametrize("number", [OFFLOAD, ARMS, DISAGG])
def test_the_status_of_every_merged_head_is_success(played: Play, number: int) -> None:
    head = played.hub.state.pulls[number].head_sha
    newest = [
        status for status in played.hub.state.statuses if (status.sha, status.context) == (head, "infx/sweep")
    ][-1]
    assert newest.state == "success"
    assert newest.description is not None
    assert newest.description.startswith("Swept: ")


def test_an_approval_is_for_one_commit(played: Play) -> None:
    approved = [status for status in played.hub.state.statuses if status.context == "infx/approval"]
    bodies = [comment.body or "" for comment in played.hub.comments_of(DISAGG) if comment.author == "mia"]
    assert {status.sha for status in approved} == {body.split()[1] for body in bodies}
    assert len({status.sha for status in approved}) == 2


def test_no_comment_was_written_by_anybody_but_us_and_people(played: Play) -> None:
    authors = {
        comment.author
        for (kind, _), comment in played.hub.state.comments.items()
        if kind is CommentKind.ISSUE
    }
    assert authors == {"github-actions[bot]", "mia"}


def test_the_page_shows_each_pull_request_and_runs_nothing(played: Play, tmp_path: Path) -> None:
    page = played.page()
    assert "<script" not in page
    assert not re.search(r'(?:src|href)="(?!#|https://)', page)
    for number in (OFFLOAD, ARMS, DISAGG):
        assert page.count(f'<section id="pr-{number}">') == 1
    assert page.count('class="row failure"') == 1
    assert page.count("View unofficial run (performance)") == 3
    assert page.count('class="state merged"') == 3
    assert page.count("<svg ") == 2 * len(played.stage.sweeps)


def test_every_command_of_the_story_did_what_the_story_says(played: Play) -> None:
    """A command that fails in a way that the story does not expect ends the demo; refusals are part of it."""
    codes = Counter(step.code for step in played.stage.steps if step.command)
    assert set(codes) == {0, 1}
    assert codes[1] == 2

"""Play the demo once and check everything that it leaves: comments, statuses, artifacts, the main branch.

Only GitHub is replaced (by the hub), so these are the results of the workflows' own commands.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections import Counter
from typing import Any

import pytest

from infx.bench.uploads import artifact_name
from infx.demo.play import Play
from infx.demo.queue import FIRST, KEYS, SECOND, THIRD, WORDS
from infx.demo.repository import ARMS as ARMS_KEY
from infx.demo.repository import (
    CHANGELOG,
    DISAGG_RECIPE,
    MASTER,
    OFFLOAD_SCRIPT,
    SCRIPT,
    cut_config,
    make_base_files,
    make_recipe_files,
    read_data,
    remove_keys,
    render_deployment_recipe,
    render_serving_script,
)
from infx.demo.repository import DISAGG as DISAGG_KEY
from infx.demo.stage import StoryError
from infx.git import Git
from infx.matrix.environment import project_job
from infx.model import CommentKind
from infx.store.open import open_store
from tests.conftest import ROOT

OFFLOAD, ARMS, DISAGG = 2996, 3028, 3405
BOT = "github-actions[bot]"


def read_main(played: Play, path: str) -> str:
    file = played.hub.git.file("refs/heads/main", path)
    assert file is not None
    return file[2].decode()


def render_appended(key: str, words: str, number: int) -> str:
    return (
        f'\n- config-keys:\n    - {key}\n  description:\n    - "{words}"\n'
        f"  pr-link: https://github.com/acme/bench/pull/{number}\n"
    )


def test_main_has_its_old_changelog_and_each_new_entry_once(played: Play) -> None:
    """New entries are in the order of the merges, with canonical links instead of the authors' placeholders."""
    assert read_main(played, CHANGELOG) == (
        make_base_files()[CHANGELOG]
        + render_appended("dsr1-fp8-h200-sglang", "Measure again with the new driver", 2997)
        + render_appended(
            "dsv41flash-fp4-gb200-vllm-agentic-dspark-mooncake",
            "Add DeepSeek-V4.1-Flash on GB200 with KV offload through Mooncake",
            OFFLOAD,
        )
        + render_appended("qwen3.5-fp8-h100-sglang", "Measure again with the new driver", 3029)
        + render_appended(
            "dsv41flash-fp4-b300-vllm-agentic-dspark", "Add TEP4 and DEP4 at concurrency 32, 64 and 128", ARMS
        )
        + render_appended(
            "kimik3-fp4-b300-dynamo-vllm-agentic-dspark-mooncake-dcp8-disagg-1p1d",
            "Add Kimi-K3 on B300, disaggregated, one prefill and one decode engine",
            DISAGG,
        )
        + "".join(render_appended(key, WORDS, number) for number, key in KEYS.items())
    )


def test_main_has_the_configurations_that_were_measured_last(played: Play) -> None:
    """The bytes are those of the project's own file, with a newer image, and with Kimi-K3 moved to the end."""
    own = read_data("nvidia-master.yaml")
    arms = cut_config(own, ARMS_KEY)
    assert arms.count("v0.27.1") == 1
    moved = remove_keys(own, DISAGG_KEY).replace(arms, arms.replace("v0.27.1", "v0.27.2"))
    assert read_main(played, MASTER) == f"{moved}\n{cut_config(own, DISAGG_KEY)}"
    assert "dram-utilization: 0.4\n" in read_main(played, MASTER)


def test_main_has_the_scripts_that_were_merged(played: Play) -> None:
    """Main and the branch both changed the end of run.sh; the author's resolution was measured and merged."""
    before = make_base_files()[SCRIPT]
    assert read_main(played, SCRIPT) == f"{before}\n# One warm-up for all.\n# Kimi-K3 needs two.\n"
    assert read_main(played, OFFLOAD_SCRIPT) == render_serving_script(5, "3.51")
    assert read_main(played, DISAGG_RECIPE) == render_deployment_recipe(3, "2.87")


@pytest.mark.parametrize(
    ("number", "comments"),
    [
        (OFFLOAD, [
            (BOT, "greeting"), (BOT, "visualizer"), ("amy", "sign-off"), (BOT, "verdict"), ("noor", "sign-off"), (BOT, "verdict"),
            ("mia", "/settle"), ("cody", "/use"), ("mia", "/merge"),
        ]),
        (ARMS, [
            (BOT, "greeting"), (BOT, "visualizer"), ("cody", "/use"), ("noor", "sign-off"), (BOT, "verdict"), ("mia", "/settle"), ("mia", "/merge"),
        ]),
        (DISAGG, [
            (BOT, "greeting"), ("mia", "/approve-sweep"), (BOT, "visualizer"), ("noor", "sign-off"), (BOT, "verdict"),
            ("mia", "/approve-sweep"), ("mia", "/use"), ("mia", "/merge"),
        ]),
    ],
)  # fmt: skip
def test_the_comments_that_a_pull_request_has_in_the_end(
    played: Play, number: int, comments: list[tuple[str, str]]
) -> None:
    """A pull request has one greeting, one comment about runs, a verdict per sign-off, and no resolved notice."""
    marks = {
        "<!-- infx-greeting -->": "greeting",
        "<!-- inferencex-unofficial-run-visualizer -->": "visualizer",
        "As a PR reviewer and CODEOWNER": "sign-off",
        "<!-- codeowner-signoff-verify -->": "verdict",
        **{command: command for command in ("/approve-sweep", "/settle", "/use", "/merge")},
    }
    authors_and_kinds = [
        (comment.author, next(name for mark, name in marks.items() if (comment.body or "").startswith(mark)))
        for comment in played.hub.comments_of(number)
    ]
    assert authors_and_kinds == comments


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


def test_each_placeholder_was_refused_and_then_fixed(played: Play) -> None:
    refused = [step for step in played.stage.steps if step.code and " changelog " in (step.command or "")]
    assert [(step.scene, step.pull) for step in refused] == [("A", OFFLOAD), ("C", DISAGG)]
    assert ["TBD" in refused[0].shown[0], "PRLINK_PLACEHOLDER" in refused[1].shown[0]] == [True, True]
    repairs = [step for step in played.stage.steps if step.command and "--fix" in step.command]
    assert [step.pull for step in repairs] == [OFFLOAD, DISAGG]


def test_every_notice_was_created_once_and_deleted(played: Play) -> None:
    """Each cause has its own notice, which is deleted with the cause."""
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
def test_every_sweep_has_the_expected_outcomes(
    played: Play, number: int, outcomes: list[dict[str, int]]
) -> None:
    """Scene B's first sweep stops when a row runs out of memory; how many rows ended before depends on timing."""
    sweeps = [sweep for sweep in played.stage.sweeps if sweep.pull == number]
    counts = [Counter(row.conclusion for row in sweep.rows) for sweep in sweeps]
    assert len(counts) == len(outcomes)
    for count, wanted in zip(counts, outcomes, strict=True):
        assert {name: count[name] for name in wanted} == wanted
    if number == ARMS:
        (failed,) = [row for row in sweeps[0].rows if row.conclusion == "failure"]
        assert (failed.job.row.conc, failed.job.row.eval_only) == ((64,), None)
        assert "4.45 GiB" in failed.words


def test_every_sweep_left_its_plan_its_rows_and_its_results(played: Play) -> None:
    """Only rows that passed have a published result; the artifact of a failed row has the record of its job."""
    for sweep in played.stage.sweeps:
        artifacts = {a.name: a.data for a in played.hub.state.artifacts.values() if a.run == sweep.run}
        passed = [row.job for row in sweep.rows if row.conclusion == "success"]
        rows = {artifact_name(row.job) for row in sweep.rows if row.conclusion in ("success", "failure")}
        assert set(artifacts) == {
            "sweep-plan",
            "results_bmk",
            "eval_results_all",
            "results_compare",
            "job_events",
            *rows,
        }
        measured = sorted(conc for job in passed if not job.row.eval_only for conc in job.row.conc)
        checked = sorted(conc for job in passed if job.row.eval_only for conc in job.row.eval_concs)
        assert sorted(row["conc"] for row in read_json(artifacts["results_bmk"], "agg_bmk.json")) == measured
        assert (
            sorted(row["conc"] for row in read_json(artifacts["eval_results_all"], "agg_eval_all.json"))
            == checked
        )
        assert len(read_jobs(artifacts["sweep-plan"])) == len(sweep.rows)


def read_json(data: bytes, path: str) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return json.loads(archive.read(path))


def read_jobs(data: bytes) -> list[bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return archive.read("jobs.jsonl").splitlines()


def find_statuses(played: Play, number: int, context: str) -> list[tuple[str, str]]:
    """Return state and description of every status on a pull request's commits, in their order."""
    events = [event for event in played.hub.state.events if event.name == "pull_request"]
    heads = {
        event.payload["pull_request"]["head"]["sha"] for event in events if event.payload["number"] == number
    }
    return [
        (status.state, status.description or "")
        for status in played.hub.state.statuses
        if status.sha in heads and status.context == context
    ]


@pytest.mark.parametrize("number", [OFFLOAD, ARMS, DISAGG])
@pytest.mark.parametrize("context", ["infx/sweep", "codeowner-signoff-verify"])
def test_both_statuses_of_every_merged_head_are_success(played: Play, number: int, context: str) -> None:
    head = played.hub.state.pulls[number].head_sha
    on_it = [
        status.state
        for status in played.hub.state.statuses
        if (status.sha, status.context) == (head, context)
    ]
    assert on_it[-1] == "success"
    merged = next(e for e in played.hub.state.timeline if (e.pull, e.event) == (number, "merged"))
    assert all(
        status.created_at < merged.created_at for status in played.hub.state.statuses if status.sha == head
    )


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (OFFLOAD, [
            ("failure", "perf-changelog.yaml:96: `TBD` is not a valid pr-link; expected pull/2996 or the placeholder `XXX`."),
            ("pending", "The PR has no label that starts a sweep."),
            ("success", "Swept: 10 of 10 rows done; 1 of 1 eval done."),
            ("success", "Swept: 10 of 10 rows done; 1 of 1 eval done."),  # with less of the DRAM
            ("success", "Swept: 10 of 10 rows done; 1 of 1 eval done."),  # on the merge commit
        ]),
        (ARMS, [
            ("failure", "The PR has both full-sweep-enabled and full-sweep-fail-fast."),
            ("pending", "No sweep has started yet. Full, first a canary, stopping at the first failure (full-sweep-fail-fast)."),
            ("failure", "Failed: … of 14 rows done, 1 failed, … stopped; …"),
            ("success", "Swept: 14 of 14 rows done; 3 of 3 evals done."),
        ]),
        (DISAGG, [
            ("pending", "The PR comes from a fork, and its head … is not approved."),
            ("success", "Swept: 1 of 1 row done; 2 of 2 evals done."),
            ("pending", "The approval is for …, but the head of the fork is …."),
            ("pending", "Blocked by a merge conflict with main (benchmarks/run.sh)."),
            ("success", "Swept: 1 of 1 row done; 2 of 2 evals done."),
        ]),
    ],
)  # fmt: skip
def test_the_statuses_of_sweeps(played: Play, number: int, expected: list[tuple[str, str]]) -> None:
    """How many rows ended before the failure depends on timing, so those numbers are not compared."""
    found = find_statuses(played, number, "infx/sweep")
    varying = re.compile(
        r"\b[0-9a-f]{12}\b|(?<=Failed: )\d+(?= of 14)|(?<=1 failed, )\d+(?= stopped)|\d of 3 evals done.*"
    )
    assert [
        (state, varying.sub("…", words) if state != "success" else words) for state, words in found
    ] == expected


def test_there_are_no_other_statuses(played: Play) -> None:
    contexts = {status.context for status in played.hub.state.statuses}
    assert contexts == {"infx/sweep", "infx/approval", "codeowner-signoff-verify", "infx/published"}
    assert {status.creator for status in played.hub.state.statuses} == {BOT}


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (OFFLOAD, [
            ("pending", "Waiting for the sign-off of one owner: @noor"),
            ("failure", "Sign-off of amy rejected by check 0"),
            ("pending", "Sign-off of noor: checks 3, 4, 13 must be settled"),
            ("pending", "Sign-off of noor: check 4 must be settled"),
            ("pending", "Sign-off of noor: check 4 must be settled"),  # on the merge commit
            ("success", "Signed off by noor at …, 2 warnings settled, carried over to the same diff"),
        ]),
        (ARMS, [
            ("pending", "Waiting for the sign-off of one owner: @noor, @mia"),
            ("failure", "Sign-off of noor rejected by check 5"),
            ("pending", "Sign-off of noor: checks 3, 13 must be settled"),
            ("success", "Signed off by noor at …, 2 warnings settled"),
        ]),
        (DISAGG, [
            ("pending", "Sign-off of noor: checks 3, 4, 13, 14 must be settled"),
            ("pending", "noor signed off at …; the diff has changed since"),
            ("pending", "Sign-off of noor: checks 3, 4, 13, 14 must be settled"),
            ("success", "Signed off by noor at …, 3 warnings settled"),
        ]),
    ],
)  # fmt: skip
def test_the_statuses_of_sign_offs(played: Play, number: int, expected: list[tuple[str, str]]) -> None:
    """In A an owner of another file signs first, in B an item is left open, in C a push follows the sign-off."""
    found = find_statuses(played, number, "codeowner-signoff-verify")
    assert [(state, re.sub(r"\b[0-9a-f]{12}\b", "…", words)) for state, words in found] == expected


def find_verdicts(played: Play, number: int) -> list[str]:
    bodies = [comment.body or "" for comment in played.hub.comments_of(number)]
    return [body for body in bodies if body.startswith("<!-- codeowner-signoff-verify -->")]


@pytest.mark.parametrize(
    ("number", "headings", "failing", "warned"),
    [
        (OFFLOAD, ["❌❌❌ **REJECTED** ❌❌❌", "⚠️ **Verdict: WARN** ⚠️"], [["0"], []], [["3", "13"], ["3", "13"]]),
        (ARMS, ["⚠️ **Verdict: WARN** ⚠️"], [[]], [["3", "13"]]),
        (DISAGG, ["⚠️ **Verdict: WARN** ⚠️"], [[]], [["3", "13", "14"]]),
    ],
)  # fmt: skip
def test_verdicts_in_the_end(
    played: Play, number: int, headings: list[str], failing: list[list[str]], warned: list[list[str]]
) -> None:
    """The sign-off of a person who does not own the file stays rejected; every warning names who settled it."""
    found = find_verdicts(played, number)
    assert [re.findall(r"(?m)^## (.+)$", body) for body in found] == [[heading] for heading in headings]
    assert [re.findall(r"Check (\d+) \([^)]+\): FAIL", body) for body in found] == failing
    assert [re.findall(r"Check (\d+) .*: WARN .*Settled by `mia`", body) for body in found] == warned
    assert [re.findall(r"Check (\d+) \([^)]+\): WARN", body) for body in found] == warned


def test_a_rejection_names_the_file_that_the_signer_does_not_own(played: Play) -> None:
    rejected, signed = find_verdicts(played, OFFLOAD)
    assert "`amy` does not own `configs/nvidia-master.yaml` (owners: `@noor`)" in rejected
    head = played.hub.state.pulls[OFFLOAD].head_sha
    assert f"It covers `{head}`, whose diff against the base branch is identical." in signed


def test_every_sign_off_is_the_template_filled_in(played: Play) -> None:
    template = make_base_files()["docs/PR_REVIEW_CHECKLIST.md"]
    items = re.findall(r"(?m)^ *- \[ \] (.+)$", template)
    for number in (OFFLOAD, ARMS, DISAGG):
        for comment in played.hub.comments_of(number):
            if (comment.body or "").startswith("As a PR reviewer"):
                assert re.findall(r"(?m)^ *- \[x\] (.+)$", comment.body or "") == items


def test_an_approval_is_for_one_commit(played: Play) -> None:
    approved = [status for status in played.hub.state.statuses if status.context == "infx/approval"]
    bodies = [comment.body or "" for comment in played.hub.comments_of(DISAGG) if comment.author == "mia"]
    requested_heads = {body.split()[1] for body in bodies if body.startswith("/approve-sweep")}
    assert {status.sha for status in approved} == requested_heads
    assert len({status.sha for status in approved}) == 2


def test_docs_show_the_variables_of_a_row_of_the_demo(played: Play) -> None:
    page = (ROOT / "docs/scripts.md").read_text(encoding="utf-8")
    ((row, shown),) = re.findall(r"(?ms)^\$ infx row env --plan sweep-plan --id (\w+)$(.*?)^```$", page)
    jobs = {outcome.job.id: outcome.job for sweep in played.stage.sweeps for outcome in sweep.rows}
    variables = project_job(jobs[row], max_bytes=131_071)
    exported = [f"export {name}={value}" for name, value in variables.items()]
    assert [line for line in exported if line in shown.splitlines()] == [
        line for line in shown.splitlines() if line not in {"", "…"}
    ]


def test_only_people_and_the_bot_wrote_comments(played: Play) -> None:
    authors = {
        comment.author
        for (kind, _), comment in played.hub.state.comments.items()
        if kind is CommentKind.ISSUE
    }
    assert authors == {BOT, "amy", "cody", "mia", "noor"}


def test_commands_ended_with_the_codes_that_the_story_expects(played: Play) -> None:
    """The story expects four refusals; any other failure would have ended the demo."""
    codes = Counter(step.code for step in played.stage.steps if step.command)
    assert set(codes) == {0, 1}
    assert codes[1] == 4  # two placeholders, the sweep with a failed row, and a merge that waits for a check


def test_the_sweep_with_a_failed_row_names_the_row(played: Play) -> None:
    [collected] = [
        step for step in played.stage.steps if step.code and " results collect " in (step.command or "")
    ]
    [sweep] = [sweep for sweep in played.stage.sweeps if any(r.conclusion != "success" for r in sweep.rows)]
    without_result = [row.job.id for row in sweep.rows if row.conclusion != "success"]
    assert collected.pull == sweep.pull == ARMS
    [failed] = [row.job.id for row in sweep.rows if row.conclusion == "failure"]
    without_result.remove(failed)  # it has the record of its job
    named = [line.split()[2] for line in collected.shown if " has no result " in line]
    assert named == sorted(without_result)[: len(named)]
    assert named


def test_main_has_no_other_changes(played: Play) -> None:
    """Main has the files from before the demo and those that scenes add; scenes changed three of the older files."""
    listed = Git(played.hub.git.path).run("ls-tree", "-r", "-z", "--name-only", "main")
    paths = {path.decode() for path in listed.split(b"\0") if path}
    before = {**make_base_files(), **make_recipe_files()}
    assert paths == {*before, OFFLOAD_SCRIPT, DISAGG_RECIPE}
    changed = {path for path in before if read_main(played, path) != before[path]}
    assert changed == {CHANGELOG, MASTER, SCRIPT}


def test_an_unexpected_exit_code_ends_the_demo(played: Play) -> None:
    words = "`infx config check --nonsense` ended with 2 instead of 0."
    with pytest.raises(StoryError, match=re.escape(words)) as caught:
        played.stage.command("cody", "mistypes", "config", "check", "--nonsense", at=played.folder)
    assert "No such option" in "\n".join(played.stage.steps.pop().shown)
    assert caught.value.exit_code == 4


def test_the_queue_merges_in_order_what_it_had_pushed_out(played: Play) -> None:
    """GitHub removes the entries that conflict; infx updates and queues them again, at most twice."""
    events = [
        (event.action, event.payload["number"], event.payload.get("reason"))
        for event in played.hub.state.events
        if event.name == "pull_request" and event.action in {"enqueued", "dequeued"}
    ]
    queued = [("enqueued", number, None) for number in KEYS]
    removed = [("dequeued", number, "MERGE_CONFLICT") for number in (SECOND, THIRD)]
    assert events == [
        *queued,
        ("dequeued", FIRST, "MERGE"),
        *removed,
        *queued[1:],
        ("dequeued", SECOND, "MERGE"),
        removed[1],
        queued[2],
        ("dequeued", THIRD, "MERGE"),
    ]


def test_people_only_ask_once_for_a_merge_by_the_queue(played: Play) -> None:
    """The author asks for reuse. After mia's request, no person comments on the pull request or pushes to it."""
    for number, author in zip(KEYS, ("cody", "noor", "amy"), strict=True):
        comments = [comment.author for comment in played.hub.comments_of(number)]
        assert [author for author in comments if author != BOT] == [author, "mia"]
        steps = [step.who for step in played.stage.steps if step.pull == number]
        assert set(steps[steps.index("mia") + 1 :]) == {"Actions", "GitHub"}


@pytest.mark.parametrize("number", [OFFLOAD, ARMS, DISAGG, *KEYS])
def test_every_merge_is_published_once_with_the_reused_run(played: Play, number: int) -> None:
    """Of the newest sweep, which every pull request names with /use, the throughput results are stored."""
    (published,) = [merge for merge in played.stage.merges if merge.pull == number]
    sweep = max((sweep for sweep in played.stage.sweeps if sweep.pull == number), key=lambda sweep: sweep.run)
    assert published.run == sweep.run
    assert sorted((row.row_id, row.parse_result()["conc"]) for row in published.rows) == sorted(
        (point.id, point.row.conc) for point in sweep.points
    )
    merge = played.hub.state.pulls[number].merge_sha
    states = [s.state for s in played.hub.state.statuses if (s.sha, s.context) == (merge, "infx/published")]
    assert states[-1:] == ["success"]


def test_the_results_store_has_every_published_row(played: Play) -> None:
    store = open_store("branch:infx-results", Git(played.stage.clone("reader")), author="reader")
    stored = {summary.run: summary.row_count for summary in store.list_publications()}
    assert stored == {merge.run: len(merge.rows) for merge in played.stage.merges}


def test_saved_hours_are_those_of_rows_that_did_not_run_again(played: Play) -> None:
    """In B, a stopped sweep and its stopped rows make a whole plan; each merge saves the sweep that it reuses.

    A's author, and infx twice for the last of the queue, merge main without a new sweep.
    """
    hours = {sweep.run: sweep.gpu_hours for sweep in played.stage.sweeps}
    newest = {merge.pull: hours[merge.run] for merge in played.stage.merges}
    saved: Counter[int] = Counter()
    for saving in played.stage.savings:
        saved[saving.pull] += round(saving.gpu_hours * 60)
    used = [sweep.gpu_hours for sweep in played.stage.sweeps if sweep.pull == ARMS]
    sweeps = {OFFLOAD: 2, DISAGG: 1, FIRST: 1, SECOND: 2, THIRD: 3}
    assert saved == {
        **{pull: round(number * newest[pull] * 60) for pull, number in sweeps.items()},
        ARMS: round((newest[ARMS] + newest[ARMS] - used[0]) * 60),
    }

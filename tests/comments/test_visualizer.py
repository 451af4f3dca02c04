"""The comment that shows the newest sweep."""

from __future__ import annotations

from dataclasses import replace

import cmarkgfm
import pytest

from infx.comments.progress import Counts, SweepProgress, read_sweep
from infx.comments.sticky import Create, Update, plan_edits
from infx.comments.visualizer import make_visualizer
from infx.gate.facts import Reuse
from infx.policy.load import default_policy
from tests.builders import BOT, HEAD, comment, row_job, run
from tests.reconcile.world import VISUALIZER, policy

POLICY = policy()
LIMIT = POLICY.limits.comment_characters


def sweep(
    number: int = 301, *, attempt: int = 1, conclusion: str | None = "success", results: bool = True
) -> SweepProgress:
    return SweepProgress(
        run=run(attempt=attempt, conclusion=conclusion, id=number),
        rows=Counts(done=12, failed=1, running=3, waiting=24),
        evals=Counts(done=2),
        has_results=results,
        swept=True,
    )


def body(*sweeps: SweepProgress) -> str:
    sticky = make_visualizer(POLICY, sweeps)
    assert sticky is not None
    return sticky.body(LIMIT)


def test_stopped_rows_have_a_column_if_there_are_any() -> None:
    """With fail-fast, rows that end with the sweep are not failures."""
    stopped = replace(sweep(conclusion="failure"), rows=Counts(done=12, failed=1, stopped=27))
    assert """
| | done 完成 | failed 失败 | stopped 已停止 | running 运行中 | waiting 等待中 |
| :-- | --: | --: | --: | --: | --: |
| rows 性能 | 12 | 1 | 27 | 0 | 0 |
| evals 精度 | 2 | 0 | 0 | 0 | 0 |
""" in body(stopped)


def test_the_whole_comment() -> None:
    assert (
        body(
            sweep(301, attempt=2, conclusion=None),
            sweep(299, conclusion="cancelled"),
            sweep(300, conclusion="failure"),
        )
        == f"""\
{VISUALIZER}
<!-- order 301.2.0.15 -->
View unofficial run (performance): https://bench.test/inference?unofficialRun=301
View unofficial run (accuracy): https://bench.test/evaluation?unofficialRun=301

🟡 **Running · 运行中** — [run 301](https://github.com/acme/bench/actions/runs/301), attempt 2, commit {HEAD}

| | done 完成 | failed 失败 | running 运行中 | waiting 等待中 |
| :-- | --: | --: | --: | --: |
| rows 性能 | 12 | 1 | 3 | 24 |
| evals 精度 | 2 | 0 | 0 | 0 |

<details>
<summary>2 earlier runs · 之前的 2 次运行</summary>

- ❌ [run 300](https://github.com/acme/bench/actions/runs/300), attempt 1, commit {HEAD} · \
[performance](https://bench.test/inference?unofficialRun=300) · [accuracy](https://bench.test/evaluation?unofficialRun=300)
- ⚪ [run 299](https://github.com/acme/bench/actions/runs/299), attempt 1, commit {HEAD} · \
[performance](https://bench.test/inference?unofficialRun=299) · [accuracy](https://bench.test/evaluation?unofficialRun=299)

</details>
"""
    )


def test_it_renders_as_two_lines_a_table_and_a_list() -> None:
    page = cmarkgfm.github_flavored_markdown_to_html(body(sweep(301), sweep(300)))
    assert page.count("<table>") == 1
    assert page.count("<li>") == 1


@pytest.mark.parametrize("sweeps", [(), (sweep(300, conclusion="cancelled", results=False),)])
def test_a_run_without_results_is_not_shown(sweeps: tuple[SweepProgress, ...]) -> None:
    assert make_visualizer(POLICY, sweeps) is None


def test_a_newer_run_without_results_does_not_replace_an_older_one() -> None:
    assert "unofficialRun=300" in body(sweep(301, conclusion="cancelled", results=False), sweep(300))
    assert "unofficialRun=301" not in body(sweep(301, conclusion="cancelled", results=False), sweep(300))


def test_one_comment_from_the_first_attempt_to_the_second() -> None:
    first = make_visualizer(
        POLICY, [read_sweep(run(conclusion="failure", id=301), [row_job(1), row_job(2, "failure")], "sweep")]
    )
    again = run(attempt=2, id=301)
    second = make_visualizer(POLICY, [read_sweep(again, [row_job(1), row_job(2, attempt=2)], "sweep")])
    assert first is not None
    assert second is not None
    made = plan_edits(first, [], POLICY.identities, LIMIT)
    assert made == (Create(body=first.body(LIMIT)),)
    current = comment(first.body(LIMIT), BOT, id=1)
    assert plan_edits(second, [current], POLICY.identities, LIMIT) == (Update(id=1, body=second.body(LIMIT)),)
    after = comment(second.body(LIMIT), BOT, id=1)
    assert plan_edits(first, [after], POLICY.identities, LIMIT) == ()  # the first attempt's facts come late


@pytest.mark.parametrize(
    ("run_shown", "is_adopted"), [(299, True), (302, False)], ids=["of an older run", "of a newer run"]
)
def test_the_older_system_s_comment_is_adopted(run_shown: int, is_adopted: bool) -> None:
    text = (
        f"View unofficial run (performance): https://bench.test/inference?unofficialRun={run_shown}\n"
        f"View unofficial run (accuracy): https://bench.test/evaluation?unofficialRun={run_shown}"
    )
    sticky = make_visualizer(POLICY, [sweep(301)])
    assert sticky is not None
    edits = plan_edits(sticky, [comment(text, BOT, id=1)], POLICY.identities, LIMIT)
    assert edits == ((Update(id=1, body=sticky.body(LIMIT)),) if is_adopted else ())


def test_many_earlier_runs_are_counted_rather_than_listed() -> None:
    text = body(*(sweep(number) for number in range(300, 350)))
    assert "<summary>49 earlier runs" in text
    assert text.count("- ✅") == 20
    assert "- and 29 more" in text


def test_without_links_in_the_policy_the_state_is_still_shown() -> None:
    sticky = make_visualizer(default_policy(), [sweep(301)])
    assert sticky is not None
    assert (sticky.text or "").startswith("✅ **Finished")


REUSE = Reuse(
    run_id=300, attempt=2, url="https://github.com/acme/bench/actions/runs/300", head_sha=HEAD, pull=77
)


@pytest.mark.parametrize(
    ("reuse", "line"),
    [
        (
            replace(REUSE, coverage="40 of 40 rows"),
            "♻️ **Reused for the merge · 合并时复用** — {run}: 40 of 40 rows",
        ),
        (
            replace(REUSE, coverage="12 of 40 rows (28 missing)", is_incomplete=True),
            "⚠️ **Reused for the merge, incomplete · 合并时复用，结果不完整** — {run}: incomplete: 12 of 40 rows (28 missing)",
        ),
        (replace(REUSE, problem="its results have expired"), None),
        (Reuse(absence="no comment asks for it"), None),
    ],
)
def test_the_comment_says_which_run_is_reused_and_how_complete_it_is(reuse: Reuse, line: str | None) -> None:
    plain = body(sweep())
    sticky = make_visualizer(POLICY, [sweep()], reuse)
    assert sticky is not None
    added = set(sticky.body(LIMIT).splitlines()) - set(plain.splitlines())
    run_text = f"[run 300]({REUSE.url}), attempt 2, commit {HEAD}"
    assert added == (set() if line is None else {line.replace("{run}", run_text)})

"""The commit status `infx/sweep`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from infx.comments.progress import Counts, SweepProgress
from infx.comments.status import DesiredStatus, fit_description, make_status
from infx.errors import Problem
from infx.evidence.proof import Proof
from infx.gate.decision import Decision, GateVerdict, Reason
from infx.gate.facts import Reuse
from infx.model import CommitStatus, StatusState, User
from infx.policy.load import default_policy
from tests.builders import BOT, EVE, run, status

POLICY = default_policy()
PROBLEM = Problem(
    rule="x", message="The link is foreign. Expected this PR's.", path="perf-changelog.yaml", line=12
)


def decision(
    reason: Reason = Reason.NO_PRIMARY_LABEL, words: str = "the PR has no label", **more: Any
) -> Decision:
    return Decision(verdict=GateVerdict.IGNORE, reason=reason, words=words, group="g", **more)


NONE = Counts()


GOOD = Proof()


def reused(words: str = ": 40 of 40 rows", **fields: Any) -> Decision:
    reuse = Reuse(run_id=9, url="https://github.com/acme/bench/actions/runs/9", **fields)
    return decision(Reason.REUSED, f"the results of run 9 are reused{words}", reuse=reuse)


def sweep(conclusion: str | None, rows: Counts = NONE, evals: Counts = NONE) -> SweepProgress:
    return SweepProgress(run=run(conclusion=conclusion), rows=rows, evals=evals, swept=True)


def make(
    decided: Decision | None = None,
    swept: SweepProgress | None = None,
    problems: tuple[Problem, ...] = (),
    *,
    touched: bool | None = True,
    entries: int | None = 1,
    proof: Proof | None = GOOD,
) -> DesiredStatus:
    return make_status(
        POLICY, decided or decision(), swept, problems, touched=touched, entries=entries, proof=proof
    )


EDITS = (".github/workflows/run-sweep.yml", ".github/x")


@pytest.mark.parametrize(
    ("status", "state", "text"),
    [
        (make(touched=False), "success", "perf-changelog.yaml is untouched; nothing to run."),
        (
            make(decision(Reason.CHANGELOG_UNTOUCHED), touched=False),
            "success",
            "perf-changelog.yaml is untouched; nothing to run.",
        ),
        (make(entries=0), "success", "Only links of old entries are corrected; nothing to run."),
        (
            make(reused()),
            "success",
            "The results of run 9 are reused: 40 of 40 rows.",
        ),
        (make(), "pending", "The PR has no label."),
        (
            make(decision(Reason.APPROVAL_MISSING, "the PR comes from a fork")),
            "pending",
            "The PR comes from a fork.",
        ),
        (
            make(
                decision(Reason.MERGE_CONFLICT, "blocked by a merge conflict with main (perf-changelog.yaml)")
            ),
            "pending",
            "Blocked by a merge conflict with main (perf-changelog.yaml).",
        ),
        (make(touched=None, entries=None), "pending", "The PR has no label."),
        (
            make(decision(Reason.CONFLICTING_LABELS, "the PR has both a and b", refused=True)),
            "failure",
            "The PR has both a and b.",
        ),
        (
            make(problems=(PROBLEM,)),
            "failure",
            "perf-changelog.yaml:12: The link is foreign. Expected this PR's.",
        ),
        (
            make(swept=sweep("success"), problems=(PROBLEM,)),
            "failure",
            "perf-changelog.yaml:12: The link is foreign. Expected this PR's.",
        ),
        (make(swept=sweep(None)), "pending", "Running: no rows yet."),
        (
            make(swept=sweep(None, Counts(done=12, failed=1, running=3, waiting=24), Counts(waiting=1))),
            "pending",
            "Running: 12 of 40 rows done, 1 failed; 0 of 1 eval done.",
        ),
        (make(swept=sweep("success", Counts(done=40))), "success", "Swept: 40 of 40 rows done."),
        (make(swept=sweep("success")), "success", "Swept: nothing to run."),
        (
            make(swept=sweep("failure", Counts(done=1, failed=39))),
            "failure",
            "Failed: 1 of 40 rows done, 39 failed.",
        ),
        (
            make(swept=sweep("failure", Counts(done=12, failed=1, stopped=27))),
            "failure",
            "Failed: 12 of 40 rows done, 1 failed, 27 stopped.",
        ),
        (
            make(swept=replace(sweep("failure", Counts(done=3)), plan_was_replaced=True)),
            "failure",
            "Failed: another job replaced the plan of this run. 3 of 3 rows done.",
        ),
        (make(swept=sweep("cancelled")), "failure", "Cancelled: before a row started."),
        (
            make(swept=sweep("success", Counts(done=40)), proof=None),
            "pending",
            "Swept: 40 of 40 rows done. The plan is unknown without a clone of the repository.",
        ),
        (
            make(swept=sweep("success"), proof=Proof(gap="12 of 12 planned rows did not succeed in it")),
            "pending",
            "Swept: no rows, but 12 of 12 planned rows did not succeed in it.",
        ),
        (
            make(swept=sweep("success", Counts(done=2)), proof=Proof(edits=EDITS)),
            "pending",
            "Swept: 2 of 2 rows done. Needs `/settle sweep <reason>` by role maintain: changes to "
            ".github/workflows/run-sweep.yml and 1 more file.",
        ),
        (
            make(swept=sweep("success", Counts(done=2)), proof=Proof(edits=EDITS[1:], settled_by="amy")),
            "success",
            "Swept: 2 of 2 rows done. amy settled the changes to .github/x.",
        ),
        # a failed or running sweep needs no proof
        (make(swept=sweep("cancelled"), proof=None), "failure", "Cancelled: before a row started."),
        (make(swept=sweep(None), proof=None), "pending", "Running: no rows yet."),
        # a conflict does not change the status of a finished sweep
        (
            make(decision(Reason.MERGE_CONFLICT), sweep("success", Counts(done=1))),
            "success",
            "Swept: 1 of 1 row done.",
        ),
    ],
)
def test_state_and_words(status: DesiredStatus, state: str, text: str) -> None:
    assert (status.context, status.state, status.description) == ("infx/sweep", state, text)


def test_the_status_links_the_run() -> None:
    assert make(swept=sweep(None)).target_url == "https://github.com/acme/bench/actions/runs/900"
    assert make().target_url == ""


@pytest.mark.parametrize("length", [139, 140, 141, 5000])
def test_a_description_keeps_to_github_s_limit(length: int) -> None:
    status = make(decision(words="x" * (length - 1)))
    assert len(status.description) == min(length, 140)
    assert status.description.endswith("…" if length > 140 else "x.")


def test_line_breaks_become_blanks() -> None:
    assert fit_description("a\r\n b\u2028c\n", 140) == "a b c"


def test_4_byte_unicode_is_replaced() -> None:
    """GitHub refuses it in descriptions."""
    assert fit_description("`🚀` is wrong; ✅ 记录", 140) == "`\ufffd` is wrong; ✅ 记录"


WANTED = make()


def current(creator: User = BOT, **more: Any) -> CommitStatus:
    fields: dict[str, Any] = {
        "context": WANTED.context,
        "state": WANTED.state,
        "description": WANTED.description,
        "target_url": WANTED.target_url,
    }
    return status(**{**fields, "creator": creator, **more})


@pytest.mark.parametrize(
    ("statuses", "is_published"),
    [
        ([], False),
        ([current()], True),
        ([current(context="ci"), current()], True),
        ([current(EVE)], False),  # anyone with write access can set a status
        ([current(description="other")], False),
        ([current(state=StatusState.SUCCESS), current()], False),  # the newest comes first
        ([current(target_url="https://x.test")], False),
    ],
)
def test_a_status_is_written_only_if_the_current_one_differs(
    statuses: list[CommitStatus], is_published: bool
) -> None:
    assert WANTED.is_published(statuses, POLICY.identities) is is_published


PART = ", incomplete: 12 of 40 rows (28 missing)"
DOUBT = "its commit changed .github/workflows/run-sweep.yml"


@pytest.mark.parametrize(
    ("decided", "swept", "state", "text"),
    [
        (reused(PART), None, "success", f"The results of run 9 are reused{PART}."),
        (reused(PART), sweep("cancelled", Counts(done=12, stopped=28)), "success", f"The results of run 9 are reused{PART}."),
        (reused(PART), sweep("failure", Counts(done=12, failed=28)), "success", f"The results of run 9 are reused{PART}."),
        (reused(PART), sweep(None, Counts(done=1, running=1)), "pending", "Running: 1 of 2 rows done."),
        (reused(PART), sweep("success", Counts(done=2)), "success", "Swept: 2 of 2 rows done."),
        (reused(doubt=DOUBT), None, "pending", f"The results of run 9 are reused: 40 of 40 rows, but {DOUBT}."),
        (decision(Reason.REUSE_REFUSED, "a finished sweep was to be reused, but it has expired", refused=True), None,
         "failure", "A finished sweep was to be reused, but it has expired."),
    ],
)  # fmt: skip
def test_a_reused_sweep_counts_unless_the_head_has_a_better_one(
    decided: Decision, swept: SweepProgress | None, state: str, text: str
) -> None:
    desired = make(decided, swept)
    assert (desired.state, desired.description) == (state, text)
    is_own = text.startswith(("Running", "Swept"))
    reused_url = decided.reuse.url if decided.reuse else ""
    assert desired.target_url == (swept.run.url if swept is not None and is_own else reused_url)


def test_a_reused_follow_up_counts_with_the_rows_that_it_completes() -> None:
    """By its own jobs, it lacks the rows of the sweep that it completes."""
    own_rows = sweep("success", Counts(done=2))
    gap = Proof(gap="38 of 40 planned rows did not succeed in it")
    assert make(swept=own_rows, proof=gap).state == "pending"
    desired = make(reused(), own_rows, proof=gap)
    assert (desired.state, desired.description) == (
        "success",
        "The results of run 9 are reused: 40 of 40 rows.",
    )


def test_a_sweep_of_an_edited_workflow_stays_pending_when_it_is_reused() -> None:
    """Who may write may name a run, but only the role of the sweep check may accept edited workflows."""
    desired = make(reused(doubt=DOUBT), sweep("success", Counts(done=2)), proof=Proof(edits=EDITS))
    assert desired.state is StatusState.PENDING

"""Check that values which workflow files repeat from the policy cannot change on one side alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.gather.workflow_files import read_sources
from infx.policy.load import default_policy, parse_policy
from infx.signoff.trigger import list_trigger_words
from infx.workflows.check import check_files
from tests.conftest import ROOT

FILES = read_sources(ROOT / ".github")
POLICY = default_policy()


def find_mismatches(policy: str = "", files: dict[str, bytes] = FILES) -> list[tuple[str, str]]:
    """Return the name of the file and the message of every mismatch."""
    problems = check_files(files, parse_policy(policy.encode() or b"{}", "policy.yaml"))
    return [
        (str(problem.path).rpartition("/")[2], problem.message)
        for problem in problems
        if problem.rule == "policy-mismatch"
    ]


def test_infxs_own_files_agree_with_the_default_policy() -> None:
    assert find_mismatches() == []


CHANGES = [
    (
        "signoff: {settle-command: /decide}",
        "signoff.yml",
        "a comment with /decide, which is the policy's signoff.settle",
    ),
    ("signoff: {settle-command: /decide}", "signoff.yml", "an edit of a comment with /decide, which"),
    ("signoff: {settle-command: /decide}", "signoff.yml", "starts for a comment with '/settle', which"),
    (
        "signoff: {phrase: I have read this as an OWNER}",
        "signoff.yml",
        "with OWNER, which is the policy's signoff.phrase",
    ),
    (
        "signoff: {phrase: Reviewed and approved}",
        "signoff.yml",
        "starts for a comment with 'CODEOWNER', which",
    ),
    (
        "reuse: {commands: {/again: required}}",
        "signoff.yml",
        "with /again, which is the policy's reuse.commands",
    ),
    (
        "signoff: {relay-workflow: .github/workflows/relay.yml}",
        "signoff.yml",
        "relay.yml, which does not exist here",
    ),
    (
        "signoff: {relay-workflow: .github/workflows/ci.yml}",
        "signoff.yml",
        "workflow_run does not name ci, which",
    ),
    ("signoff: {relay-workflow: .github/workflows/run-sweep.yml}", "signoff.yml", "but no review starts it"),
    ("comments: {visualizer: {results: points}}", "sweep.yml", "No step uploads the artifact points"),
    (
        "sweep: {approve-command: /let-it-run}",
        "approve-fork.yml",
        "with /let-it-run, which is the policy's sweep.approve",
    ),
    (
        "sweep: {approve-command: /let-it-run}",
        "approve-fork.yml",
        "starts for a comment with '/approve-sweep', which",
    ),
    ("merge: {command: /land}", "merge.yml", "with /land, which is the policy's merge.command"),
    ("merge: {command: /land}", "merge.yml", "starts for a comment with '/merge', which"),
    ("sweep: {job: measure}", "run-sweep.yml", "There is no job measure"),
    (
        "sweep: {workflow: .github/workflows/x.yml}",
        "run-sweep.yml",
        "sweep.workflow is .github/workflows/x.yml, which does",
    ),
    (
        "sweep: {workflow: .github/workflows/x.yml}",
        "reconcile.yml",
        "sweep.workflow is .github/workflows/x.yml, which does",
    ),
    (
        "sweep: {workflow: .github/workflows/x.yml}",
        "signoff.yml",
        "sweep.workflow is .github/workflows/x.yml, which does",
    ),
    ("sweep: {workflow: .github/workflows/ci.yml}", "reconcile.yml", "workflow_run does not name ci, which"),
    ("base-branch: trunk", "run-sweep.yml", "pull_request excludes trunk"),
    ("base-branch: trunk", "run-sweep.yml", "push excludes trunk"),
    ("base-branch: trunk", "changelog.yml", "merge_group excludes trunk"),
    ("base-branch: trunk", "reconcile.yml", "push excludes trunk"),
    ("changelog: log.yaml", "run-sweep.yml", "push excludes log.yaml"),
    (
        "priorities: configs/p.yaml",
        "sweep.yml",
        "read from configs/ci-priority.yaml, but the policy names configs/p.yaml",
    ),
    (
        "eval-thresholds: configs/t.yaml",
        "sweep.yml",
        "read from configs/eval-thresholds.yaml, but the policy names configs/t.yaml",
    ),
    (
        "clusters: configs/c.yaml",
        "sweep.yml",
        "read from configs/clusters.yaml, but the policy names configs/c.yaml",
    ),
    (
        "runners: configs/r.yaml",
        "sweep.yml",
        "The runners are read from .infx/configs/runners.yaml, but the policy names configs/r.yaml",
    ),
]


@pytest.mark.parametrize(("change", "file", "words"), CHANGES)
def test_a_change_of_the_policy_alone_is_found(change: str, file: str, words: str) -> None:
    assert any(name == file and words in message for name, message in find_mismatches(change)), (
        find_mismatches(change)
    )


@pytest.mark.parametrize(
    ("file", "word"),
    [
        *(("signoff.yml", word) for word in list_trigger_words(POLICY)),
        *(("reconcile.yml", word) for word in POLICY.reuse.commands),
    ],
)
def test_every_word_that_starts_a_job_is_compared(file: str, word: str) -> None:
    """A word that only the policy has starts nothing; a word that only the file has is also reported."""
    path = f".github/workflows/{file}"
    text = FILES[path].decode()
    assert f"'{word}'" in text
    mismatches = find_mismatches(files={**FILES, path: text.replace(f"'{word}'", "'/other'").encode()})
    messages = [message for _, message in mismatches]
    assert sum(f"with {word}, which is the policy's" in message for message in messages) == 2
    assert sum("with '/other', which is not in the policy" in message for message in messages) == 1


COMMENT = "github.event.comment.body"
BEFORE = "github.event.changes.body.from"
SIGNOFF = """\
on:
  issue_comment: {{types: [{types}]}}
jobs:
  verify:
    runs-on: ubuntu-24.04
    {job}
    steps:
      - uses: acme/infx/.github/actions/signoff@9c091bb21b7c1c1d1991bb908d89e4e9dddfe3e0
        {step}
"""


@pytest.mark.parametrize(
    ("types", "condition", "count"),
    [
        ("created", "true", 0),
        ("created", f"contains({COMMENT}, '/')", 1),  # CODEOWNER has none
        (
            "created",
            f"contains({COMMENT}, '/') || contains({COMMENT}, 'owner')",
            0,
        ),  # lets through more than needed
        ("created", f"startsWith({COMMENT}, '/') || contains({COMMENT}, 'CodeOwner')", 0),
        ("created", f"github.event.issue.pull_request && !contains({COMMENT}, 'never')", 0),
        ("created", f"{COMMENT} != ''", 0),
        ("created", f"contains({COMMENT}, '/settle')", 3),  # the other three words do not start the job
        ("created", f"contains({COMMENT}, '/settle') && contains({COMMENT}, '/use')", 4),
        ("created", "github.event_name == 'workflow_run'", 4),
        (
            "created, edited",
            f"contains({COMMENT}, '/') || contains({COMMENT}, 'owner')",
            4,
        ),  # a word that an edit removed
        ("created, edited", f"{COMMENT} || {BEFORE}", 0),
    ],
)
def test_a_filter_of_comments_must_let_every_word_through(types: str, condition: str, count: int) -> None:
    for job, step in ((f'if: "{condition}"', ""), ("name: verify", f'if: "{condition}"')):
        text = SIGNOFF.format(types=types, job=job, step=step)
        messages = [
            message for _, message in find_mismatches(files={".github/workflows/s.yml": text.encode()})
        ]
        assert sum("does not start" in message for message in messages) == count, messages


def test_a_workflow_without_infx_actions_need_not_repeat_values() -> None:
    text = (
        "on: {push: {branches: [trunk]}, workflow_run: {workflows: [x]}}\n"
        "jobs: {a: {runs-on: ubuntu-24.04, steps: [{uses: ./.github/actions/own}]}}\n"
    )
    assert find_mismatches(files={**FILES, ".github/workflows/own.yml": text.encode()}) == []


@pytest.mark.parametrize(
    ("name", "count"), [("results_bmk", 0), ("${{ inputs.name }}", 0), ("results", 1), ("results_bmk_1", 1)]
)
def test_the_artifact_with_results_has_the_policys_name(name: str, count: int) -> None:
    path = ".github/workflows/sweep.yml"
    text = FILES[path].decode()
    assert "{name: results_bmk," in text
    changed = text.replace("{name: results_bmk,", f'{{name: "{name}",').encode()
    assert len(find_mismatches(files={**FILES, path: changed})) == count


def test_the_compared_words_come_from_all_keys_of_the_policy() -> None:
    """A new kind of word in the policy must also be in list_trigger_words, which the rule uses."""
    signoff = replace(POLICY.signoff, phrase="a b", settle_command="/c")
    assert set(list_trigger_words(replace(POLICY, signoff=signoff))) == {"b", "/c", *POLICY.reuse.commands}

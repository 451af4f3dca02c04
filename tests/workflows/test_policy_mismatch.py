"""What workflow files repeat of the policy: nothing of it can change on one side alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.cli.workflows import read_sources
from infx.policy.load import default_policy, parse_policy
from infx.signoff.trigger import list_trigger_words
from infx.workflows.check import check_files
from tests.conftest import ROOT

FILES = read_sources(ROOT / ".github")
POLICY = default_policy()


def mismatches(policy: str = "", files: dict[str, bytes] = FILES) -> list[tuple[str, str]]:
    """(name of the file, message)"""
    problems = check_files(files, parse_policy(policy.encode() or b"{}", "policy.yaml"))
    return [
        (str(problem.path).rpartition("/")[2], problem.message)
        for problem in problems
        if problem.rule == "policy-mismatch"
    ]


def test_our_files_say_what_the_default_policy_says() -> None:
    assert mismatches() == []


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
    ("base-branch: trunk", "run-sweep.yml", "pull_request leaves out trunk"),
    ("base-branch: trunk", "run-sweep.yml", "push leaves out trunk"),
    ("base-branch: trunk", "changelog.yml", "merge_group leaves out trunk"),
    ("base-branch: trunk", "reconcile.yml", "push leaves out trunk"),
    ("changelog: log.yaml", "run-sweep.yml", "push leaves out log.yaml"),
    (
        "priorities: configs/p.yaml",
        "sweep.yml",
        "read from configs/ci-priority.yaml, but the policy's are in configs/p.yaml",
    ),
]


@pytest.mark.parametrize(("change", "file", "words"), CHANGES)
def test_a_change_of_the_policy_alone_is_found(change: str, file: str, words: str) -> None:
    assert any(name == file and words in message for name, message in mismatches(change)), mismatches(change)


@pytest.mark.parametrize("word", list_trigger_words(POLICY))
def test_every_word_that_wakes_signoff_is_compared(word: str) -> None:
    """A word of the policy that the file does not know starts nothing; one that only the file knows is foreign."""
    path = ".github/workflows/signoff.yml"
    text = FILES[path].decode()
    assert f"'{word}'" in text
    found = mismatches(files={**FILES, path: text.replace(f"'{word}'", "'/other'").encode()})
    messages = [message for _, message in found]
    assert sum(f"with {word}, which is the policy's" in message for message in messages) == 2
    assert sum("with '/other', which the policy does not know" in message for message in messages) == 1


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
    ("types", "condition", "found"),
    [
        ("created", "true", 0),
        ("created", f"contains({COMMENT}, '/')", 1),  # CODEOWNER has none
        (
            "created",
            f"contains({COMMENT}, '/') || contains({COMMENT}, 'owner')",
            0,
        ),  # more than needed, all of it
        ("created", f"startsWith({COMMENT}, '/') || contains({COMMENT}, 'CodeOwner')", 0),
        ("created", f"github.event.issue.pull_request && !contains({COMMENT}, 'never')", 0),
        ("created", f"{COMMENT} != ''", 0),
        ("created", f"contains({COMMENT}, '/settle')", 3),  # the other three do not come through
        ("created", f"contains({COMMENT}, '/settle') && contains({COMMENT}, '/use')", 4),
        ("created", "github.event_name == 'workflow_run'", 4),
        (
            "created, edited",
            f"contains({COMMENT}, '/') || contains({COMMENT}, 'owner')",
            4,
        ),  # what an edit took away
        ("created, edited", f"{COMMENT} || {BEFORE}", 0),
    ],
)
def test_a_filter_of_comments_is_judged_by_what_it_lets_through(
    types: str, condition: str, found: int
) -> None:
    for job, step in ((f'if: "{condition}"', ""), ("name: verify", f'if: "{condition}"')):
        text = SIGNOFF.format(types=types, job=job, step=step)
        messages = [message for _, message in mismatches(files={".github/workflows/s.yml": text.encode()})]
        assert sum("does not start" in message for message in messages) == found, messages


def test_a_workflow_that_uses_no_action_of_ours_repeats_nothing() -> None:
    text = (
        "on: {push: {branches: [trunk]}, workflow_run: {workflows: [x]}}\n"
        "jobs: {a: {runs-on: ubuntu-24.04, steps: [{uses: ./.github/actions/own}]}}\n"
    )
    assert mismatches(files={**FILES, ".github/workflows/own.yml": text.encode()}) == []


@pytest.mark.parametrize(
    ("name", "found"), [("results_bmk", 0), ("${{ inputs.name }}", 0), ("results", 1), ("results_bmk_1", 1)]
)
def test_the_artifact_with_results_has_the_policys_name(name: str, found: int) -> None:
    path = ".github/workflows/sweep.yml"
    text = FILES[path].decode()
    assert "{name: results_bmk," in text
    changed = text.replace("{name: results_bmk,", f'{{name: "{name}",').encode()
    assert len(mismatches(files={**FILES, path: changed})) == found


def test_the_words_of_the_policy_are_those_of_all_its_keys() -> None:
    """Who adds a word to the policy adds it to list_trigger_words, by which files are compared."""
    signoff = replace(POLICY.signoff, phrase="a b", settle_command="/c")
    assert set(list_trigger_words(replace(POLICY, signoff=signoff))) == {"b", "/c", *POLICY.reuse.commands}

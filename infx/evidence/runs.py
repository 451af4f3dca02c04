"""Decide which runs may be evidence for a pull request, by workflow, repository, branch and commit."""

from __future__ import annotations

from datetime import UTC, datetime

from infx.model import PullRequest, Run, is_same_repository
from infx.policy.model import Policy

_END = datetime.max.replace(tzinfo=UTC)


def find_refusal(
    run: Run, pull: PullRequest, policy: Policy, *, approved_run: int | None = None
) -> str | None:
    """Return why a run is not evidence for a pull request, as a clause, or None if it may be evidence.

    A run may have measured an earlier head. Its rows and the changed files then decide whether it still
    counts.

    Args:
        approved_run: the run that the approval of a fork's head names.
    """
    if run.path.partition("@")[0] != policy.sweep.workflow:
        return f"it is a run of the workflow {run.path}"
    if pull.is_fork:
        return None if run.id == approved_run else "no approval of this head names it"
    match run.event:
        case "pull_request":
            return _refuse_pull_request(run, pull)
        case "workflow_dispatch":
            return _refuse_dispatch(run, pull, policy)
        case _:
            return f"the event {run.event} does not start sweeps of pull requests"


def _refuse_pull_request(run: Run, pull: PullRequest) -> str | None:
    if not is_same_repository(run.head_repository, pull.head_repository):
        return f"it belongs to the repository {run.head_repository}"
    if run.head_branch != pull.head_ref:
        return f"it belongs to the branch {run.head_branch}"
    if not pull.created_at <= run.created_at <= (pull.closed_at or _END):
        return "it ran before the pull request was opened or after it was closed"
    # GitHub lists the numbers of open pull requests only, and no numbers for a fork.
    if pull.is_open and run.pull_numbers and pull.number not in run.pull_numbers:
        return "it belongs to another pull request"
    return None


def _refuse_dispatch(run: Run, pull: PullRequest, policy: Policy) -> str | None:
    if not is_same_repository(run.head_repository, pull.base_repository):
        return f"it belongs to the repository {run.head_repository}"
    if run.head_branch not in {policy.base_branch, pull.head_ref}:
        return f"it was dispatched on the branch {run.head_branch}"
    if not run.is_dispatched_for(pull):  # a dispatch may measure any commit; only its title names the commit
        return "its title does not name this pull request and its head"
    return None

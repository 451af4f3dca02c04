"""Judge the required checks of a branch on one head, as GitHub does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum

from infx.model import (
    ACTIONS_APP,
    WORKFLOW_LOGIN,
    CheckRun,
    CommitStatus,
    Conclusion,
    RequiredCheck,
    StatusState,
)
from infx.records import record

_GOOD = {Conclusion.SUCCESS, Conclusion.SKIPPED, Conclusion.NEUTRAL}


class CheckState(IntEnum):
    """The state of a required check, the worst last."""

    GREEN = 0
    WAITING = 1
    MISSING = 2  # no report counts
    BAD = 3


@record
class CheckVerdict:
    """A required check, with its state on the head and the words for it."""

    check: RequiredCheck
    state: CheckState
    words: str


def judge_checks(
    required: Sequence[RequiredCheck],
    runs: Sequence[CheckRun],
    statuses: Sequence[CommitStatus],
    apps: Mapping[str, int],
) -> tuple[CheckVerdict, ...]:
    """Return the verdict on each required check.

    Args:
        runs, statuses: the newest of each name on the head.
        apps: the account of a status' author, in lower case → the id of its app.
    """
    return tuple(_judge(check, runs, statuses, apps) for check in required)


def _judge(
    check: RequiredCheck,
    runs: Sequence[CheckRun],
    statuses: Sequence[CommitStatus],
    apps: Mapping[str, int],
) -> CheckVerdict:
    """Judge one check. A check run and a status of the same name must both be green."""
    reports = [run for run in runs if run.name == check.context]
    own_statuses = [status for status in statuses if status.context == check.context]
    states = [
        *(_judge_run(run) for run in reports if check.app_id in {None, run.app_id}),
        *(_judge_status(status) for status in own_statuses if check.app_id in {None, find_app(status, apps)}),
    ]
    if not states:
        by = " by the app that the rule names" if reports or own_statuses else ""
        return CheckVerdict(
            check=check, state=CheckState.MISSING, words=f"{check.context} was not reported{by}"
        )
    state, words = max(states)
    return CheckVerdict(check=check, state=state, words=f"{check.context} {words}")


def _judge_run(run: CheckRun) -> tuple[CheckState, str]:
    if run.status != "completed" or run.conclusion is Conclusion.STALE or run.conclusion is None:
        return CheckState.WAITING, "has not finished"
    if run.conclusion in _GOOD:
        return CheckState.GREEN, "is green"
    return CheckState.BAD, f"ended as {run.conclusion}"


def _judge_status(status: CommitStatus) -> tuple[CheckState, str]:
    match status.state:
        case StatusState.SUCCESS:
            return CheckState.GREEN, "is green"
        case StatusState.PENDING:
            return CheckState.WAITING, "is pending"
    return CheckState.BAD, f"is {status.state}"


def find_app(status: CommitStatus, apps: Mapping[str, int]) -> int | None:
    """Return the id of the app that set a status; None for a person or an unknown app."""
    login = status.creator.login.lower()
    return ACTIONS_APP if login == WORKFLOW_LOGIN else apps.get(login)


def list_unknown_apps(
    required: Sequence[RequiredCheck], statuses: Sequence[CommitStatus], apps: Mapping[str, int]
) -> Iterator[str]:
    """Yield the apps' accounts whose ids decide whether a status counts, and are not known yet."""
    bound = {check.context for check in required if check.app_id is not None}
    for status in statuses:
        login = status.creator.login.lower()
        if status.context in bound and login.endswith("[bot]") and find_app(status, apps) is None:
            yield login

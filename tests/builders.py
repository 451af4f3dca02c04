"""Build values of `infx.model` for pull request 77 of acme/bench, by cody.

A builder accepts every field of its value as a keyword; all times are relative to NOW.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from infx.model import (
    Collaborator,
    Comment,
    CommentKind,
    CommitStatus,
    Conclusion,
    Job,
    PullRequest,
    Run,
    StatusState,
    User,
    UserType,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HEAD, BASE, OLD = "a" * 40, "b" * 40, "c" * 40
REPOSITORY, WORKFLOW = "acme/bench", ".github/workflows/run-sweep.yml"
WEB = f"https://github.com/{REPOSITORY}"


def user(login: str) -> User:
    """Return a user, or an app if the login ends in `[bot]`."""
    return User(login=login, type=UserType.BOT if login.endswith("[bot]") else UserType.USER)


BOT, APP, EVE = user("github-actions[bot]"), user("bench-bot[bot]"), user("eve")


def pull(**fields: Any) -> PullRequest:
    defaults: dict[str, Any] = {
        "number": 77, "title": "Newer image", "body": "", "author": user("cody"), "labels": (),
        "is_open": True, "is_merged": False, "is_draft": False, "mergeable": True, "base_ref": "main",
        "base_sha": BASE, "head_ref": "feat-x", "head_sha": HEAD, "head_repository": REPOSITORY,
        "base_repository": REPOSITORY, "changed_files": 2, "commits": 2, "updated_at": NOW,
        "created_at": NOW - timedelta(days=1),
    }  # fmt: skip
    return PullRequest(**{**defaults, **fields})


def comment(body: str = "hi", author: User | str = "noor", **fields: Any) -> Comment:
    defaults: dict[str, Any] = {
        "id": 555, "kind": CommentKind.ISSUE, "created_at": NOW, "updated_at": NOW, "pull_number": 77,
        "url": f"{WEB}/pull/77#issuecomment-{fields.get('id', 555)}",
    }  # fmt: skip
    who = user(author) if isinstance(author, str) else author
    return Comment(body=body, author=who, **{**defaults, **fields})


def person(login: str = "noor", role: str = "write", **fields: Any) -> Collaborator:
    """Return a collaborator with the permission that GitHub reports for a role; maintain is reported as write."""
    permission = {"maintain": "write", "triage": "read", "custom": "write"}.get(role, role)
    return Collaborator(**{"login": login, "permission": permission, "role": role, **fields})


def run(conclusion: str | None = "success", **fields: Any) -> Run:
    defaults: dict[str, Any] = {
        "id": 900, "attempt": 1, "path": WORKFLOW, "event": "pull_request", "head_sha": HEAD,
        "status": "completed" if conclusion else "in_progress", "head_branch": "feat-x",
        "head_repository": REPOSITORY, "url": f"{WEB}/actions/runs/{fields.get('id', 900)}",
        "created_at": NOW - timedelta(hours=5), "updated_at": NOW - timedelta(hours=1),
    }  # fmt: skip
    return Run(conclusion=Conclusion(conclusion) if conclusion else None, **{**defaults, **fields})


def job(name: str, conclusion: str | None = "success", *, at: int = 0, **fields: Any) -> Job:
    """Return a job that took half a minute. at: its start, in minutes after NOW."""
    started = NOW + timedelta(minutes=at)
    number = fields.get("id", 1)
    defaults: dict[str, Any] = {
        "id": number, "run_id": 900, "attempt": 1, "started_at": started,
        "status": "completed" if conclusion else "in_progress",
        "completed_at": started + timedelta(seconds=30) if conclusion else None,
        "url": f"{WEB}/actions/runs/900/job/{number}",
    }  # fmt: skip
    kind = Conclusion(conclusion) if conclusion else None
    return Job(name=name, conclusion=kind, **{**defaults, **fields})


def row_job(
    index: int, conclusion: str | None = "success", family: str = "single-node 8k1k", **fields: Any
) -> Job:
    """Return the job of a row. index: the number that its id is made from."""
    name = f"sweep / rows / {index:012x} · {family} · h200 · p1 | m1 fp8 h200 c4"
    return job(name, conclusion, **fields)


def status(context: str = "infx/sweep", **fields: Any) -> CommitStatus:
    defaults: dict[str, Any] = {
        "state": StatusState.SUCCESS, "description": "", "target_url": "", "creator": BOT, "created_at": NOW,
    }  # fmt: skip
    return CommitStatus(context=context, **{**defaults, **fields})

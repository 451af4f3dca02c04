"""Comments, runs and jobs for tests, with the few fields that matter."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from infx.model import GHOST, Comment, CommentKind, Conclusion, Job, Run, User, UserType

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
HEAD = "a" * 40
BOT = User(login="github-actions[bot]", type=UserType.BOT)
APP = User(login="bench-bot[bot]", type=UserType.BOT)
EVE = User(login="eve")


def comment(number: int, body: str = "hi", author: User = EVE, **more: Any) -> Comment:
    fields: dict[str, Any] = {
        "kind": CommentKind.ISSUE,
        "created_at": NOW,
        "updated_at": NOW,
        "url": "",
        "pull_number": 77,
    }
    return Comment(id=number, body=body, author=author, **{**fields, **more})


def run(number: int = 300, *, attempt: int = 1, conclusion: str | None = "success", **more: Any) -> Run:
    fields: dict[str, Any] = {
        "path": ".github/workflows/run-sweep.yml",
        "event": "pull_request",
        "status": "completed" if conclusion else "in_progress",
        "head_sha": HEAD,
        "head_branch": "feat-x",
        "head_repository": "acme/bench",
        "url": f"https://github.com/acme/bench/actions/runs/{number}",
        "created_at": NOW,
        "updated_at": NOW,
        "actor": GHOST,
    }
    kind = Conclusion(conclusion) if conclusion else None
    return Run(id=number, attempt=attempt, conclusion=kind, **{**fields, **more})


def job(
    name: str, conclusion: str | None = "success", *, status: str | None = None, attempt: int = 1, at: int = 0
) -> Job:
    """at: minutes after NOW at which it started; it took less than one."""
    started = NOW + timedelta(minutes=at)
    return Job(
        id=1,
        run_id=300,
        attempt=attempt,
        name=name,
        status=status or ("completed" if conclusion else "in_progress"),
        conclusion=Conclusion(conclusion) if conclusion else None,
        url="",
        started_at=started,
        completed_at=started + timedelta(seconds=30) if conclusion else None,
    )


def row(index: int, conclusion: str | None = "success", family: str = "single-node 8k1k", **more: Any) -> Job:
    return job(f"sweep / rows / {index:012x} · {family} · h200 · p1 | m1 fp8 h200 c4", conclusion, **more)

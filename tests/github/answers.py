"""Answers of GitHub, cut down to what the client reads."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from infx.model import GHOST, PullRequest

T0 = "2026-11-30T12:00:00Z"
WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
WEB = "https://github.com/acme/bench/pull"
API = "https://api.github.com/repos/acme/bench"


def pull(**more: Any) -> PullRequest:
    given = PullRequest(
        number=77,
        title="t",
        body="",
        author=GHOST,
        labels=(),
        is_open=True,
        is_merged=False,
        is_draft=False,
        mergeable=True,
        base_ref="main",
        base_sha="b" * 40,
        head_ref="feat-x",
        head_sha="a" * 40,
        head_repository="acme/bench",
        base_repository="acme/bench",
        changed_files=1,
        commits=1,
        updated_at=WHEN,
        created_at=WHEN,
    )
    return replace(given, **more)


def issue_comment(number: int, *, on: int = 77, **more: Any) -> dict[str, Any]:
    about = {"id": number, "user": {"login": "cody", "type": "User"}, "body": "hi"}
    times = {"created_at": T0, "updated_at": T0}
    return {**about, **times, "html_url": WEB, "issue_url": f"{API}/issues/{on}", **more}


def review(number: int, *, on: int = 77, **more: Any) -> dict[str, Any]:
    about = {"id": number, "user": {"login": "amy", "type": "User"}, "body": "fine", "state": "APPROVED"}
    place = {"pull_request_url": f"{API}/pulls/{on}", "html_url": WEB, "commit_id": "a" * 40}
    return {**about, **place, "submitted_at": T0, **more}


def review_comment(number: int, *, on: int = 77) -> dict[str, Any]:
    about = {"id": number, "user": {"login": "amy", "type": "User"}, "body": "here", "path": "a.md"}
    place = {"pull_request_url": f"{API}/pulls/{on}", "html_url": WEB, "commit_id": "a" * 40}
    return {**about, **place, "created_at": T0, "updated_at": T0}

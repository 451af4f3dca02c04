"""Answers of GitHub, cut down to what the client reads."""

from __future__ import annotations

from typing import Any

T0 = "2026-11-30T12:00:00Z"
WEB = "https://github.com/acme/bench/pull"
API = "https://api.github.com/repos/acme/bench"


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

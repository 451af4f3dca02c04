"""Let another process on this machine act as GitHub Actions: add runs, jobs and artifacts, make tokens, read events.

These requests are not part of GitHub's API, so they count neither in the log nor for rate limits.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from infx.hub.exchange import Answer, Incoming
from infx.hub.refusal import Refused
from infx.hub.service import Service

PREFIX = "/_play/"
HERE = ("127.0.0.1", "localhost", "::1")  # the names of this machine
# Every request must have this header, and this machine as its host. Programs can send both, but web pages cannot: a
# browser asks the hub first, and the hub does not answer. No secret is needed, because the hub's tokens are not secret either.
HEADER = "x-infx-play"

_Operation = Callable[[Service, Mapping[str, Any]], Any]


def _describe(hub: Service, _: Mapping[str, Any]) -> Any:
    return {"repository": hub.repository, "branch": hub.branch, "git-path": str(hub.git_path)}


def _count(hub: Service, _: Mapping[str, Any]) -> Any:
    return {"reads": hub.reads, "writes": hub.writes}


def _find_pulls(hub: Service, _: Mapping[str, Any]) -> Any:
    return sorted(hub.state.pulls)


def _find_commits(hub: Service, body: Mapping[str, Any]) -> Any:
    return hub.find_commits(body["number"])


def _find_events(hub: Service, body: Mapping[str, Any]) -> Any:
    return [dataclasses.asdict(event) for event in hub.find_events(body["number"])]


def _make_token(hub: Service, body: Mapping[str, Any]) -> Any:
    login = body["login"]
    make = hub.workflow_token if login is None else lambda scopes: hub.app_token(login, scopes)
    return make(body["permissions"])


def _add_run(hub: Service, body: Mapping[str, Any]) -> Any:
    return hub.add_run(body["workflow"], pull=body["pull"], by=body["by"]).id


def _add_job(hub: Service, body: Mapping[str, Any]) -> Any:
    return hub.add_job(body["run"], body["name"], conclusion=body["conclusion"], runner=body["runner"]).id


def _add_artifact(hub: Service, body: Mapping[str, Any]) -> Any:
    files = {name: base64.b64decode(data) for name, data in body["files"].items()}
    return hub.add_artifact(body["run"], body["name"], files).id


def _cancel_others(hub: Service, body: Mapping[str, Any]) -> Any:
    hub.cancel_others(body["run"], body["number"])


_OPERATIONS: Mapping[str, _Operation] = {
    "describe": _describe,
    "count": _count,
    "find-pulls": _find_pulls,
    "find-commits": _find_commits,
    "find-events": _find_events,
    "make-token": _make_token,
    "add-run": _add_run,
    "finish-run": lambda hub, body: hub.finish_run(body["run"], body["conclusion"]).id,
    "cancel-others": _cancel_others,
    "add-job": _add_job,
    "finish-job": lambda hub, body: hub.finish_job(body["job"], body["conclusion"]).id,
    "add-artifact": _add_artifact,
}


def respond_to_play(hub: Service, incoming: Incoming) -> Answer:
    """Return the answer to an operation: its result as JSON, 400 for wrong arguments, 403 for a web page, or 404."""
    operation = _OPERATIONS.get(incoming.path.removeprefix(PREFIX))
    if operation is None or incoming.method != "POST":
        return Answer(status=404, data={"message": "Not Found"})
    if HEADER not in incoming.headers:
        return Answer(status=403, data={"message": f"The header {HEADER} is missing."})
    if not _names_this_machine(incoming.headers.get("host", "")):
        return Answer(status=403, data={"message": "The request is for another host."})
    try:
        body = json.loads(incoming.raw)
        with hub.lock:
            hub.sync()
            return Answer(data=operation(hub, body))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        return Answer(status=400, data={"message": f"{type(error).__name__}: {error}"})
    except Refused as refused:
        return Answer(status=400, data={"message": refused.message})


def _names_this_machine(host: str) -> bool:
    """Return whether a request is for this machine by name; a web page whose name leads here sends its own name."""
    try:
        return urlsplit(f"//{host}").hostname in HERE
    except ValueError:
        return False

"""What the token of each job may do, as GitHub works it out; act gives one token to all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx import yaml12
from infx.hub.tokens import WORKFLOW_SCOPES

Permissions = Mapping[str, str]  # as workflows spell them; what is missing is none

_RANK = {"none": 0, "read": 1, "write": 2}
# Of a repository that does not open its tokens more than GitHub does by itself.
_DEFAULT: Permissions = {"contents": "read", "packages": "read"}


@dataclass(frozen=True, kw_only=True)
class JobPermissions:
    """workflow: its name, which act tells the steps of a called one as well. job: its id there."""

    workflow: str
    job: str
    permissions: Permissions


def find_permissions(workflows: Path, file: str, *, of_fork: bool = False) -> list[JobPermissions]:
    """Of every job of a workflow and of those that it calls. of_fork: whatever they ask for, they only read.

    Raises AssertionError for a called job that asks for more than its caller grants: GitHub starts no such run.
    """
    found = list(_walk(workflows, file, None))
    if of_fork:
        found = [
            JobPermissions(
                workflow=one.workflow,
                job=one.job,
                permissions={scope: min(access, "read") for scope, access in one.permissions.items()},
            )
            for one in found
        ]
    return found


def _walk(workflows: Path, file: str, granted: Permissions | None) -> Iterator[JobPermissions]:
    path = workflows / file
    value = yaml12.load(path.read_bytes(), file).value
    for job, body in value["jobs"].items():
        asked = _parse(body.get("permissions", value.get("permissions")))
        own = (_DEFAULT if granted is None else granted) if asked is None else asked
        _check_within(own, granted, f"{file}: {job}")
        callee = body.get("uses")
        if callee is None:
            yield JobPermissions(workflow=value["name"], job=job, permissions=own)
        else:
            yield from _walk(workflows, callee.rsplit("/", 1)[-1], own)


def _parse(value: Any) -> Permissions | None:
    if isinstance(value, str):
        return dict.fromkeys(WORKFLOW_SCOPES, value.removesuffix("-all"))
    return value if value is None else dict(value)


def _check_within(asked: Permissions, granted: Permissions | None, where: str) -> None:
    for scope, access in asked.items():
        limit = "write" if granted is None else granted.get(scope, "none")
        assert _RANK[access] <= _RANK[limit], f"{where} asks for {scope}: {access}, its caller grants {limit}"

"""Find the permissions of each job's token, as GitHub does; act gives the same token to all jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from infx import yaml12
from infx.hub.tokens import WORKFLOW_SCOPES

Permissions = Mapping[str, str]  # as in workflows; a missing scope means none

_RANK = {"none": 0, "read": 1, "write": 2}
# GitHub's default for the permissions of workflows.
_DEFAULT: Permissions = {"contents": "read", "packages": "read"}


@dataclass(frozen=True, kw_only=True)
class JobPermissions:
    """The permissions of a job."""

    workflow: str  # the name of the workflow, which act also passes to steps of a called workflow
    job: str  # the job's id in the workflow
    permissions: Permissions


def find_permissions(workflows: Path, file: str, *, is_fork: bool = False) -> list[JobPermissions]:
    """Return the permissions of all jobs of a workflow and of the workflows that it calls; a fork's jobs only read.

    Raises:
        AssertionError: a called job has more permissions than its caller grants. GitHub does not start such a run.
    """
    jobs = list(_walk(workflows, file, None))
    if is_fork:
        jobs = [
            JobPermissions(
                workflow=job.workflow,
                job=job.job,
                permissions={scope: min(access, "read") for scope, access in job.permissions.items()},
            )
            for job in jobs
        ]
    return jobs


def _walk(workflows: Path, file: str, granted: Permissions | None) -> Iterator[JobPermissions]:
    path = workflows / file
    value = yaml12.load(path.read_bytes(), file).value
    for job, body in value["jobs"].items():
        requested = _parse(body.get("permissions", value.get("permissions")))
        permissions = (_DEFAULT if granted is None else granted) if requested is None else requested
        _check_within(permissions, granted, f"{file}: {job}")
        callee = body.get("uses")
        if callee is None:
            yield JobPermissions(workflow=value["name"], job=job, permissions=permissions)
        else:
            yield from _walk(workflows, callee.rsplit("/", 1)[-1], permissions)


def _parse(value: Any) -> Permissions | None:
    if isinstance(value, str):
        return dict.fromkeys(WORKFLOW_SCOPES, value.removesuffix("-all"))
    return value if value is None else dict(value)


def _check_within(requested: Permissions, granted: Permissions | None, where: str) -> None:
    for scope, access in requested.items():
        limit = "write" if granted is None else granted.get(scope, "none")
        assert _RANK[access] <= _RANK[limit], f"{where} asks for {scope}: {access}, its caller grants {limit}"

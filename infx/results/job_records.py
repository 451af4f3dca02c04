"""The records that jobs leave along with their results: `job_event.json`, as the row file writes it. They are untrusted."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, ReadArtifact, read_json
from infx.rowfile.record import RECORD, SCHEMA

MAX_BYTES = 100_000  # of one record
MAX_EVENTS = 20_000
MAX_TEXT = 500  # characters of a text
MAX_EVIDENCE = 20  # lines
OTHER_CAUSES = ("infrastructure", "cancelled")  # than the benchmark


@record
class JobError:
    """The first error of a job.

    Attributes:
        cause: `benchmark`, `infrastructure` or `cancelled`; empty in records of older plans.
    """

    stage: str
    type: str
    message: str
    exit_code: int | None
    retriable: bool
    evidence: tuple[str, ...] = ()
    cause: str = ""

    def __str__(self) -> str:
        cause = f" ({self.cause})" if self.cause in OTHER_CAUSES else ""
        return f"{self.stage}: {self.message.rstrip('.')}{cause}"


@record
class JobEvent:
    """The record of a job."""

    artifact: str  # that holds it
    values: dict[str, Any]  # the JSON object
    error: JobError | None = None


def find_event(artifact: ReadArtifact) -> JobEvent | None:
    """Return the record of an artifact; None without one, or if it is unreadable: it only explains, so it fails nothing."""
    file = next((file for file in artifact.files if file.path == RECORD), None)
    if file is None or len(file.data) > MAX_BYTES:
        return None
    try:
        values = read_json(file)
    except JsonFaultError:
        return None
    if not isinstance(values, dict) or values.get("schema") != SCHEMA:
        return None
    return JobEvent(artifact=artifact.name, values=values, error=_parse_error(values.get("error")))


def is_record(file: ArtifactFile) -> bool:
    return file.path == RECORD


def _parse_error(value: object) -> JobError | None:
    if not isinstance(value, dict):
        return None
    stage, kind, message = (_parse_text(value.get(name)) for name in ("stage", "type", "message"))
    code, evidence = value.get("exit_code"), value.get("evidence")
    if not stage or not message:
        return None
    return JobError(
        stage=stage,
        type=kind,
        message=message,
        exit_code=code if isinstance(code, int) and not isinstance(code, bool) else None,
        retriable=value.get("retriable") is True,
        cause=_parse_text(value.get("cause")),
        evidence=tuple(map(_parse_text, evidence[:MAX_EVIDENCE])) if isinstance(evidence, list) else (),
    )


def _parse_text(value: object) -> str:
    return value[:MAX_TEXT] if isinstance(value, str) else ""


def render_events(events: Iterable[JobEvent]) -> str:
    """Return a line of JSON for each record."""
    lines = [json.dumps({"artifact": event.artifact, **event.values}) + "\n" for event in events]
    return "".join(lines[:MAX_EVENTS])

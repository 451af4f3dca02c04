"""What the job that reads artifacts hands over to the job that writes: validated JSON, and nothing else.

The reading job holds no token that writes, because it opens what pull requests have uploaded. The writing job compares the
file's SHA-256 with the output of the reading job, because any job of a run could have replaced the artifact.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from infx.errors import InfxError, UsageError
from infx.publish.decide import OPENINGS, PublishReason, PublishVerdict
from infx.records import record
from infx.results.artifact import ArtifactFile, JsonFaultError, read_json
from infx.saved import dump_json, parse_json

MAX_BYTES = 200_000_000  # of the whole file
MAX_ROWS = 100_000


@record
class ValidatedRow:
    """A throughput result that was compared with the plan.

    Attributes:
        run, attempt: where it was measured, which for a follow-up sweep may be an earlier run.
        commit: the measured commit.
        result: the row as JSON text, as its script wrote it.
    """

    row_id: str
    run: int
    attempt: int
    commit: str
    measured_at: datetime
    result: str

    def parse_result(self) -> dict[str, Any]:
        """Return the values of the row. Raises JsonFaultError."""
        values = read_json(ArtifactFile(path="result", data=self.result.encode()))
        if not isinstance(values, dict):
            raise JsonFaultError("it is not a mapping")
        return values


@record
class ValidatedMerge:
    """The decision about one merge, and its validated results.

    Attributes:
        words, fix: the reason as a clause, and what to do as a sentence.
        run, attempt, run_url: the source run; None and empty if there is none.
        origin: how its results became official.
        is_agentic: the merge plans AgentX throughput rows.
        coverage: how much of the merge's plan is published, as a noun phrase; empty if all of it.
        accuracy: how many accuracy results were validated.
        problems: what is wrong with the artifacts.
    """

    sha: str
    verdict: PublishVerdict
    reason: PublishReason
    words: str
    fix: str = ""
    pull: int | None = None
    run: int | None = None
    attempt: int = 1
    run_url: str = ""
    origin: str = ""
    is_agentic: bool = False
    coverage: str = ""
    accuracy: int = 0
    problems: tuple[str, ...] = ()
    rows: tuple[ValidatedRow, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the decision and what to do about it, for people."""
        name = f"{self.sha[:12]}{f' (#{self.pull})' if self.pull else ''}"
        part = f", incomplete: {self.coverage}" if self.coverage else ""
        return f"{name}: {OPENINGS[self.verdict]}: {self.words}{part}. {self.fix}".rstrip()


@record
class Handover:
    """The merges of one push.

    Attributes:
        repository: `owner/name`.
        run: the run that has read the artifacts, and that holds the merges' changelog entries; None outside Actions.
        base, head: the commits between which the changelog gained the entries; empty without a merge.
    """

    repository: str
    run: int | None
    base: str
    head: str
    merges: tuple[ValidatedMerge, ...]


def render_handover(handover: Handover) -> bytes:
    """Return the file. Raises InfxError if it is too large for the reader."""
    data = dump_json(handover).encode()
    if len(data) > MAX_BYTES or sum(len(merge.rows) for merge in handover.merges) > MAX_ROWS:
        raise InfxError(
            f"The results of this push are too many to be published at once: {len(data):,} bytes.",
            hint="Publish each merge of the push with --sha.",
        )
    return data


def hash_handover(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def parse_handover(data: bytes, path: str, *, digest: str, repository: str) -> Handover:
    """Return a handover. Raises UsageError unless it is the file that the reading job wrote for this repository."""
    if (actual := hash_handover(data)) != digest:
        raise UsageError(
            f"The file is not the one that was validated: its SHA-256 is {actual}, expected {digest}.",
            hint="A job of this run has replaced the artifact. Look at its jobs, then run the whole workflow again.",
            where=path,
        )
    handover = parse_json(Handover, data, path)
    if handover.repository.lower() != repository.lower():
        raise UsageError(f"The file is for {handover.repository}, not for {repository}.", where=path)
    return handover


def render_metadata(base: str, head: str, entries: list[Any]) -> bytes:
    """Return the changelog entries of a push as existing tools read them from the artifact `changelog-metadata`."""
    metadata = {"base_ref": base, "head_ref": head, "entries": entries}
    return (json.dumps(metadata, ensure_ascii=False, indent=1) + "\n").encode()

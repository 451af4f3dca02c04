"""The answer to whether a finished sweep serves as a merge's sweep."""

from __future__ import annotations

from enum import StrEnum

from infx.model import Run
from infx.records import record
from infx.reuse.command import ReuseCommand
from infx.reuse.coverage import Coverage


class ReuseVerdict(StrEnum):
    """What happens to the request."""

    REUSE = "reuse"
    REFUSED = "refused"  # reuse is authorized, and no run can be used
    NOTHING = "nothing"  # reuse is not asked for, or the event has nothing to do with it


class ReuseReason(StrEnum):
    """Why, as one word for programs."""

    OTHER_EVENT = "other-event"
    OTHER_ACTION = "other-action"
    OTHER_BASE = "other-base"
    NO_PULL = "no-pull-request"
    SEVERAL_PULLS = "several-pull-requests"
    NOT_AUTHORIZED = "not-authorized"
    NO_ROWS = "no-rows"
    EXCLUDING_LABEL = "excluding-label"
    NOT_MERGED = "not-merged"
    RUN_NOT_FOUND = "run-not-found"
    OTHER_WORKFLOW = "other-workflow"
    NOT_COMPLETED = "not-completed"
    CONCLUSION = "conclusion"
    NO_HEAD = "no-head"
    OTHER_PULL = "other-pull-request"
    NOT_IN_PULL = "not-in-pull-request"
    COMMITS_UNKNOWN = "commits-unknown"
    NO_RESULTS = "no-results"
    QUALIFICATION = "qualification"
    OTHER_PLAN = "other-plan"
    NEEDS_PIN = "needs-pin"
    NO_SUITABLE_RUN = "no-suitable-run"
    COVERAGE_PARTIAL = "coverage-partial"
    COVERAGE_UNKNOWN = "coverage-unknown"
    PINNED = "pinned"
    NEWEST = "newest"


_OPENINGS = {
    ReuseVerdict.REUSE: "A finished sweep is reused",
    ReuseVerdict.REFUSED: "No finished sweep is reused",
    ReuseVerdict.NOTHING: "There is nothing to reuse",
}


@record
class SourceFault:
    """Why a run is not the source.

    Attributes:
        words: a clause whose subject is the run, such as `it has no results`.
        helps_to_pin: a command that names the run would be accepted.
    """

    reason: ReuseReason
    words: str
    helps_to_pin: bool = False


@record
class PassedRun:
    """A run that was looked at and is not the source."""

    run: Run
    fault: SourceFault


@record
class ReuseDecision:
    """Whether a finished sweep serves as the merge's sweep, and why.

    Attributes:
        verdict: what happens.
        reason: why, for programs.
        words: why, as a clause.
        fix: what to do, as a sentence; empty if there is nothing to do.
        pin: the command that names the run that came closest; empty unless it would be accepted.
        pull: number of the pull request.
        command: the command that counts, with its author and comment; None without an authorized one.
        source: the run that is reused; None unless the verdict is `reuse`.
        coverage: of the source, or of the run that came closest; None if unknown.
        edits: workflows and policy files that the source's commit changed; only a named run may have any.
        passed_over: the other runs that were looked at, newest first.
    """

    verdict: ReuseVerdict
    reason: ReuseReason
    words: str
    fix: str = ""
    pin: str = ""
    pull: int | None = None
    command: ReuseCommand | None = None
    source: Run | None = None
    coverage: Coverage | None = None
    edits: tuple[str, ...] = ()
    passed_over: tuple[PassedRun, ...] = ()

    @property
    def is_incomplete(self) -> bool:
        """Return whether a run is reused that does not, or may not, cover the whole plan."""
        return self.source is not None and (self.coverage is None or not self.coverage.is_complete)

    @property
    def sentence(self) -> str:
        """Return the decision and what to do about it, for people."""
        opening = _OPENINGS[self.verdict]
        if self.source is not None and self.command is not None:
            author = self.command.comment.author.login
            opening = f"Run {self.source.id} is reused, as {author} asked"
        return f"{opening}: {self.words}. {self.fix}".rstrip()

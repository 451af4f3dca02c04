"""The policy as typed values: every name, number and rule that a repository may choose for itself.

One dataclass for each section of the file; field names are the file's keys with `_` for `-`. Defaults stand in
`default.yaml` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from infx.policy.changelog import PrLink
from infx.policy.evals import EvalProfile
from infx.policy.results import ResultRules
from infx.policy.reuse import ReusePolicy
from infx.policy.signoff import SignoffPolicy


class SweepScope(StrEnum):
    FULL = "full"
    TRIMMED = "trimmed"


@dataclass(frozen=True, kw_only=True)
class PrimaryLabel:
    """A label that starts a sweep."""

    scope: SweepScope
    canary: bool
    fail_fast: bool
    recommended: bool = False


class Effect(StrEnum):
    ALL_EVALS = "all-evals"
    EVALS_ONLY = "evals-only"
    FAST = "fast"


@dataclass(frozen=True, kw_only=True)
class ModifierLabel:
    """A label that changes what a sweep does; `reusable`: whether its results may stand for a merge's."""

    effect: Effect
    reusable: bool


@dataclass(frozen=True, kw_only=True)
class Labels:
    """Replaced as a whole: a repository that gives its own labels has no others."""

    primary: Mapping[str, PrimaryLabel]
    modifiers: Mapping[str, ModifierLabel] = field(default_factory=lambda: MappingProxyType({}))
    control: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.primary, *self.modifiers, *self.control))


@dataclass(frozen=True, kw_only=True)
class Contexts:
    """Names of our commit statuses: whether a head was swept, and which revision of a fork may be."""

    sweep: str
    approval: str


@dataclass(frozen=True, kw_only=True)
class SweepPolicy:
    """How sweeps appear on GitHub.

    skip_marker: in a head commit's subject, or on a line of its own, it keeps that commit from starting a sweep.
    workflow, job: the file of the workflow, and the job in it that calls the sweep. contexts: commit statuses.
    approve_command: first word of the comment that approves a fork's revision.
    row_command: what a row's job runs, as program and arguments; `infx row env` prints its environment.
    row_minutes: how long it may run.
    """

    skip_marker: str
    workflow: str
    job: str
    contexts: Contexts
    approve_command: str
    row_command: tuple[str, ...]
    row_minutes: int

    @property
    def workflow_file(self) -> str:
        """The name by which GitHub's API knows a workflow."""
        return self.workflow.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class Greeting:
    """Said once on a pull request that touches benchmarks.

    adopt: how the greetings of an older system begin; they count as ours. codeowners, checklist: files that the
    text links. phrase: how a sign-off's first sentence begins, in English whatever the language around it.
    """

    marker: str
    phrase: str
    codeowners: str
    checklist: str
    adopt: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ResultLink:
    """Where a run's results can be looked at. url: `{run}` stands for the run's number. short: in lists."""

    text: str
    short: str
    url: str


@dataclass(frozen=True, kw_only=True)
class Visualizer:
    """The comment that follows a pull request's newest sweep.

    results: name of the artifact that a sweep with results leaves behind.
    """

    marker: str
    results: str
    links: tuple[ResultLink, ...] = ()
    adopt: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Notices:
    """Why nothing runs. marker: `{cause}` stands for the reason; there is one comment for each."""

    marker: str


class Language(StrEnum):
    ENGLISH = "en"
    CHINESE = "zh"


@dataclass(frozen=True, kw_only=True)
class Comments:
    """What the bot says. paths: globs of files whose pull requests it speaks on, besides the changelog and the
    master configurations. languages: in which, in this order; at least one.
    """

    languages: tuple[Language, ...]
    paths: tuple[str, ...]
    greeting: Greeting
    visualizer: Visualizer
    notices: Notices


class Drafts(StrEnum):
    ALLOW = "allow"
    IGNORE = "ignore"


class OnMerge(StrEnum):
    NOTHING = "nothing"
    REUSE = "reuse"
    REUSE_OR_SWEEP = "reuse-or-sweep"


@dataclass(frozen=True, kw_only=True)
class WorkflowsPolicy:
    """required_checks: names of jobs that branch rules wait for. runner_boundary: what keeps a pull request's own
    workflow off the GPU runners, in words (a runner group with selected workflows, approval for every outsider).
    """

    required_checks: tuple[str, ...] = ()
    runner_boundary: str | None = None


@dataclass(frozen=True, kw_only=True)
class Canary:
    """pools: lists of job families; the canary comes from the first list that has a row."""

    pools: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class Estimates:
    """Minutes. start_up: image, weights and server of any job. fixed, evaluation: one concurrency. agentic_overhead:
    one concurrency beside the replay itself.
    """

    start_up: float
    fixed: float
    agentic_overhead: float
    evaluation: float


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Where GitHub stops, or where we choose to stop before it.

    matrix_rows: jobs of one matrix. output_characters: all outputs of a job, counted in UTF-16.
    environment_bytes: one environment string or argument. comment_characters, status_characters:
    one of each. api_requests: of one command. queue_hours: a job waits at most.
    """

    matrix_rows: int
    output_characters: int
    environment_bytes: int
    comment_characters: int
    status_characters: int
    api_requests: int
    queue_hours: int


@dataclass(frozen=True, kw_only=True)
class Policy:
    """repository, former_names: `owner/name`; links to a former name stay valid in history.

    Paths are relative to the repository. golden_al is a folder; models, eval_thresholds, golden_al and priorities
    may be missing.
    """

    base_branch: str
    changelog: str
    master_configs: tuple[str, ...]
    runners: str
    models: str
    eval_thresholds: str
    golden_al: str
    priorities: str
    identities: tuple[str, ...]
    labels: Labels
    evals: Mapping[str, EvalProfile]
    sweep: SweepPolicy
    pr_link: PrLink
    comments: Comments
    drafts: Drafts
    on_merge: OnMerge
    canary: Canary
    estimates: Estimates
    results: ResultRules
    limits: Limits
    workflows: WorkflowsPolicy
    reuse: ReusePolicy
    signoff: SignoffPolicy
    repository: str | None = None
    former_names: tuple[str, ...] = ()

    @property
    def publisher(self) -> tuple[str, ...]:
        """The first identity, which publishes. What carries trust (verdicts, approvals, statuses) counts from it alone:
        as another one a branch's own workflow may write.
        """
        return self.identities[:1]

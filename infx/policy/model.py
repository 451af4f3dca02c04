"""The policy as typed values: every name, number and rule that a repository may choose for itself.

Each section of the file has a dataclass, whose field names are the file's keys with `_` for `-`. All defaults are in
`default.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from types import MappingProxyType

from infx.policy.changelog import PrLink
from infx.policy.evals import EvalProfile
from infx.policy.merge import MergePolicy
from infx.policy.publish import PublishPolicy
from infx.policy.results import ResultRules
from infx.policy.reuse import ReusePolicy
from infx.policy.signoff import SignoffPolicy
from infx.records import record


class SweepScope(StrEnum):
    FULL = "full"
    TRIMMED = "trimmed"


@record
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


@record
class ModifierLabel:
    """A label that changes what a sweep does."""

    effect: Effect
    reusable: bool  # whether a merge may reuse the results


@record
class Labels:
    """The labels that infx knows. A repository that lists its own labels has no default labels."""

    primary: Mapping[str, PrimaryLabel]
    modifiers: Mapping[str, ModifierLabel] = field(default_factory=lambda: MappingProxyType({}))
    control: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*self.primary, *self.modifiers, *self.control))


@record
class Contexts:
    """Contexts of infx's commit statuses."""

    sweep: str  # whether a head was swept
    approval: str  # whether a fork's head may be swept


@record
class SweepPolicy:
    """The names of sweeps on GitHub, and the command of a row.

    Attributes:
        skip_marker: keeps a head commit from starting a sweep, in its subject or on its own line.
        workflow, job: the file of the workflow, and the job in it that calls the sweep.
        approve_command: first word of the comment that approves a fork's revision.
        row_command: program and arguments that a row's job runs; `infx row env` shows its environment.
        row_minutes: how long the row command may run.
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
        """Return the workflow's file name, which GitHub's API takes as its id."""
        return self.workflow.rpartition("/")[2]


@record
class Greeting:
    """The greeting of pull requests that change benchmarks.

    Attributes:
        phrase: how a sign-off's first sentence begins; it is English in every language of the greeting.
        codeowners, checklist: files that the text links.
        adopt: how the greetings of an older system begin; infx edits them as its own.
    """

    marker: str
    phrase: str
    codeowners: str
    checklist: str
    adopt: tuple[str, ...] = ()


@record
class ResultLink:
    """A link to a page that shows a run's results."""

    text: str
    short: str  # text in lists
    url: str  # `{run}` is replaced by the run's number


@record
class Visualizer:
    """The comment that shows a pull request's newest sweep."""

    marker: str
    results: str  # name of the artifact that a sweep with results uploads
    links: tuple[ResultLink, ...] = ()
    adopt: tuple[str, ...] = ()


@record
class Notices:
    """The comments that explain why no sweep runs, one for each cause."""

    marker: str  # `{cause}` is replaced by the cause


class Language(StrEnum):
    ENGLISH = "en"
    CHINESE = "zh"


@record
class Comments:
    """The bot's comments."""

    languages: tuple[Language, ...]  # at least one; texts appear in this order
    paths: tuple[
        str, ...
    ]  # globs; the bot comments on changes to them, the changelog and the master configurations
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


@record
class WorkflowsPolicy:
    """Facts about the repository's settings that `infx workflows check` cannot see.

    Attributes:
        required_checks: names of jobs that branch rules require.
        runner_boundary: what keeps a pull request's own workflow off the GPU runners, in words, such as a runner
            group with selected workflows, or approval for all outside contributors.
    """

    required_checks: tuple[str, ...] = ()
    runner_boundary: str | None = None


@record
class Canary:
    """The pools of rows from which the canary of a sweep is chosen."""

    pools: tuple[tuple[str, ...], ...]  # lists of job families; the first list with a row provides the canary


@record
class Estimates:
    """Estimated durations in minutes."""

    start_up: float  # image, weights and server of a job
    fixed: float  # one concurrency of fixed lengths
    agentic_overhead: float  # one concurrency, in addition to the replay
    evaluation: float  # one concurrency


@record
class Limits:
    """Limits of GitHub, or lower limits that infx keeps to."""

    matrix_rows: int  # jobs of one matrix
    output_characters: int  # all outputs of a job, counted in UTF-16
    environment_bytes: int  # one environment string or argument
    comment_characters: int  # one comment
    status_characters: int  # the description of one status
    api_requests: int  # of one command
    queue_hours: int  # how long a job may wait


@record
class Policy:
    """Everything that a repository may choose. Paths are relative to the repository.

    Attributes:
        clusters, models, eval_thresholds, golden_al, priorities: may be missing in the repository; golden_al is a folder.
        repository, former_names: `owner/name`; links to a former name stay valid in history.
    """

    base_branch: str
    changelog: str
    master_configs: tuple[str, ...]
    runners: str
    clusters: str
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
    merge: MergePolicy
    publish: PublishPolicy
    signoff: SignoffPolicy
    repository: str | None = None
    former_names: tuple[str, ...] = ()

    @property
    def publisher(self) -> tuple[str, ...]:
        """Return the first identity, which publishes."""
        # A branch's own workflow may write as another identity, so verdicts, approvals and statuses count only from this one.
        return self.identities[:1]

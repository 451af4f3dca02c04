"""The facts of a checkout that the doctor judges."""

from __future__ import annotations

from infx.doctor.lines import Unseen
from infx.doctor.usage import WorkflowUse
from infx.records import record


@record
class CheckSummary:
    """The outcome of another command's check.

    Attributes:
        first: the first error, or None.
        rules: the rules of all problems, also of warnings.
    """

    errors: int
    warnings: int
    first: str | None = None
    rules: frozenset[str] = frozenset()


@record
class MergeDriver:
    """The configuration of git in a clone for merges of the changelog."""

    has_attribute: bool
    has_command: bool


@record
class CheckoutFacts:
    """The facts of a checkout.

    Attributes:
        repository: `owner/name` on GitHub, None if it is unknown.
        remotes: `owner/name` of the clone's remotes that have such a name.
        policy_path: of the repository's policy.
        has_policy: whether the repository has a policy of its own, or the command line names one.
        base: the revision of the base branch, for the texts.
        base_policy: whether the policy on the base branch is the same; None if the base branch has none.
        base_paths: paths of workflow files on the base branch.
        existing: paths that exist, of those that the policy and the workflows name.
        config, changelog, workflows: outcomes of other commands.
        installed: the commit of this infx.
        driver: None where no person merges, or outside of a clone.
        hooks: the ids and entries of pre-commit's hooks; None without its file.
        codeowners, checklist: what is wrong with the file; None if it is right.
    """

    repository: str | None
    remotes: tuple[str, ...]
    policy_path: str
    has_policy: bool
    base: str
    base_policy: bool | Unseen | None
    base_paths: frozenset[str] | Unseen
    existing: frozenset[str]
    config: CheckSummary | Unseen
    changelog: CheckSummary | Unseen
    workflows: CheckSummary | Unseen
    use: WorkflowUse
    installed: str | Unseen
    driver: MergeDriver | None
    hooks: tuple[str, ...] | None
    codeowners: str | None
    checklist: str | None

"""The part of a policy that the changelog commands need. Loading only this part halves their start-up time."""

from __future__ import annotations

from infx.records import record


@record
class PrLink:
    """The form of an entry's `pr-link`."""

    placeholders: tuple[str, ...]  # words for the number of a pull request that does not have one yet
    server: str  # how links start


@record
class ChangelogPolicy:
    """The keys of the policy file that the changelog commands read."""

    base_branch: str
    changelog: str
    master_configs: tuple[str, ...]
    pr_link: PrLink
    repository: str | None = None  # `owner/name`
    former_names: tuple[str, ...] = ()  # `owner/name`; links to a former name stay valid in history

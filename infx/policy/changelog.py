"""The part of a policy that the changelog commands need; they start in half the time without the rest."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class PrLink:
    """placeholders: the words that stand for a pull request's own number until it has one. server: how links start."""

    placeholders: tuple[str, ...]
    server: str


@dataclass(frozen=True, kw_only=True)
class ChangelogPolicy:
    """repository, former_names: `owner/name`; links to a former name stay valid in history."""

    base_branch: str
    changelog: str
    master_configs: tuple[str, ...]
    pr_link: PrLink
    repository: str | None = None
    former_names: tuple[str, ...] = ()

"""The policy's section `signoff`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class CheckStatus(StrEnum):
    PASS = "PASS"  # noqa: S105 (a verdict, no password)
    FAIL = "FAIL"
    WARN = "WARN"
    NOT_APPLICABLE = "N/A"


class Role(StrEnum):
    """Who may settle a warning: at the least this role; nobody where it says so."""

    NOBODY = "nobody"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"


@dataclass(frozen=True, kw_only=True)
class CheckPolicy:
    """statuses: what the check may end in beside FAIL; anything else it finds becomes FAIL. settled_by: the role
    that settles its WARN. escalate: logins that the verdict mentions when it ends in WARN.
    """

    statuses: tuple[CheckStatus, ...]
    settled_by: Role
    escalate: tuple[str, ...] = ()

    @property
    def is_off(self) -> bool:
        """Whether it is not made at all: the policy writes `off`, which stands for N/A alone and nobody to settle it."""
        return self.statuses == (CheckStatus.NOT_APPLICABLE,) and self.settled_by is Role.NOBODY


@dataclass(frozen=True, kw_only=True)
class LineRules:
    """Regular expressions over added lines. refused: a match is a FAIL; questioned: a match is for a human."""

    refused: tuple[str, ...] = ()
    questioned: tuple[str, ...] = ()

    @cached_property
    def refused_expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text) for text in self.refused)

    @cached_property
    def questioned_expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text) for text in self.questioned)


@dataclass(frozen=True, kw_only=True)
class RecipeSource:
    """Where an engine's recipes live. repositories: whose merged pull requests count, `owner/name` → the folder
    that they must touch (empty: any). pages: how the address of a published page starts.
    """

    repositories: Mapping[str, str]
    pages: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Acceptance:
    """How one engine is told to simulate draft acceptance.

    pattern: regular expression whose first group is the configured length. offset: what is added to it to get
    the acceptance length (TensorRT-LLM counts accepted tokens, one less). required: must stand in the same file.
    """

    pattern: str
    offset: float = 0.0
    required: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SignoffPaths:
    """Files and folders. checklists: the first is the one that is linked, the others are its translations.
    waivers: a folder. prose: patterns of files whose added lines serve nothing. recipes: patterns of the files that serve a
    configuration, with its fields in braces: {model-prefix}, {precision}, {hardware}, {framework}.
    """

    checklists: tuple[str, ...]
    waivers: str
    prose: tuple[str, ...]
    recipes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SignoffPolicy:
    """phrase: how the paragraph starts that makes a comment a sign-off. marker: first line of our own comments.

    core_owners: owners whose files need no sign-off. teams: members of teams that the token cannot read.
    engines: framework → open engine whose recipe counts. sources: engine → where its recipes live. images:
    framework → image repositories. hardware: established, so that `images` binds. open_engines: frameworks that
    must exist before a vendor's own. agentic_latency: field of a result row that is an AgentX point's latency.
    chat_evidence: expressions that show a chat template in use. acceptance: how engines simulate acceptance.
    draft_tokens: expressions whose first group is the draft length. waiver_fields: what a waiver must say.
    relay_workflow: path of the workflow that passes on that a review
    happened. status: context of the commit status, None for none. checks: by slug.
    """

    phrase: str
    marker: str
    core_owners: tuple[str, ...]
    teams: Mapping[str, tuple[str, ...]]
    author_may_sign: bool
    settle_command: str
    relay_workflow: str
    paths: SignoffPaths
    engines: Mapping[str, str]
    sources: Mapping[str, RecipeSource]
    images: Mapping[str, tuple[str, ...]]
    hardware: tuple[str, ...]
    open_engines: tuple[str, ...]
    frontier_points: int
    agentic_latency: str
    architecture: LineRules
    chat: LineRules
    chat_evidence: tuple[str, ...]
    patches: LineRules
    draft: LineRules
    acceptance: Mapping[str, Acceptance]
    draft_tokens: tuple[str, ...]
    waiver_fields: tuple[str, ...]
    checks: Mapping[str, CheckPolicy]
    status: str | None = None

    @cached_property
    def chat_evidence_expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text) for text in self.chat_evidence)

    @cached_property
    def draft_tokens_expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text) for text in self.draft_tokens)

    def find_bad_expressions(self) -> list[tuple[str, str]]:
        """Expressions that Python does not understand or will read otherwise one day, each with the reason."""
        rules = (self.architecture, self.chat, self.patches, self.draft)
        texts = [text for rule in rules for text in (*rule.refused, *rule.questioned)]
        texts += [*self.chat_evidence, *self.draft_tokens]
        texts += [text for way in self.acceptance.values() for text in (way.pattern, *way.required)]
        bad = []
        for text in texts:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", FutureWarning)
                    re.compile(text)
            except (re.error, FutureWarning, OverflowError, RecursionError) as error:
                bad.append((text, str(error)))
        return bad

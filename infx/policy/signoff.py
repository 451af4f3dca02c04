"""The policy's section `signoff`."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from enum import StrEnum
from functools import cached_property

from infx.records import record


class CheckStatus(StrEnum):
    PASS = "PASS"  # noqa: S105 (a verdict, not a password)
    FAIL = "FAIL"
    WARN = "WARN"
    NOT_APPLICABLE = "N/A"


class Role(StrEnum):
    """The lowest role that may settle a warning."""

    NO_ONE = "no-one"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"


@record
class CheckPolicy:
    """The policy for one check of a sign-off.

    Attributes:
        statuses: the results that the check may have in addition to FAIL; every other result becomes FAIL.
        settled_by: the role that settles a WARN.
        escalate: logins that the verdict mentions for a WARN.
    """

    statuses: tuple[CheckStatus, ...]
    settled_by: Role
    escalate: tuple[str, ...] = ()

    @property
    def is_off(self) -> bool:
        """Return whether the check is not made. `off` in the policy means only N/A, which no one may settle."""
        return self.statuses == (CheckStatus.NOT_APPLICABLE,) and self.settled_by is Role.NO_ONE


@record
class LineRules:
    """Regular expressions for added lines."""

    refused: tuple[str, ...] = ()  # a match is a FAIL
    questioned: tuple[str, ...] = ()  # a match needs human review

    @cached_property
    def refused_expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text) for text in self.refused)

    @cached_property
    def questioned_expressions(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(text) for text in self.questioned)


@record
class RecipeSource:
    """The places of an engine's recipes.

    Attributes:
        repositories: `owner/name` → the folder that a merged pull request must change (empty: any folder).
        pages: how the URL of a published page starts.
    """

    repositories: Mapping[str, str]
    pages: tuple[str, ...]


@record
class Acceptance:
    """The option of an engine that simulates draft acceptance.

    Attributes:
        pattern: regular expression whose first group is the configured length.
        offset: added to that length to get the acceptance length (TensorRT-LLM counts accepted tokens, one less).
        required: regular expressions that must also match in the same file.
    """

    pattern: str
    offset: float = 0.0
    required: tuple[str, ...] = ()


@record
class SignoffPaths:
    """Files and folders that checks read.

    Attributes:
        checklists: the first is linked, the others are its translations.
        waivers: a folder.
        prose: patterns of files that no row uses.
        recipes: patterns of the files that a configuration uses, with its fields in braces: {model-prefix},
            {precision}, {hardware}, {framework}.
    """

    checklists: tuple[str, ...]
    waivers: str
    prose: tuple[str, ...]
    recipes: tuple[str, ...]


@record
class SignoffPolicy:
    """The settings of a repository for sign-offs.

    Attributes:
        phrase: how the paragraph starts that makes a comment a sign-off.
        marker: first line of infx's own comments.
        core_owners: owners whose files need no sign-off.
        teams: members of teams that the token cannot read.
        relay_workflow: path of the workflow that reports that a review was submitted.
        engines: framework → the open engine whose recipe counts.
        sources: engine → the places of its recipes.
        images: framework → image repositories.
        hardware: established hardware, on which `images` is binding.
        open_engines: frameworks of which one must exist before a vendor's own framework.
        agentic_latency: field of a result row with the latency of an AgentX point.
        chat_evidence: expressions that show the use of a chat template.
        acceptance: engine → its option for simulated acceptance.
        draft_tokens: expressions whose first group is the draft length.
        waiver_fields: the fields that a waiver must have.
        checks: slug → policy of the check.
        status: context of the commit status; None for no status.
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
        """Return expressions that Python cannot compile, or warns about, each with the reason."""
        rules = (self.architecture, self.chat, self.patches, self.draft)
        texts = [text for rule in rules for text in (*rule.refused, *rule.questioned)]
        texts += [*self.chat_evidence, *self.draft_tokens]
        texts += [text for way in self.acceptance.values() for text in (way.pattern, *way.required)]
        bad_expressions = []
        for text in texts:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error", FutureWarning)
                    re.compile(text)
            except (re.error, FutureWarning, OverflowError, RecursionError) as error:
                bad_expressions.append((text, str(error)))
        return bad_expressions

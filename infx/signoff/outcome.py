"""The outcome of a check: a status, a reason that a person can act on, links, and the evidence."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable

from infx import escape
from infx.phrases import join_some
from infx.policy.signoff import CheckStatus
from infx.records import record

MAX_REASON = 1_500  # characters; sixteen reasons leave room in a comment
MAX_SHOWN = 120  # characters of one piece of foreign text

EMOJI = re.compile(
    "[\u2600-\u27bf\u2b00-\u2bff\u20e3\ufe0e\ufe0f\u200d\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
CODE_SPAN = r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)"
_CUT = " … (cut; use --explain)"
_LINK_ADDRESS = r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*/[A-Za-z0-9._~/?#=&%+@:-]*"


@record
class Link:
    """A link to evidence."""

    text: str  # infx's own words
    url: str  # linked only if it is a plain address

    def __str__(self) -> str:
        return f"[{self.text}]({self.url})" if re.fullmatch(_LINK_ADDRESS, self.url) else code(self.url)


@record
class CheckOutcome:
    """The status of one check, with its reason."""

    status: CheckStatus
    reason: str  # one or more sentences of Markdown; foreign text in it went through `code`
    links: tuple[Link, ...] = ()  # to the evidence, shown after the reason
    evidence: tuple[str, ...] = ()  # lines for `--explain`, plain text
    is_waiting: bool = False  # FAIL only because something has not happened yet

    def limit_to_warning(self, note: str) -> CheckOutcome:
        """Turn a PASS into a WARN that starts with `note`."""
        if self.status is not CheckStatus.PASS:
            return self
        return dataclasses.replace(self, status=CheckStatus.WARN, reason=f"{note} Otherwise: {self.reason}")


def passed(reason: str, *links: Link, evidence: Iterable[str] = ()) -> CheckOutcome:
    return CheckOutcome(status=CheckStatus.PASS, reason=reason, links=links, evidence=tuple(evidence))


def failed(reason: str, *links: Link, evidence: Iterable[str] = (), is_waiting: bool = False) -> CheckOutcome:
    return CheckOutcome(
        status=CheckStatus.FAIL, reason=reason, links=links, evidence=tuple(evidence), is_waiting=is_waiting
    )


def warned(reason: str, *links: Link, evidence: Iterable[str] = ()) -> CheckOutcome:
    return CheckOutcome(status=CheckStatus.WARN, reason=reason, links=links, evidence=tuple(evidence))


def not_applicable(reason: str, evidence: Iterable[str] = ()) -> CheckOutcome:
    return CheckOutcome(status=CheckStatus.NOT_APPLICABLE, reason=reason, evidence=tuple(evidence))


def code(text: object, limit: int = MAX_SHOWN) -> str:
    """Return foreign text as a Markdown code span: one line, no emoji, mentions, links or hidden parts."""
    flat = " ".join(EMOJI.sub("?", str(text)).split())
    return escape.code(flat if len(flat) <= limit else flat[: limit - 3] + "...")


def name_all(names: Iterable[object], limit: int = 5) -> str:
    """Return the first few names as code, in order, each once, and the number of further names."""
    unique = list(dict.fromkeys(str(name) for name in names))
    return join_some([code(name) for name in unique], limit)


def cut(reason: str, limit: int = MAX_REASON) -> str:
    """Shorten a reason to fit its row, without splitting a code span."""
    flat = " ".join(reason.split())
    if len(flat) <= limit:
        return flat
    room = limit - len(_CUT)
    end = next(
        (span.start() for span in re.finditer(CODE_SPAN, flat) if span.start() < room < span.end()), room
    )
    return f"{flat[:end].rstrip()}{_CUT}"

"""What a check says: a status, a reason that a person can act on, links, and everything it looked at."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass

from infx import escape
from infx.phrases import join_some
from infx.policy.signoff import CheckStatus

MAX_REASON = 1_500  # characters; sixteen of them leave room in a comment
MAX_SHOWN = 120  # characters of one piece of foreign text

EMOJI = re.compile(
    "[\u2600-\u27bf\u2b00-\u2bff\u20e3\ufe0e\ufe0f\u200d\U0001f000-\U0001faff\U000e0020-\U000e007f]"
)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_CUT = " … (cut; use --explain)"
_LINK_ADDRESS = re.compile(r"https?://[A-Za-z0-9][A-Za-z0-9.:-]*/[A-Za-z0-9._~/?#=&%+@:-]*")


@dataclass(frozen=True, kw_only=True)
class Link:
    """text: our own words. url: shown only if it is a plain address."""

    text: str
    url: str

    def __str__(self) -> str:
        return f"[{self.text}]({self.url})" if _LINK_ADDRESS.fullmatch(self.url) else code(self.url)


@dataclass(frozen=True, kw_only=True)
class CheckOutcome:
    """reason: one or more sentences of Markdown; foreign text in it went through `code`.

    links: the evidence, shown behind the reason. evidence: lines for `--explain`, plain text. is_waiting: a FAIL
    only because something has not happened yet.
    """

    status: CheckStatus
    reason: str
    links: tuple[Link, ...] = ()
    evidence: tuple[str, ...] = ()
    is_waiting: bool = False

    def lowered(self, note: str) -> CheckOutcome:
        """The same, but at best a WARN, because of `note`."""
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
    """Foreign text as a Markdown code span: one line, no emoji, nothing that mentions, links or hides."""
    flat = " ".join(EMOJI.sub("?", str(text)).split())
    return escape.code(flat if len(flat) <= limit else flat[: limit - 3] + "...")


def name_all(names: Iterable[object], limit: int = 5) -> str:
    """Names as code, in order, each once: the first few and how many more."""
    unique = list(dict.fromkeys(str(name) for name in names))
    return join_some([code(name) for name in unique], limit)


def cut(reason: str, limit: int = MAX_REASON) -> str:
    """A reason short enough for its row, ending before the code span that would not fit."""
    flat = " ".join(reason.split())
    if len(flat) <= limit:
        return flat
    room = limit - len(_CUT)
    end = next((span.start() for span in CODE_SPAN.finditer(flat) if span.start() < room < span.end()), room)
    return f"{flat[:end].rstrip()}{_CUT}"

"""What the rules look at: values without a file, a clone or a clock behind them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from infx.changelog.blocks import Block
from infx.changelog.comparison import Comparison
from infx.changelog.links import PullLinks
from infx.policy.stage import Stage

if TYPE_CHECKING:
    from infx.changelog.keys import ConfigKeys


@dataclass(frozen=True, kw_only=True)
class Context:
    """What the rules must know besides the bytes.

    path: the changelog, as problems name it. number: of the pull request whose entries these are, if it is known and
    is only one. configs: what keys are looked up in; None: they are not. base_name: a revision or file for hints.
    """

    path: str
    links: PullLinks
    stage: Stage = Stage.PR
    number: int | None = None
    configs: ConfigKeys | None = None
    base_name: str | None = None

    @property
    def is_final(self) -> bool:
        """Placeholders must be gone."""
        return self.stage is not Stage.PR

    @property
    def own_link(self) -> str | None:
        """What a repair writes: the canonical link, or a placeholder as long as it is not known; None where that is
        too late.
        """
        if self.number is not None and self.links.repository is not None:
            return self.links.canonical(self.number)
        return None if self.is_final else self.links.placeholders[0]

    @property
    def fix_command(self) -> str:
        return fix_command(self.number)


def fix_command(number: int | None) -> str:
    """Return the command that makes every certain repair; number: of the pull request, if it is known."""
    return "infx changelog validate --fix" + (f" --pr {number}" if number else "")


def name_repair(number: int | None) -> str:
    """Return the sentence that the hint of a certain repair ends with."""
    return f"`{fix_command(number)}` does it."


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """blocks: the new entries, wherever they stand; empty where they cannot be parsed."""

    comparison: Comparison
    context: Context
    blocks: Sequence[Block] = field(default=())

    @property
    def head(self) -> bytes:
        return self.comparison.head

    def line(self, offset: int) -> int:
        return self.comparison.line(offset)


def quote(data: bytes) -> str:
    """Text in which blanks at its ends, tabs and line ends can be seen; long text loses its middle."""
    text = data.decode(errors="backslashreplace")
    inner = text.strip(" ")
    left = len(text) - len(text.lstrip(" ")) if inner else 0
    right = len(text) - left - len(inner)
    text = "·" * left + inner + "·" * right
    for mark, shown in (("\t", "→"), ("\r", "␍"), ("\n", "↵"), ("\0", "␀"), ("\x85", "<NEL>"), ("\u2028", "<LS>"), ("\u2029", "<PS>")):  # fmt: skip
        text = text.replace(mark, shown)
    return f"`{text}`" if len(text) <= 80 else f"`{text[:38]} … {text[-38:]}`"


def quote_line(data: bytes) -> str:
    """Its first line."""
    return quote(data.split(b"\n", 1)[0])

"""The input of the rules, as plain values: no file, clone or clock is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from infx.changelog.blocks import Block
from infx.changelog.comparison import Comparison
from infx.changelog.links import PullLinks
from infx.policy.stage import Stage
from infx.records import record

if TYPE_CHECKING:
    from infx.changelog.keys import ConfigKeys


@record
class Context:
    """The facts that the rules need in addition to the bytes.

    Attributes:
        path: the changelog's path in problems.
        number: of the pull request that adds the entries; None if unknown or if there are several.
        configs: the configurations that keys are looked up in; None to skip the look-up.
        base_name: the base's revision or file, for hints.
    """

    path: str
    links: PullLinks
    stage: Stage = Stage.PR
    number: int | None = None
    configs: ConfigKeys | None = None
    base_name: str | None = None

    @property
    def is_final(self) -> bool:
        """Return whether placeholders are no longer allowed."""
        return self.stage is not Stage.PR

    @property
    def own_link(self) -> str | None:
        """The link that a repair writes: canonical, or a placeholder while it is unknown; None if that is too late."""
        if self.number is not None and self.links.repository is not None:
            return self.links.canonical(self.number)
        return None if self.is_final else self.links.placeholders[0]

    @property
    def fix_command(self) -> str:
        return fix_command(self.number)


def fix_command(number: int | None) -> str:
    """Return the command that makes every certain repair. number: the pull request's, if known."""
    return "infx changelog validate --fix" + (f" --pr {number}" if number else "")


def render_repair_hint(number: int | None) -> str:
    """Return the sentence that ends the hint of a certain repair."""
    return f"Run `{fix_command(number)}` to repair it."


@record
class Subject:
    """A changelog that the rules check."""

    comparison: Comparison
    context: Context
    blocks: Sequence[Block] = field(
        default=()
    )  # the new entries, in any position; empty if they cannot be parsed

    @property
    def head(self) -> bytes:
        return self.comparison.head

    def line(self, offset: int) -> int:
        return self.comparison.line(offset)


def quote(data: bytes) -> str:
    """Quote a text with visible tabs, line ends and outer blanks; shorten a long text in the middle."""
    text = data.decode(errors="backslashreplace")
    inner = text.strip(" ")
    left = len(text) - len(text.lstrip(" ")) if inner else 0
    right = len(text) - left - len(inner)
    text = "·" * left + inner + "·" * right
    for mark, shown in (("\t", "→"), ("\r", "␍"), ("\n", "↵"), ("\0", "␀"), ("\x85", "<NEL>"), ("\u2028", "<LS>"), ("\u2029", "<PS>")):  # fmt: skip
        text = text.replace(mark, shown)
    return f"`{text}`" if len(text) <= 80 else f"`{text[:38]} … {text[-38:]}`"


def quote_line(data: bytes) -> str:
    """Quote the first line of a text."""
    return quote(data.split(b"\n", 1)[0])

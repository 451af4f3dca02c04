"""Rules about texts that YAML reads differently from what the file shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml

from infx.changelog.blocks import Block, Value, parse_blocks
from infx.changelog.subject import Subject, quote
from infx.errors import ProblemsError
from infx.records import record
from infx.rules import Finding, Rule

_KEY = "description"


@record
class _Gap:
    """The text after an item, or before the first item."""

    item: Value | None
    style: str | None
    start: int
    end: int
    dash: int  # column of the items' dashes; -1 in `[...]`


def _cut(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        if b"#" not in block.data and b"!" not in block.data and b"&" not in block.data:
            continue
        for gap in _find_gaps(block):
            lost = _find_property(subject.head, gap) or _find_header(subject.head, gap)
            lost = lost or _find_comment(subject.head, gap)
            if lost is not None:
                yield _draft(subject.head, gap, *lost)


def _draft(head: bytes, gap: _Gap, start: int, end: int) -> Finding[int | None]:
    taken = quote(head[start:end].rstrip())
    shown = quote(head[gap.item.start : gap.item.end]) if gap.item else "nothing yet"
    message = f"YAML reads this description as {shown}; {taken} is not a part of it."
    hint = 'Quote this value: "…". Put a note for readers of the file on its own line, as `# note`, above the entry\'s other keys.'
    return Finding(at=start, message=message, hint=hint)


def _find_gaps(block: Block) -> Iterator[_Gap]:
    """Find the text before, between and after the items of the list."""
    if not isinstance(block.node, yaml.MappingNode):
        return
    pairs = block.node.value
    for number, (key, value) in enumerate(pairs):
        if key.value != _KEY or not isinstance(value, yaml.SequenceNode):
            continue
        source = block.source
        if value.flow_style:
            end, dash = source.offset(value.end_mark), -1
        else:
            following = pairs[number + 1][0].start_mark if number + 1 < len(pairs) else None
            end = source.line_start(source.offset(following)) if following else block.end
            dash = value.start_mark.column
        items = [(block.locate(node), getattr(node, "style", None)) for node in value.value]
        starts = [item.start for item, _ in items]
        begin = source.offset(key.end_mark)
        yield _Gap(item=None, style=None, start=begin, end=starts[0] if starts else end, dash=dash)
        for (item, style), stop in zip(items, [*starts[1:], end], strict=True):
            yield _Gap(item=item, style=style, start=item.end, end=stop, dash=dash)


def _find_property(head: bytes, gap: _Gap) -> tuple[int, int] | None:
    """Find a tag or an anchor, which looks like the first word of the text."""
    if gap.item is None or head[gap.item.start : gap.item.start + 1] not in {b"!", b"&"}:
        return None
    word = re.compile(rb"\S+").match(head, gap.item.start)
    return word.span() if word else None


def _find_header(head: bytes, gap: _Gap) -> tuple[int, int] | None:
    """Find a comment after the `|` or `>` that starts a block of text."""
    if gap.item is None or gap.style not in {"|", ">"}:
        return None
    first = head.find(b"\n", gap.item.start)
    comment = head.find(b"#", gap.item.start, first)
    return (comment, first) if comment >= 0 else None


def _find_comment(head: bytes, gap: _Gap) -> tuple[int, int] | None:
    """Find the first comment that looks like a part of a text."""
    position = gap.start
    while (position := head.find(b"#", position, gap.end)) >= 0:
        end = head.find(b"\n", position)
        end = gap.end if end < 0 else end
        if _is_text(head, gap, position):
            return position, end
        position = end
    return None


def _is_text(head: bytes, gap: _Gap, position: int) -> bool:
    """Return whether a comment looks like text rather than a note.

    Text is a number after `#`, a comment indented deeper than the dashes (like the next line of a text), or a comment
    that touches a quoted text. A comment under the dashes, or after a quoted text and a blank, is a note.
    """
    line = head.rfind(b"\n", 0, position) + 1
    following = head[position + 1 : position + 2]
    if following.isdigit():
        return True
    if gap.style in {"'", '"'} and head[line:position].strip() != b"-":
        return line < gap.start and following.isalnum()
    if gap.item is None and line < gap.start:  # after the key
        return False
    return position - line > gap.dash


def _open_ended(subject: Subject) -> Iterator[Finding[int | None]]:
    """Read every entry with and without empty lines after it, and compare the values."""
    blocks = subject.blocks
    texts = [block.data if block.data.endswith(b"\n") else block.data + b"\n" for block in blocks]
    try:
        tight, loose = (parse_blocks(b"".join(t + gap for t in texts), "") for gap in (b"", b"\n\n\n"))
    except ProblemsError:  # another rule reports it
        return
    for block, tight_block, loose_block in zip(blocks, tight, loose, strict=True):
        if tight_block.value != loose_block.value:
            message = (
                "A text of this entry includes the empty lines after it, so the next entry would change it."
            )
            hint = "Write `|` or `>` without `+`, or put the text in quotes."
            items = [
                item
                for item in block.items(_KEY)
                if re.match(rb"[|>][0-9]?\+", block.source.data[item.start :])
            ]
            yield Finding(at=items[-1].start if items else block.start, message=message, hint=hint)


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="description-cut",
        says="A description contains no comment, tag or anchor, which YAML would drop.",
        why="In YAML, ` #` starts a comment, so “fix for #123” is published as “fix for”.",
        check=_cut,
    ),
    Rule(
        id="text-open",
        says="No text includes the empty lines after its entry, as `|+` does.",
        why="The next append would change the text of a past entry.",
        check=_open_ended,
    ),
)

"""The items of a changelog: each a span of bytes with a parsed value, never written back from that value.

Offsets count bytes of the whole file. Where something stands is asked of the YAML parser's marks; what is cut out
or replaced are the file's own bytes.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import yaml

from infx import yaml12
from infx.errors import Problem, ProblemsError

LINK_KEY = "pr-link"

# An item in front and one behind, in the first column: what parses between them continues a list of entries and
# can be continued. It refuses `---`, `...`, other indentation and quotes that are left open; a list, because a
# text would go on in an indented line.
_FRAME = b"- []\n"


class Source:
    """A part of a file as the parser saw it, and where its marks, which count characters, lie in the file's bytes."""

    def __init__(self, data: bytes, start: int, end: int, path: str) -> None:
        part = data[start:end]
        framed = _FRAME + part + (b"" if part.endswith(b"\n") else b"\n") + _FRAME
        self.data = data
        self.end = end
        self._start = start
        try:
            self._document = yaml12.load(framed, path)
        except ProblemsError:
            self._document = yaml12.load(framed, path, first_line=self._first_line)
        self._shift = start - len(_FRAME)
        wide = [] if framed.isascii() else list(re.finditer(r"[^\x00-\x7f]", framed.decode()))
        self._wide = [match.start() for match in wide]  # characters of more than one byte
        self._extra = [0]  # bytes that those before add
        for match in wide:
            self._extra.append(self._extra[-1] + len(match[0].encode()) - 1)

    @property
    def root(self) -> yaml.Node:
        return self._document.root

    @property
    def values(self) -> list[Any]:
        """Of the items, those of the frame included."""
        found: list[Any] = self._document.value
        return found

    @cached_property
    def document(self) -> yaml12.Document:
        """With lines of the whole file, which are counted only where somebody asks for one."""
        return replace(self._document, first_line=self._first_line)

    @property
    def _first_line(self) -> int:
        return self.data.count(b"\n", 0, self._start)  # the frame is the line before

    def offset(self, mark: Any) -> int:
        index = int(mark.index)
        return index + self._extra[bisect.bisect_left(self._wide, index)] + self._shift

    def line_start(self, offset: int) -> int:
        return self.data.rfind(b"\n", 0, offset) + 1

    def line_end(self, offset: int) -> int:
        """After the line break of the line that `offset` lies in."""
        found = self.data.find(b"\n", offset, self.end)
        return self.end if found < 0 else found + 1

    def text_end(self, start: int, end: int) -> int:
        """`end` without the blanks and line breaks before it."""
        return start + len(self.data[start:end].rstrip(b" \t\r\n"))


@dataclass(frozen=True, kw_only=True, eq=False)
class Value:
    """A value in its file. start, end: its text, without a comment. plain: neither quoted nor a block nor a list."""

    start: int
    end: int
    line_end: int
    plain: bool
    data: bytes = field(repr=False)

    @property
    def rest(self) -> bytes:
        """What follows on its last line: usually nothing, sometimes a comment."""
        return self.data[self.end : self.line_end].strip()


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """One item of the list. `end` lies after the line break of its last line that is not blank.

    value: plain Python, whatever the item holds. index: its place in `source.document`.
    """

    start: int
    end: int
    value: Any
    index: int
    source: Source = field(repr=False)
    node: yaml.Node = field(repr=False)

    @property
    def data(self) -> bytes:
        return self.source.data[self.start : self.end]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The value, if it is a mapping; else nothing."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def link(self) -> str | None:
        """The text of `pr-link`; None where there is none."""
        value = self.fields.get(LINK_KEY)
        return value if isinstance(value, str) else None

    @property
    def meaning(self) -> Any:
        """Everything but the link: two entries of the same meaning measure the same for the same reason."""
        return {k: v for k, v in self.fields.items() if k != LINK_KEY} if self.fields else self.value

    def line(self, *path: str | int) -> int:
        return self.source.document.line(self.index, *path)

    def find(self, key: str) -> tuple[int, Value] | None:
        """(offset of the key, its value), for a key of the entry itself."""
        if isinstance(self.node, yaml.MappingNode):
            for key_node, value_node in self.node.value:
                if key_node.value == key:
                    return self.source.offset(key_node.start_mark), self.locate(value_node)
        return None

    def items(self, key: str) -> list[Value]:
        """The items of a list such as `description`."""
        if isinstance(self.node, yaml.MappingNode):
            for key_node, value_node in self.node.value:
                if key_node.value == key and isinstance(value_node, yaml.SequenceNode):
                    return [self.locate(node) for node in value_node.value]
        return []

    def locate(self, node: yaml.Node) -> Value:
        source = self.source
        start = source.offset(node.start_mark)
        end = source.text_end(start, min(source.offset(node.end_mark), self.end))
        plain = isinstance(node, yaml.ScalarNode) and not node.style
        return Value(start=start, end=end, line_end=source.line_end(end), plain=plain, data=source.data)


def parse_blocks(data: bytes, path: str, start: int = 0, end: int | None = None) -> list[Block]:
    """The entries that stand in a part of a changelog; only that part is parsed.

    Raises ProblemsError, with lines of the whole file, if it is no list in the first column that continues a list.
    """
    source = Source(data, start, len(data) if end is None else end, path)
    root = source.root
    assert isinstance(root, yaml.SequenceNode)  # the frame makes it one
    nodes = root.value[1:-1]
    values = source.values[1:-1]
    starts = [source.line_start(source.offset(node.start_mark)) for node in nodes]
    problems = [
        _no_entry(source, number)
        for number, position in enumerate(starts, start=1)
        if not data.startswith(b"- ", position)
    ]
    if problems:
        raise ProblemsError(problems)
    blocks = []
    for number, (node, value) in enumerate(zip(nodes, values, strict=True)):
        limit = starts[number + 1] if number + 1 < len(starts) else source.end
        stop = source.line_end(source.text_end(starts[number], limit))
        blocks.append(
            Block(start=starts[number], end=stop, value=value, index=number + 1, source=source, node=node)
        )
    return blocks


def _no_entry(source: Source, index: int) -> Problem:
    message = "An entry starts with `- config-keys:` in the first column, on one line."
    return Problem(
        rule="entry-shape", message=message, path=source.document.path, line=source.document.line(index)
    )

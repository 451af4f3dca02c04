"""Parse the items of a changelog: each is a span of bytes with a parsed value, never written back from that value.

Offsets count bytes of the whole file. Positions come from the YAML parser's marks; edits cut and replace the file's
own bytes.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Mapping
from dataclasses import field, replace
from functools import cached_property
from typing import Any

import yaml

from infx import yaml12
from infx.errors import Problem, ProblemsError
from infx.records import record

LINK_KEY = "pr-link"

# One item is put before the part and one after it, in the first column: what parses between them continues a list of
# entries and can be continued. This refuses `---`, `...`, other indentation and unclosed quotes. The item is a list,
# because text would continue on an indented line.
_FRAME = b"- []\n"


class Source:
    """A parsed part of a file, which converts the parser's marks (characters) to offsets (bytes of the file)."""

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
        self._extra = [0]  # extra bytes of the wide characters before each wide character
        for match in wide:
            self._extra.append(self._extra[-1] + len(match[0].encode()) - 1)

    @property
    def root(self) -> yaml.Node:
        return self._document.root

    @property
    def values(self) -> list[Any]:
        """The values of all items, including the two of the frame."""
        values: list[Any] = self._document.value
        return values

    @cached_property
    def document(self) -> yaml12.Document:
        """The parsed document with line numbers of the whole file."""
        # The lines are counted only when a caller needs them.
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
        """Return the offset after the line break of the line that contains `offset`."""
        line_break = self.data.find(b"\n", offset, self.end)
        return self.end if line_break < 0 else line_break + 1

    def text_end(self, start: int, end: int) -> int:
        """Return `end` moved back over the blanks and line breaks before it."""
        return start + len(self.data[start:end].rstrip(b" \t\r\n"))


@record
class Value:
    """A value in its file, without a comment."""

    start: int
    end: int
    line_end: int
    plain: bool  # neither quoted nor a block nor a list
    data: bytes = field(repr=False)

    @property
    def rest(self) -> bytes:
        """The text after the value on its last line: usually empty, sometimes a comment."""
        return self.data[self.end : self.line_end].strip()


@record
class Block:
    """One item of the list."""

    start: int
    end: int  # after the line break of its last line that is not blank
    value: Any  # plain Python values
    index: int  # its place in `source.document`
    source: Source = field(repr=False)
    node: yaml.Node = field(repr=False)

    @property
    def data(self) -> bytes:
        return self.source.data[self.start : self.end]

    @property
    def fields(self) -> Mapping[str, Any]:
        """The value if it is a mapping; else an empty mapping."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def link(self) -> str | None:
        """The text of `pr-link`; None if it is missing or not text."""
        value = self.fields.get(LINK_KEY)
        return value if isinstance(value, str) else None

    @property
    def meaning(self) -> Any:
        """Everything except the link: entries with equal meaning measure the same for the same reason."""
        return {k: v for k, v in self.fields.items() if k != LINK_KEY} if self.fields else self.value

    def line(self, *path: str | int) -> int:
        return self.source.document.line(self.index, *path)

    def find(self, key: str) -> tuple[int, Value] | None:
        """Return (offset of the key, its value) for a top-level key of the entry, or None."""
        if isinstance(self.node, yaml.MappingNode):
            for key_node, value_node in self.node.value:
                if key_node.value == key:
                    return self.source.offset(key_node.start_mark), self.locate(value_node)
        return None

    def items(self, key: str) -> list[Value]:
        """Return the items of a list such as `description`."""
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
    """Parse the entries in a part of a changelog, and only that part.

    Raises ProblemsError, with line numbers of the whole file, if the part is not a list in the first column that can
    continue another list.
    """
    source = Source(data, start, len(data) if end is None else end, path)
    root = source.root
    assert isinstance(root, yaml.SequenceNode)  # the frame makes it one
    nodes = root.value[1:-1]
    values = source.values[1:-1]
    starts = [source.line_start(source.offset(node.start_mark)) for node in nodes]
    problems = [
        _describe_wrong_start(source, number)
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


def _describe_wrong_start(source: Source, index: int) -> Problem:
    message = "An entry starts with `- config-keys:` in the first column, on one line."
    return Problem(
        rule="entry-shape", message=message, path=source.document.path, line=source.document.line(index)
    )

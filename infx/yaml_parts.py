"""Parse only some entries of a YAML mapping, where that certainly gives the same as parsing the whole file.

A parse of all configurations is most of the time of a plan of one. A file is certain if each line has one of a few
plain forms: then its lines in the first column are its keys, and only libyaml and a repeated key can still object,
which is cheap to ask. Any other file is parsed as a whole, and so is a file with a problem, for the same words.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from typing import Any, NamedTuple

import yaml

from infx import yaml12
from infx.errors import ProblemsError

# The forms of a line: no tags, anchors, aliases, merge keys, escapes, document markers, and no value on several lines.
_KEY = rb"[A-Za-z][\w.-]*"
_SCALAR = rb"""(?:[\w./](?:[\w./=@+~#-]|:(?=[\w./-]))*|"[^"\\]*"|'[^']*')"""
_LIST = rb"\[ *(?:%b *(?:, *|(?=\])))*\]" % _SCALAR
_INNER = rb"\{ *(?:%b: +%b *(?:, *|(?=\})))*\}" % (_KEY, _SCALAR)
_MAPPING = rb"\{ *(?:%b: +(?:%b|%b|%b) *(?:, *|(?=\})))*\}" % (_KEY, _SCALAR, _LIST, _INNER)
_LINE = rb"( *)(- +)?(?:(%b):(?: +|$))?(%b|%b|%b)? *(?:(?<= )#.*)?" % (_KEY, _SCALAR, _LIST, _MAPPING)
_EMPTY = rb" *(?:#.*)?"
_QUOTED = rb""""[^"]*"|'[^']*'"""
_BRACES = rb"\{[^{}]*\}"
_FLOW_KEY = rb"([A-Za-z][\w.-]*): "
_NOT_TEXT = {b"null", b"Null", b"NULL", b"true", b"True", b"TRUE", b"false", b"False", b"FALSE"}
_MAX_COLUMN = 24  # keeps the nesting far below the limit of yaml12


class _Shape(NamedTuple):
    """What a line means for the mappings around it."""

    end: int  # mappings in columns after this one end here
    column: int = 0  # of the key
    key: bytes = b""  # empty for a line without a key


_NOTHING = _Shape(end=_MAX_COLUMN)


def load_parts(data: bytes, path: str, wanted: Container[str]) -> yaml12.Document:
    """Parse a document whose root is a mapping, as `yaml12.load_mapping` does, with the same lines and the same keys.

    wanted: keys whose values are needed; another value may be None. Raises the same ProblemsError.
    """
    if (part := _blank_others(data, path, wanted)) is not None:
        try:
            return yaml12.load_mapping(part, path)
        except ProblemsError:
            pass  # the whole file may have more problems
    return yaml12.load_mapping(data, path)


def _blank_others(data: bytes, path: str, wanted: Container[str]) -> bytes | None:
    """Return the file with empty lines in place of the values of other keys; None if the file is not certain."""
    if b"\r" in data or b"\t" in data:
        return None
    lines = data.split(b"\n")
    starts = [number for number, line in enumerate(lines) if line and line[:1] not in b" #"]
    spans = list(zip(starts, (*starts[1:], len(lines)), strict=False))
    wanted_starts = {
        start for start in starts if lines[start].partition(b":")[0].decode(errors="replace") in wanted
    }
    if 2 * sum(end - start for start, end in spans if start in wanted_starts) > len(lines):
        return None  # nothing would be gained
    if not _is_plain(lines) or not _is_yaml(data, path):
        return None
    parts = lines[: starts[0]] if starts else []
    for start, end in spans:
        key = lines[start].partition(b":")[0]
        parts += lines[start:end] if start in wanted_starts else [key + b":", *[b""] * (end - start - 1)]
    return b"\n".join(parts)


def _is_plain(lines: Sequence[bytes]) -> bool:
    """Return whether each line has a plain form, and no mapping has a key twice."""
    shapes: dict[bytes, _Shape] = {}
    for line in set(lines):
        if (shape := _read_shape(line)) is None:
            return False
        shapes[line] = shape
    return not _repeats_key(map(shapes.__getitem__, lines))


def _is_yaml(data: bytes, path: str) -> bool:
    """Return whether libyaml can parse the whole file; it makes no Python values for that."""
    try:
        yaml12.refuse_bytes(data, path)
        parser: Any = yaml.CLoader(data)
        parser.raw_parse()
    except (ProblemsError, yaml.YAMLError):
        return False
    return True


def _read_shape(line: bytes) -> _Shape | None:
    """Return None for a line that has none of the plain forms, or names a key twice."""
    if re.fullmatch(_EMPTY, line):
        return _NOTHING
    match = re.fullmatch(_LINE, line)
    if match is None:
        return None
    indent, dash, key, value = match.groups()
    column = len(indent) + len(dash or b"")
    # An item in the first column would make the root a list; a value without a dash continues a text.
    if column > _MAX_COLUMN or key in _NOT_TEXT or not (key or (dash and value)) or (dash and not indent):
        return None
    if value and b"{" in value and not _is_plain_flow(value):
        return None
    return _Shape(end=len(indent), column=column, key=key or b"")


def _is_plain_flow(text: bytes) -> bool:
    """Return whether each mapping in braces has different keys, all of them text."""
    bare = re.sub(_QUOTED, b"", text)
    for mapping in (*re.findall(_BRACES, bare[1:-1]), re.sub(_BRACES, b"", bare[1:-1])):
        keys = re.findall(_FLOW_KEY, mapping)
        if len(set(keys)) < len(keys) or not _NOT_TEXT.isdisjoint(keys):
            return False
    return True


def _repeats_key(shapes: Iterable[_Shape]) -> bool:
    """Return whether a mapping of lines has a key twice."""
    mappings: list[tuple[int, set[bytes]]] = [(-1, set())]  # those that are open, each with its column
    for end, column, key in shapes:
        while mappings[-1][0] > end:
            mappings.pop()
        if not key:
            continue
        if mappings[-1][0] != column:
            mappings.append((column, {key}))
        elif key in mappings[-1][1]:
            return True
        else:
            mappings[-1][1].add(key)
    return False

"""Read YAML: the only reader in infx, for strict YAML 1.2, and fast.

libyaml composes the nodes. Values are built here, to refuse with a line what PyYAML's loaders accept: duplicate keys
(both lines), keys that are not text, tags, merge keys, aliases that contain themselves or expand too far, several
documents, a byte order mark, NUL, and bytes that are not UTF-8.

Plain scalars follow the core schema of YAML 1.2 (only true and false are booleans, dates are text, `010` is ten,
`1e3` is a number), with one addition: integers with underscores such as `1_000`, because configurations use them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import yaml

from infx.errors import Problem, ProblemsError
from infx.records import record

MAX_DEPTH = 64
MAX_EXPANDED_NODES = 2_000_000  # with expanded aliases; the largest real file has 60,000

_NULLS = {"", "~", "null", "Null", "NULL"}
_BOOLEANS = {word: word.lower() == "true" for word in ("true", "True", "TRUE", "false", "False", "FALSE")}
# At most 18 digits: a number that does not fit into 64 bits is a float, or text if it does not fit into a float either;
# a schema that expects an integer refuses it.
# `re` compiles these patterns on first use, because most commands never need them.
_INTEGER = r"[-+]?[0-9](?:_?[0-9]){0,17}"
_OTHER_BASE = r"0o[0-7]{1,20}|0x[0-9a-fA-F]{1,15}"
_FLOAT = r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]{1,3})?"
_NUMERIC = "0123456789abcdefABCDEFxo+-._"
_STR_TAG = "tag:yaml.org,2002:str"
_PLAIN = "plain"  # infx's own tag for scalars whose text determines their type
_QUOTED = "quoted"


@record
class Document:
    """A parsed file."""

    path: str
    value: Any  # plain Python: dict, list, str, int, float, bool, None
    root: yaml.Node
    has_whole_floats: bool = (
        False  # a number such as 8.0 or 1e3 occurs, which JSON Schema accepts as an integer
    )
    first_line: int = 1

    def line(self, *path: str | int) -> int:
        """Return the line, from 1, of the key or item at `path`; otherwise of its nearest existing parent."""
        node, line = self.root, self.root.start_mark.line + self.first_line
        for step in path:
            child = _child(node, step)
            if child is None:
                break
            start, node = child
            line = start.start_mark.line + self.first_line
        return line


def load(data: bytes, path: str, *, text_keys: bool = False, first_line: int = 1) -> Document:
    """Parse one document.

    text_keys: read keys such as numbers, booleans or null as the text that is written there.
    first_line: line of the file `path` at which the data starts, if the data is only a part of the file.
    Raises ProblemsError, with a line for each problem.
    """
    refuse_bytes(data, path, first_line)
    root = _compose(data, path, first_line)
    builder = _Builder(path, first_line, text_keys=text_keys)
    value = None if root is None else builder.build(root)
    if builder.problems:
        raise ProblemsError(builder.problems)
    return Document(
        path=path,
        value=value,
        root=root or _empty_node(),
        has_whole_floats=builder.has_whole_floats,
        first_line=first_line,
    )


def load_mapping(data: bytes, path: str, *, text_keys: bool = False) -> Document:
    """Parse one document whose root must be a mapping; see `load`."""
    document = load(data, path, text_keys=text_keys)
    if not isinstance(document.value, dict):
        content = {type(None): "nothing", list: "a list", str: "text", bool: "true or false"}.get(
            type(document.value), "a number"
        )
        raise ProblemsError(
            [_problem(path, 1, "yaml-root", f"The file holds {content}; expected a mapping.")]
        )
    return document


def find_top_level_keys(data: bytes, path: str) -> dict[str, int]:
    """Find the keys of the root mapping with their lines (from 1), from parser events, without building values.

    A duplicate key keeps its first line. Raises ProblemsError for a syntax error, several documents, or a root that is
    not a mapping.
    """
    refuse_bytes(data, path)
    keys: dict[str, int] = {}
    depth, documents, is_key = 0, 0, True
    try:
        for event in yaml.parse(data, Loader=yaml.CLoader):
            if isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            elif isinstance(event, yaml.NodeEvent):
                line = _mark_line(event.start_mark)
                if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
                    # The parser marks an empty document after its ---.
                    line = min(line, max(len(data.splitlines()), 1))
                    raise ProblemsError([_problem(path, line, "yaml-root", "Expected a mapping.")])
                if depth == 1:
                    if is_key and isinstance(event, yaml.ScalarEvent):
                        keys.setdefault(str(event.value), line)
                    is_key = not is_key
                depth += isinstance(event, yaml.CollectionStartEvent)
            elif isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise ProblemsError([_several_documents(path, _mark_line(event.start_mark))])
    except yaml.YAMLError as error:
        raise ProblemsError([_syntax_problem(error, data, path)]) from None
    return keys


def _several_documents(path: str, line: int) -> Problem:
    text = "A second document starts here; expected one."
    return _problem(path, line, "yaml-documents", text, "Remove the line with ---.")


# libyaml, like YAML 1.1, ends a line at these characters; YAML 1.2, editors and git do not.
_SEPARATORS = {b"\xc2\x85": "U+0085", b"\xe2\x80\xa8": "U+2028", b"\xe2\x80\xa9": "U+2029"}


def refuse_bytes(data: bytes, path: str, first_line: int = 1) -> None:
    """Raise ProblemsError for bytes that a YAML file must not contain."""
    problems = []

    def refuse(offset: int, rule: str, message: str, hint: str) -> None:
        problems.append(_problem(path, _line_at(data, offset, first_line), rule, message, hint))

    if data.startswith(b"\xef\xbb\xbf"):
        refuse(0, "yaml-bom", "The file starts with a byte order mark.", "Save it as UTF-8 without BOM.")
    if (offset := data.find(b"\0")) >= 0:
        refuse(offset, "yaml-nul", "A NUL byte is not allowed.", "Remove it.")
    for separator, name in _SEPARATORS.items():
        if (offset := data.find(separator)) >= 0:
            text = f"An invisible line separator ({name}) is not allowed."
            refuse(offset, "yaml-separator", text, 'Remove it, or write it as an escape in "…".')
    try:
        data.decode()
    except UnicodeDecodeError as error:
        text = f"Byte 0x{data[error.start]:02x} is not UTF-8."
        refuse(error.start, "yaml-utf8", text, "Save the file as UTF-8.")
    if problems:
        raise ProblemsError(problems)


def _mark_line(mark: Any) -> int:
    return int(mark.line) + 1


def _line_at(data: bytes, offset: int, first_line: int) -> int:
    return data.count(b"\n", 0, offset) + first_line


class _TooDeepError(Exception):
    def __init__(self, line: int) -> None:
        super().__init__()
        self.line = line


class _Composer(yaml.CLoader):
    """libyaml's composer, without guessing types and with a limit for nesting."""

    depth = 0

    def descend_resolver(self, current_node: Any, current_index: Any) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _TooDeepError(_mark_line(current_node.start_mark))

    def ascend_resolver(self) -> None:
        self.depth -= 1

    def resolve(self, kind: Any, value: Any, implicit: Any) -> str:
        if kind is yaml.ScalarNode:
            return _PLAIN if implicit[0] else _QUOTED
        return ""


class _LastAnchorComposer(yaml.composer.Composer, _Composer):
    """PyYAML's own composer over libyaml's events: slower, but an anchor may be set again, and its last value counts.

    YAML 1.2 allows that; libyaml's composer refuses it.
    """

    def __init__(self, data: bytes) -> None:
        _Composer.__init__(self, data)
        yaml.composer.Composer.__init__(self)

    def compose_node(self, parent: Any, index: Any) -> Any:
        event: Any = self.peek_event()
        if not isinstance(event, yaml.AliasEvent):
            self.anchors.pop(event.anchor, None)
        return super().compose_node(parent, index)


def _compose(data: bytes, path: str, first_line: int) -> yaml.Node | None:
    try:
        try:
            return _compose_with(_Composer(data))
        except yaml.composer.ComposerError as error:
            if "duplicate anchor" not in str(error.context):
                raise
            return _compose_with(_LastAnchorComposer(data))
    except _TooDeepError as error:
        text = f"Nested deeper than {MAX_DEPTH} levels."
        raise ProblemsError([_problem(path, error.line + first_line - 1, "yaml-depth", text)]) from None
    except yaml.YAMLError as error:
        raise ProblemsError([_syntax_problem(error, data, path, first_line)]) from None


def _compose_with(loader: _Composer) -> yaml.Node | None:
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _syntax_problem(error: yaml.YAMLError, data: bytes, path: str, first_line: int = 1) -> Problem:
    marks = [getattr(error, "problem_mark", None), getattr(error, "context_mark", None)]
    problem = getattr(error, "problem", None) or ""
    if "expected ':'" in problem or "end of stream" in problem:  # the parser notices it long after the fault
        marks.reverse()
    mark = marks[0] or marks[1]
    lines = data.splitlines()
    line = mark.line + first_line if mark else _line_at(data, getattr(error, "position", 0), first_line)
    line = min(line, first_line + max(len(lines), 1) - 1)  # the parser may mark a place after the last line
    parts = [getattr(error, "context", None), getattr(error, "problem", None)]
    text = ", ".join(part for part in parts if part) or str(error).splitlines()[0].rstrip(".")
    hint = None
    if "single document" in text:
        return _several_documents(path, line)
    if lines and re.match(rb" *\t", lines[line - first_line]):
        hint = "Indent with spaces instead of tabs."
    return _problem(path, line, "yaml-syntax", f"This is not YAML: {text}.", hint)


def _problem(path: str, line: int | None, rule: str, message: str, hint: str | None = None) -> Problem:
    return Problem(rule=rule, message=message, path=path, line=line, hint=hint)


def _empty_node() -> yaml.Node:
    mark = yaml.Mark("", 0, 0, 0, None, 0)
    return yaml.ScalarNode(_PLAIN, "", mark, mark)


def _child(node: yaml.Node, step: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """Return (first node, value node) of a key or an item."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(step):
                return key, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        return node.value[step], node.value[step]
    return None


def parse_plain_scalar(text: str) -> str | int | float | bool | None:
    """Return the value of an unquoted scalar."""
    first = text[:1]
    if first.isalpha() or first in {"", "~"}:
        return None if text in _NULLS else _BOOLEANS.get(text, text)
    if len(text) <= 18 and text.isascii() and text.isdigit():
        return int(text)
    return _parse_number(text)


def _parse_number(text: str) -> str | int | float:
    if text.strip(_NUMERIC):
        return text
    if re.fullmatch(_INTEGER, text):
        return int(text.replace("_", ""))
    if re.fullmatch(_OTHER_BASE, text):
        return int(text, 0)
    if re.fullmatch(_FLOAT, text) and math.isfinite(number := float(text)):
        return number
    return text


class _Builder:
    def __init__(self, path: str, first_line: int, *, text_keys: bool) -> None:
        self.path = path
        self.first_line = first_line
        self.text_keys = text_keys
        self.problems: list[Problem] = []
        self.expanded = 0  # number of nodes, with expanded aliases
        self.done: dict[int, tuple[Any, int]] = {}  # collection node → value, expanded size
        self.plain: dict[str, Any] = {}

    @property
    def has_whole_floats(self) -> bool:
        return any(isinstance(value, float) and value.is_integer() for value in self.plain.values())

    def refuse(self, node: yaml.Node, rule: str, message: str, hint: str | None = None) -> None:
        self.problems.append(_problem(self.path, node.start_mark.line + self.first_line, rule, message, hint))

    def build(self, node: yaml.Node) -> Any:
        tag = node.tag
        if tag == "":
            return self.build_collection(node)
        self.expanded += 1
        if tag == _PLAIN:
            text = node.value
            if text not in self.plain:
                self.plain[text] = parse_plain_scalar(text)
            return self.plain[text]
        if tag == _QUOTED or self.is_text(node):
            return node.value
        return None

    def is_text(self, node: yaml.Node) -> bool:
        """Return whether a tagged node is text, and refuse every tag except !!str."""
        if node.tag == _STR_TAG and isinstance(node, yaml.ScalarNode):
            return True
        shown = str(node.tag).replace("tag:yaml.org,2002:", "!!")
        hint = "Remove it; quote text that needs it."
        self.refuse(node, "yaml-tag", f"The tag {shown} is not allowed.", hint)
        return False

    def build_collection(self, node: yaml.Node) -> Any:
        key = id(node)
        if key in self.done:
            value, size = self.done[key]
            if size == 0:
                self.refuse(node, "yaml-alias", "An anchor contains an alias of itself.")
                return None
            self.expanded += size
            if self.expanded > MAX_EXPANDED_NODES:
                text = f"The aliases expand to more than {MAX_EXPANDED_NODES:,} values."
                raise ProblemsError(
                    [_problem(self.path, node.start_mark.line + self.first_line, "yaml-alias", text)]
                )
            return value
        before = self.expanded
        self.done[key] = (None, 0)
        self.expanded += 1
        value = (
            self.build_mapping(node) if isinstance(node, yaml.MappingNode) else self.build_items(node.value)
        )
        self.done[key] = (value, self.expanded - before)
        return value

    def build_items(self, nodes: Iterable[yaml.Node]) -> list[Any]:
        build = self.build
        return [build(node) for node in nodes]

    def build_mapping(self, node: yaml.Node) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            key = self.build_key(key_node)
            if key is None:
                continue
            line = key_node.start_mark.line + self.first_line
            if key in result:
                text = f'The key "{key}" occurs twice, on lines {lines[key]} and {line}.'
                self.refuse(key_node, "yaml-duplicate-key", text, "Keep one of them.")
            lines[key] = line
            result[key] = self.build(value_node)
        return result

    def build_key(self, node: yaml.Node) -> str | None:
        if not isinstance(node, yaml.ScalarNode):
            self.refuse(node, "yaml-key", "A key must be text, not a list or a mapping.")
            return None
        text = str(node.value)
        if node.tag == _PLAIN:
            if text == "<<":
                hint = "Write the values out."
                self.refuse(node, "yaml-merge-key", "Merge keys (<<) are not YAML 1.2.", hint)
                return None
            if not self.text_keys and not isinstance(parse_plain_scalar(text), str):
                self.refuse(node, "yaml-key", f"The key {text or 'null'} is not text.", f'Write "{text}".')
                return None
        elif node.tag != _QUOTED and not self.is_text(node):
            return None
        return text

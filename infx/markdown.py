"""Parse comments as readers see them, without quotes, code and hidden HTML.

The blocks come from the tokens of a CommonMark parser, not from regular expressions over the source: an example in
a fence is not a command, and a quoted checklist is not a checklist.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from infx.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

MAX_CHARACTERS = 262_144  # four times GitHub's limit for a comment
# The longest text that is parsed without knowing its author's role. The parser's time grows with the square of
# the length: 65,000 brackets take seconds, 4,000 take a hundredth of a second.
MAX_UNTRUSTED = 4_000

_TASK = r"\[([ xX])\][ \t]+(?=\S)"
_ADDRESS = r"https?://[^\s<>\"'`]+"
_HIDING_TAG = re.compile(
    r"<(/?)(blockquote|pre|code|samp|template)\b[^>]*>|<!--.*?(?:-->|\Z)", re.IGNORECASE | re.DOTALL
)


class BlockKind(StrEnum):
    PARAGRAPH = "paragraph"
    HEADING = "heading"
    ITEM = "item"
    TASK = "task"


@record
class MarkdownBlock:
    """A visible block of text."""

    kind: BlockKind
    text: str  # as read: one line for each source line, without formatting, links as their text
    source: str  # the same with its Markdown
    line: int  # in the comment, from 1
    depth: int = 0  # of list nesting; 0 outside of lists
    item: int = 0  # a number that all blocks of one list item share
    parent: int = 0  # the number of the surrounding item
    ordinal: str = ""  # the number of an item in a numbered list
    checked: bool = False  # for a task only
    lead: str = ""  # the bold words at its start
    links: tuple[str, ...] = ()  # addresses, in order

    @property
    def is_task(self) -> bool:
        return self.kind is BlockKind.TASK


@dataclass
class _Cursor:
    """The position in the token stream."""

    quotes: int = 0  # open block quotes
    hidden: int = 0  # open HTML elements that hide text
    items: list[int] = field(default_factory=lambda: [0])
    ordinals: list[str] = field(default_factory=lambda: [""])
    last_item: int = 0

    @property
    def is_visible(self) -> bool:
        return self.quotes == 0 and self.hidden == 0


@functools.lru_cache(maxsize=16)  # several rules parse the same comment
def parse_markdown(source: str) -> tuple[MarkdownBlock, ...]:
    """Return all visible blocks in order. Text beyond `MAX_CHARACTERS` is ignored."""
    from markdown_it import MarkdownIt

    source = re.sub(r"\r\n?", "\n", source[:MAX_CHARACTERS])
    tokens = MarkdownIt("commonmark").parse(source)
    cursor = _Cursor()
    return tuple(_walk(tokens, cursor))


def find_command_lines(source: str) -> tuple[str, ...]:
    """Return the lines of visible top-level paragraphs, which may be commands such as `/use 42`.

    Formatting stays as typed, so that a line in backticks or bold is not a command.
    """
    blocks = parse_markdown(source)
    return tuple(
        line.strip()
        for block in blocks
        if block.kind is BlockKind.PARAGRAPH and block.depth == 0
        for line in block.source.split("\n")
    )


def _walk(tokens: Sequence[Token], cursor: _Cursor) -> Iterator[MarkdownBlock]:
    for index, token in enumerate(tokens):
        match token.type:
            case "blockquote_open":
                cursor.quotes += 1
            case "blockquote_close":
                cursor.quotes -= 1
            case "list_item_open":
                cursor.last_item += 1
                cursor.items.append(cursor.last_item)
                cursor.ordinals.append(token.info)
            case "list_item_close":
                cursor.items.pop()
                cursor.ordinals.pop()
            case "html_block":
                cursor.hidden = _count_hidden(token.content, cursor.hidden)
            case "inline" if cursor.is_visible:
                yield _make_block(tokens, index, cursor)
            case _:
                pass


def _count_hidden(html: str, depth: int) -> int:
    for tag in _HIDING_TAG.finditer(html):
        if tag[2]:
            depth = max(depth + (-1 if tag[1] else 1), 0)
    return depth


def _make_block(tokens: Sequence[Token], index: int, cursor: _Cursor) -> MarkdownBlock:
    token = tokens[index]
    source, text = _render_inline(token)
    depth = len(cursor.items) - 1
    kind, checked = _find_kind(tokens, index, depth), False
    if kind is BlockKind.ITEM and (task := _match_task(tokens, index)):
        kind, checked = BlockKind.TASK, task[1] != " "
        source, text = (re.sub(_TASK, "", part, count=1) for part in (source, text))
    return MarkdownBlock(
        kind=kind,
        text=text.strip(),
        source=source.strip(),
        line=(token.map or [0])[0] + 1,
        depth=depth,
        item=cursor.items[-1],
        parent=cursor.items[-2] if depth else 0,
        ordinal=cursor.ordinals[-1],
        checked=checked,
        lead=_find_lead(token),
        links=tuple(_find_links(token, text)),
    )


def _find_kind(tokens: Sequence[Token], index: int, depth: int) -> BlockKind:
    if index and tokens[index - 1].type == "heading_open":
        return BlockKind.HEADING
    return BlockKind.ITEM if depth else BlockKind.PARAGRAPH


def _match_task(tokens: Sequence[Token], index: int) -> re.Match[str] | None:
    """Match the box of a task, which is the first paragraph of a list item."""
    opening = [tokens[index - back].type if index >= back else "" for back in (1, 2, 3, 4)]
    if opening[:2] != ["paragraph_open", "list_item_open"]:
        return None
    # GitHub shows no box for an item that starts on the same line as its parent item.
    if opening[3] == "list_item_open" and _is_same_line(tokens[index - 4], tokens[index]):
        return None
    return re.match(_TASK, tokens[index].content)


def _is_same_line(first: Token, second: Token) -> bool:
    return bool(first.map and second.map and first.map[0] == second.map[0])


def _render_inline(token: Token) -> tuple[str, str]:
    """Return the source without hidden parts, and the text that a reader sees."""
    source, text = [], []
    for child in token.children or ():
        match child.type:
            case "softbreak" | "hardbreak":
                source.append("\n")
                text.append("\n")
            case "html_inline":
                pass
            case "code_inline":
                source.append(f"{child.markup}{child.content}{child.markup}")
                text.append(child.content)
            case "image":
                text.append(child.content)
                source.append(f"![{child.content}]")
            case "link_open":
                source.append("[")
            case "link_close":
                source.append("]")
            case _:
                source.append(child.content or child.markup)
                text.append(child.content)
    return "".join(source), "".join(text)


def _find_lead(token: Token) -> str:
    """Return the bold words at the start of a block, after the box of a task."""
    children = [child for child in token.children or () if child.type != "html_inline"]
    if (
        children
        and children[0].type == "text"
        and not re.sub(_TASK, "", children[0].content, count=1).strip(" []xX")
    ):
        children = children[1:]
    if not children or children[0].type != "strong_open":
        return ""
    words = []
    for child in children[1:]:
        if child.type == "strong_close":
            break
        words.append(child.content)
    return "".join(words).strip()


def _find_links(token: Token, text: str) -> Iterator[str]:
    """Return the addresses of links and bare addresses, each once."""
    urls = [str(child.attrs.get("href", "")) for child in token.children or () if child.type == "link_open"]
    urls += [match.rstrip(".,;:!?)*_") for match in re.findall(_ADDRESS, text)]
    yield from dict.fromkeys(url for url in urls if url)

"""Locate the link of an entry, and plan the edit that gives it its plain form on one line."""

from __future__ import annotations

import yaml

from infx.changelog.blocks import LINK_KEY, Block
from infx.rules import Edit

_INDENT = b"  "


def render_link_line(link: str) -> bytes:
    return _INDENT + f"{LINK_KEY}: {link}\n".encode()


def has_plain_link(block: Block) -> bool:
    """Return whether the link is written as `  pr-link: <link>`, with nothing else on its line."""
    located = block.find(LINK_KEY)
    if located is None or block.link is None:
        return False
    start = block.source.line_start(located[0])
    return block.source.data.startswith(render_link_line(block.link), start)


def plan_link_edit(block: Block, link: str) -> Edit | None:
    """Return the edit that replaces all lines of the link's key and value, with any comment, by one plain line.

    If the entry has no link, the edit adds one at its end. None if the key shares its line with other text, as in
    `{...}` or after `- `.
    """
    source = block.source
    located = block.find(LINK_KEY)
    if located is None:
        if not isinstance(block.node, yaml.MappingNode) or block.node.flow_style:
            return None
        return Edit(
            block.end, block.end, (b"" if block.data.endswith(b"\n") else b"\n") + render_link_line(link)
        )
    key, value = located
    start = source.line_start(key)
    before, after = source.data[start:key], value.rest
    is_alone = before in {_INDENT, _INDENT + b"? "} and start != block.start
    if not is_alone or not (after == b"" or after.startswith(b"#")):
        return None
    return Edit(start, value.line_end, render_link_line(link))

"""Where a link stands in an entry, and the edit that gives it its one-line plain form."""

from __future__ import annotations

import yaml

from infx.changelog.blocks import LINK_KEY, Block
from infx.rules import Edit

_INDENT = b"  "


def link_line(link: str) -> bytes:
    return _INDENT + f"{LINK_KEY}: {link}\n".encode()


def stands_canonical(block: Block) -> bool:
    """The link is written as `  pr-link: <link>`, and nothing else is on its line."""
    found = block.find(LINK_KEY)
    if found is None or block.link is None:
        return False
    start = block.source.line_start(found[0])
    return block.source.data.startswith(link_line(block.link), start)


def link_edit(block: Block, link: str) -> Edit | None:
    """The whole lines of key and value, whatever style they have, replaced by one; a comment on them goes.

    Without a link, one is put at the end of the entry. None where the key does not stand on lines of its own, as in
    `{...}` or behind `- `.
    """
    source = block.source
    found = block.find(LINK_KEY)
    if found is None:
        if not isinstance(block.node, yaml.MappingNode) or block.node.flow_style:
            return None
        return Edit(block.end, block.end, (b"" if block.data.endswith(b"\n") else b"\n") + link_line(link))
    key, value = found
    start = source.line_start(key)
    before, after = source.data[start:key], value.rest
    is_alone = before in {_INDENT, _INDENT + b"? "} and start != block.start
    if not is_alone or not (after == b"" or after.startswith(b"#")):
        return None
    return Edit(start, value.line_end, link_line(link))

"""Write both sides of a conflict into one file, for the case that git cannot merge lines."""

from __future__ import annotations

import itertools

from infx.changelog.compare import complete


def render_conflict(ours: bytes, theirs: bytes, marker_size: int) -> bytes:
    """Render the common start of both sides, then the whole rest of each side between conflict markers."""
    pairs = zip(ours.splitlines(keepends=True), theirs.splitlines(keepends=True), strict=False)
    same = sum(len(line) for line, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
    opening, middle, closing = (sign * marker_size for sign in (b"<", b"=", b">"))
    parts = [complete(ours[:same]), opening + b" ours\n", complete(ours[same:]), middle + b"\n"]
    return b"".join([*parts, complete(theirs[same:]), closing + b" theirs\n"])

"""Append entries to a changelog: its bytes, one empty line, an entry, one empty line, an entry."""

from __future__ import annotations

from collections.abc import Sequence

from infx.changelog.compare import complete


def choose_separator(base: bytes) -> bytes:
    """Return the bytes that must separate a changelog from the next entry."""
    return b"" if not base or base.endswith(b"\n\n") else b"\n"


def append(base: bytes, entries: Sequence[bytes]) -> bytes:
    """Return the base's bytes, with a final newline, followed by the entries."""
    if not entries:
        return base
    base = complete(base)
    return base + choose_separator(base) + b"\n".join(complete(entry) for entry in entries)

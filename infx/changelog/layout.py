"""How entries are put behind a changelog: its bytes, one empty line, an entry, one empty line, an entry."""

from __future__ import annotations

from collections.abc import Sequence

from infx.changelog.compare import complete


def separator(base: bytes) -> bytes:
    """What must stand between a changelog and the next entry."""
    return b"" if not base or base.endswith(b"\n\n") else b"\n"


def append(base: bytes, entries: Sequence[bytes]) -> bytes:
    """The base's bytes, a missing final newline completed, and the entries behind them."""
    if not entries:
        return base
    base = complete(base)
    return base + separator(base) + b"\n".join(complete(entry) for entry in entries)

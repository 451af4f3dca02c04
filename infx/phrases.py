"""Render numbers and lists for a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str, plural: str | None = None) -> str:
    """Return the number with its noun: `1 row`, `2,000 rows`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def join_words(words: Sequence[str], last: str = "and", *, limit: int | None = None) -> str:
    """Join words: `a`, `a and b`, `a, b and c`; if there are more than `limit`: `a, b and 3 more`."""
    if limit is not None and len(words) > limit:
        return join_some(words, limit)
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def join_some(words: Sequence[str], limit: int, *, separator: str = ", ") -> str:
    """Join the first `limit` words, and count the remaining ones: `a, b and 3 more`."""
    remaining = len(words) - limit
    return separator.join(words[:limit]) + (f" and {remaining:,} more" if remaining > 0 else "")

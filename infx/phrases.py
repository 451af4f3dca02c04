"""Numbers, lists and values in a sentence."""

from __future__ import annotations

from collections.abc import Sequence


def count(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2,000 rows`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def join_words(words: Sequence[str], last: str = "and", *, limit: int | None = None) -> str:
    """`a`, `a and b`, `a, b and c`; of more than `limit` words: `a, b and 3 more`."""
    if limit is not None and len(words) > limit:
        return join_some(words, limit)
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def join_some(words: Sequence[str], limit: int, *, separator: str = ", ") -> str:
    """Return the first words, and how many there are beyond `limit`: `a, b and 3 more`."""
    rest = len(words) - limit
    return separator.join(words[:limit]) + (f" and {rest:,} more" if rest > 0 else "")

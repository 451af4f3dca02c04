"""Compute a fingerprint of a pull request's changes; two heads with equal changes share it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from infx.changelog.delta import read_delta
from infx.errors import ProblemsError
from infx.matrix.parse import parse_master

Versions = tuple[bytes | None, bytes | None]  # a file at the merge base, and at the head

_ABSENT = "absent"


def make_fingerprint(
    blobs: Mapping[str, object], masters: Mapping[str, Versions], changelog: Versions
) -> str:
    """Return the digest of a change.

    Args:
        blobs: path → modes and ids of both versions, for every changed file except the changelog and the
            masters. Different versions are a different change, even if the changed lines are equal.
        masters: the changed master configurations, compared entry by entry, so that other pull requests may
            change other entries.
        changelog: compared by the meaning of its new entries; their links do not count.
    """
    parts = [
        sorted((path, repr(versions)) for path, versions in blobs.items()),
        sorted((path, repr(_compare_master(path, *versions))) for path, versions in masters.items()),
        _read_entries(*changelog),
    ]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _compare_master(path: str, before: bytes | None, after: bytes | None) -> object:
    """Return the values of each changed entry, and the added and removed lines, which include comments.

    Return the whole contents if a version cannot be parsed or entries were reordered.
    """
    old, new = _parse(path, before), _parse(path, after)
    if old is None or new is None or _list_shared(old, new) != _list_shared(new, old):
        return before, after
    # repr, because 1 equals True in Python
    values = [(key, repr(old.get(key, _ABSENT)), repr(new.get(key, _ABSENT))) for key in sorted({*old, *new})]
    changed = [(key, past, now) for key, past, now in values if past != now]
    old_lines, new_lines = (Counter((data or b"").splitlines()) for data in (before, after))
    return changed, sorted((new_lines - old_lines).elements()), sorted((old_lines - new_lines).elements())


def _parse(path: str, data: bytes | None) -> Mapping[str, Any] | None:
    if data is None:
        return {}
    document = parse_master(data, path, only=()).document
    return None if document is None else {str(key): value for key, value in document.value.items()}


def _list_shared(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the keys that both mappings have, in the order of the first."""
    return [key for key in first if key in second]


def _read_entries(before: bytes | None, after: bytes | None) -> object:
    """Return the new entries without links and line numbers, and the corrected links.

    Return the contents if they cannot be parsed.
    """
    try:
        delta = read_delta(before or b"", after or b"", "")
    except ProblemsError:
        return before, after
    return [replace(entry, line=0, pr_link=None) for entry in delta.entries], delta.corrections

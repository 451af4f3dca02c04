"""A name for what a pull request changes, equal for two heads only if they bring the same to the same places."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from infx.changelog.delta import read_delta
from infx.errors import ProblemsError
from infx.matrix.parse import parse_master

Versions = tuple[bytes | None, bytes | None]  # a file where the branch left its base, and at the head

_ABSENT = "absent"


def make_fingerprint(
    blobs: Mapping[str, object], masters: Mapping[str, Versions], changelog: Versions
) -> str:
    """Return the digest of a change.

    blobs: path → modes and ids of both versions, for every changed file but the changelog and the masters. Another
    version on either side is another change, even if its lines read the same. masters: the changed master
    configurations, compared entry by entry, so that others may change their own entries. changelog: compared by the
    meaning of its new entries, whatever their links.
    """
    parts = [
        sorted((path, repr(versions)) for path, versions in blobs.items()),
        sorted((path, repr(_compare_master(path, *versions))) for path, versions in masters.items()),
        _read_entries(*changelog),
    ]
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _compare_master(path: str, before: bytes | None, after: bytes | None) -> object:
    """Return what differs: the values of each changed entry, and the lines that came and went, comments among them.

    The whole contents where a version cannot be read or entries changed places.
    """
    old, new = _parse(path, before), _parse(path, after)
    if old is None or new is None or _order(old, new) != _order(new, old):
        return before, after
    values = [(key, repr(old.get(key, _ABSENT)), repr(new.get(key, _ABSENT))) for key in sorted({*old, *new})]
    values = [(key, past, now) for key, past, now in values if past != now]  # to Python, 1 equals true
    gone, came = (Counter((data or b"").splitlines()) for data in (before, after))
    return values, sorted((came - gone).elements()), sorted((gone - came).elements())


def _parse(path: str, data: bytes | None) -> Mapping[str, Any] | None:
    if data is None:
        return {}
    document = parse_master(data, path, only=()).document
    return None if document is None else {str(key): value for key, value in document.value.items()}


def _order(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The entries that both have, in the order of the first."""
    return [key for key in one if key in other]


def _read_entries(before: bytes | None, after: bytes | None) -> object:
    """The new entries without their links and lines, and the corrected links; the contents if they cannot be read."""
    try:
        delta = read_delta(before or b"", after or b"", "")
    except ProblemsError:
        return before, after
    return [replace(entry, line=0, pr_link=None) for entry in delta.entries], delta.corrections

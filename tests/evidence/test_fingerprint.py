"""Compare the fingerprints of changes: which changes have equal fingerprints, and which have different fingerprints."""

from __future__ import annotations

import pytest

from infx.evidence.fingerprint import Versions, make_fingerprint

OLD = b"- config-keys: [a]\n  description: [old]\n  pr-link: https://github.com/acme/bench/pull/1\n"
NEW = b"\n- config-keys: [b]\n  description: [new]\n  pr-link: XXX\n"
MASTER = b"a: {tp: 1}\nb: {tp: 1}\n"


def fingerprint(
    *,
    blobs: dict[str, object] | None = None,
    master: Versions | None = None,
    changelog: Versions = (OLD, OLD + NEW),
) -> str:
    masters = {} if master is None else {"m.yaml": master}
    return make_fingerprint(blobs or {}, masters, changelog)


@pytest.mark.parametrize(
    "change",
    [
        {"blobs": {"a": ("100644", "100644", "1", "2")}},
        {"blobs": {"b": ("100644", "100644", "1", "3")}},
        {"blobs": {"b": ("100644", "100755", "1", "2")}},
        {"blobs": {"b": ("100644", "100644", "0", "2")}},  # same result, different base version
        {"changelog": (OLD, OLD)},
        {"changelog": (OLD, OLD + NEW.replace(b"new", b"newer"))},
        {"changelog": (OLD, OLD.replace(b"pull/1", b"pull/2"))},  # a corrected link
        {"changelog": (OLD, b"broken")},
        {"changelog": (None, OLD + NEW)},
    ],
)
def test_different_changes_have_different_fingerprints(change: dict[str, object]) -> None:
    same = {"blobs": {"b": ("100644", "100644", "1", "2")}}
    assert fingerprint(**same) == fingerprint(**same)  # type: ignore[arg-type]  # a subset of the keywords
    assert fingerprint(**same) != fingerprint(**{**same, **change})  # type: ignore[arg-type]  # a subset of the keywords


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b"a: {tp: 2}\nb: {tp: 1}\n", b"a: {tp: 1}\nb: {tp: 2}\n"),  # another entry
        (b"a: {tp: true}\nb: {tp: 1}\n", MASTER),  # equal in Python
        (b"a: {tp: 1.0}\nb: {tp: 1}\n", MASTER),
        (b"# why\na: {tp: 1}\nb: {tp: 1}\n", MASTER),
        (b"b: {tp: 1}\na: {tp: 1}\n", MASTER),  # reordered entries
        (b"a: {tp: 1}\n", b"b: {tp: 1}\n"),  # different removed entries
        (b"a: {tp: 1}\nb: {tp: 1}\nc: {tp: 1}\n", b"a: {tp: 1}\nb: {tp: 1}\nd: {tp: 1}\n"),
        (b"a: [", b"a: {"),  # neither can be read
        (None, b""),
    ],
)
def test_keys_values_and_order_of_a_master_file_matter(first: bytes | None, second: bytes | None) -> None:
    assert fingerprint(master=(MASTER, first)) != fingerprint(master=(MASTER, second))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"z: {tp: 9}\n" + MASTER, b"z: {tp: 9}\na: {tp: 2}\nb: {tp: 1}\n"),
        (MASTER + b"z: {tp: 9}\n", b"a: {tp: 2}\nb: {tp: 1}\nz: {tp: 9}\n"),
        (b"a: {tp: 1}\nb: {tp: 7}\n", b"a: {tp: 2}\nb: {tp: 7}\n"),
    ],
)
def test_changes_of_other_entries_at_the_base_do_not_matter(before: bytes, after: bytes) -> None:
    assert fingerprint(master=(before, after)) == fingerprint(master=(MASTER, b"a: {tp: 2}\nb: {tp: 1}\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OLD, OLD + NEW.replace(b"XXX", b"https://github.com/acme/bench/pull/77")),
        (OLD + NEW.replace(b"b", b"c", 1), OLD + NEW.replace(b"b", b"c", 1) + NEW),
    ],
    ids=["canonical link", "after an entry of another pull request"],
)
def test_links_and_lines_of_new_entries_do_not_matter(before: bytes, after: bytes) -> None:
    assert fingerprint(changelog=(before, after)) == fingerprint()

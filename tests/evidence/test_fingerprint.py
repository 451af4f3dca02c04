"""A name for a change: what makes two of them the same, and what does not."""

from __future__ import annotations

import pytest

from infx.evidence.fingerprint import Versions, make_fingerprint

OLD = b"- config-keys: [a]\n  description: [old]\n  pr-link: https://github.com/acme/bench/pull/1\n"
NEW = b"\n- config-keys: [b]\n  description: [new]\n  pr-link: XXX\n"
MASTER = b"a: {tp: 1}\nb: {tp: 1}\n"


def name(
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
        {"blobs": {"b": ("100644", "100644", "0", "2")}},  # another version is changed into the same
        {"changelog": (OLD, OLD)},
        {"changelog": (OLD, OLD + NEW.replace(b"new", b"newer"))},
        {"changelog": (OLD, OLD.replace(b"pull/1", b"pull/2"))},  # a corrected link
        {"changelog": (OLD, b"broken")},
        {"changelog": (None, OLD + NEW)},
    ],
)
def test_another_change_has_another_name(change: dict[str, object]) -> None:
    same = {"blobs": {"b": ("100644", "100644", "1", "2")}}
    assert name(**same) == name(**same)  # type: ignore[arg-type]  # one of them
    assert name(**same) != name(**{**same, **change})  # type: ignore[arg-type]  # one of them


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (b"a: {tp: 2}\nb: {tp: 1}\n", b"a: {tp: 1}\nb: {tp: 2}\n"),  # another entry
        (b"a: {tp: true}\nb: {tp: 1}\n", MASTER),  # to Python they are equal
        (b"a: {tp: 1.0}\nb: {tp: 1}\n", MASTER),
        (b"# why\na: {tp: 1}\nb: {tp: 1}\n", MASTER),
        (b"b: {tp: 1}\na: {tp: 1}\n", MASTER),  # entries change places
        (b"a: {tp: 1}\n", b"b: {tp: 1}\n"),  # another entry goes
        (b"a: {tp: 1}\nb: {tp: 1}\nc: {tp: 1}\n", b"a: {tp: 1}\nb: {tp: 1}\nd: {tp: 1}\n"),
        (b"a: [", b"a: {"),  # neither can be read
        (None, b""),
    ],
)
def test_places_in_a_master_configuration_matter(one: bytes | None, other: bytes | None) -> None:
    assert name(master=(MASTER, one)) != name(master=(MASTER, other))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"z: {tp: 9}\n" + MASTER, b"z: {tp: 9}\na: {tp: 2}\nb: {tp: 1}\n"),
        (MASTER + b"z: {tp: 9}\n", b"a: {tp: 2}\nb: {tp: 1}\nz: {tp: 9}\n"),
        (b"a: {tp: 1}\nb: {tp: 7}\n", b"a: {tp: 2}\nb: {tp: 7}\n"),
    ],
)
def test_others_may_change_their_own_entries(before: bytes, after: bytes) -> None:
    assert name(master=(before, after)) == name(master=(MASTER, b"a: {tp: 2}\nb: {tp: 1}\n"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (OLD, OLD + NEW.replace(b"XXX", b"https://github.com/acme/bench/pull/77")),
        (OLD + NEW.replace(b"b", b"c", 1), OLD + NEW.replace(b"b", b"c", 1) + NEW),
    ],
    ids=["canonical link", "after another's entry"],
)
def test_links_and_lines_of_new_entries_do_not_matter(before: bytes, after: bytes) -> None:
    assert name(changelog=(before, after)) == name()

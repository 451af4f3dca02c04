"""Properties of any history and any entries: thousands of examples at night, some hundreds in `make test`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from infx.changelog.blocks import parse_blocks
from infx.changelog.canonicalize import canonicalize
from infx.changelog.compare import complete
from infx.changelog.fix import fix
from infx.changelog.layout import append
from infx.changelog.merge import resolve
from infx.changelog.validate import validate
from infx.policy.stage import Stage
from tests.changelog.samples import LINKS, context, link

ANY = context(configs=None)


def some_hundreds(test: Callable[..., None]) -> Callable[..., None]:
    return settings(max_examples=max(300, settings.default.max_examples if settings.default else 0))(test)


WORDS = st.text(
    st.characters(
        codec="utf-8",
        exclude_characters='"\\\t\r\n\0\x85\u2028\u2029\ufeff\ufffe\uffff',
        exclude_categories=["Cs", "Cc"],
    ),
    min_size=1,
    max_size=12,
)
KEYS = st.sampled_from(["a-fp8-h200", "b-fp4-b200", "c-*", "新-x"])
GAPS = st.sampled_from([b"\n", b"\n", b"\n\n", b"  \n", b"", b"\n  \n"])


@st.composite
def entries(draw: Any, links: st.SearchStrategy[str]) -> bytes:
    """Draw one entry in any of the styles that people write."""
    keys = draw(st.lists(KEYS, min_size=1, max_size=2))
    texts = draw(st.lists(WORDS, min_size=1, max_size=3))
    quoted = [f'"{text}"' for text in texts]
    lines = ["- config-keys:"]
    if draw(st.booleans()):
        lines[0] += f" [{', '.join(f'{key!r}' for key in keys)}]"
    else:
        lines += [f"    - {key}" for key in keys]
    if draw(st.booleans()):
        lines += ["  scenario-type:", "    - agentic-coding"]
    if draw(st.booleans()):
        lines += ["  description:", *(f"    - {text}" for text in quoted)]
    else:
        lines += ["  description:", *(f"  - {text} # note" for text in quoted)]
    if draw(st.booleans()):
        lines.append("  append-only: true")
    value = draw(links)
    styles = [
        value,
        f'"{value}"',
        f"'{value}'",
        f"{value} # note",
        f"|-\n    {value}",
        f">-\n    {value}",
        f"  {value}",
    ]
    lines.append(f"  pr-link: {draw(st.sampled_from(styles))}")
    return "\n".join([*lines, ""]).encode()


OWN = st.sampled_from(["XXX", link("XXX"), link(77)])
PAST = st.sampled_from([link(3), "XXX", "TBD", link("4/files"), "https://github.com/old-acme/bench/pull/2"])
OWN_ENTRIES = st.lists(entries(OWN), min_size=1, max_size=3)


@st.composite
def histories(draw: Any) -> bytes:
    """Draw past entries (or none) with the irregularities of real history, perhaps without a final newline."""
    past = draw(st.lists(entries(PAST), max_size=3))
    data = b"".join(part for entry in past for part in (entry, draw(GAPS)))
    return data[:-1] if data.endswith(b"\n") and draw(st.booleans()) else data


def same_flags(own: list[bytes]) -> list[bytes]:
    """Remove append-only, because either all entries of a pull request have it or none."""
    return [entry.replace(b"  append-only: true\n", b"") for entry in own]


def links_of(data: bytes, start: int) -> list[str | None]:
    return [block.link for block in parse_blocks(data, "p", start)]


@given(histories(), OWN_ENTRIES)
@some_hundreds
def test_canonicalize_changes_link_values_and_nothing_else(base: bytes, own: list[bytes]) -> None:
    head = append(base, same_flags(own))
    start = len(complete(base))
    canonical = canonicalize(base, head, ANY).head
    assert canonical[:start] == head[:start]
    before, after = parse_blocks(head, "p", start), parse_blocks(canonical, "p", start)
    assert [block.meaning for block in before] == [block.meaning for block in after]
    assert links_of(canonical, start) == [link(77)] * len(own)
    kept = [
        line
        for line in head[start:].split(b"\n")
        if b"XXX" not in line and b"pull/77" not in line and b"pr-link" not in line
    ]
    assert [line for line in canonical[start:].split(b"\n") if b"pr-link" not in line] == kept
    assert validate(base, canonical, context(configs=None, stage=Stage.MERGE)).ok
    assert canonicalize(base, canonical, ANY).head == canonical


@given(histories(), OWN_ENTRIES, st.lists(entries(st.just(link(80))), min_size=1, max_size=3), st.booleans())
@some_hundreds
def test_resolve_keeps_both_sides_once_in_either_order(
    base: bytes, own: list[bytes], theirs: list[bytes], numbered: bool
) -> None:
    own = same_flags(own)
    main, head = append(base, theirs), append(base, own)
    solve = functools.partial(resolve, number=77 if numbered else None)
    if numbered:  # without a number, main's entry of the same text may be the same entry, already merged
        merged = solve(base, head, main, [main], LINKS)
        assert merged.data == solve(base, main, head, [main], LINKS).data
        assert len(merged.kept) == len(own)
    else:
        texts = [block.meaning for block in parse_blocks(main, "p", len(complete(base)))]
        assume(not any(block.meaning in texts for block in parse_blocks(head, "p", len(complete(base)))))
        merged = solve(base, head, main, [main], LINKS)
        assert merged.data == solve(base, main, head, [main], LINKS).data == append(main, own)
    assert merged.data.startswith(main)
    assert validate(main, merged.data, ANY).ok


@given(histories(), OWN_ENTRIES, st.data())
@some_hundreds
def test_an_edit_of_history_is_always_refused(base: bytes, own: list[bytes], data: st.DataObject) -> None:
    assume(base)
    position = data.draw(st.integers(0, len(base) - 1))
    length = data.draw(st.integers(0, 12))
    replacement = data.draw(
        st.binary(max_size=3) | st.sampled_from([b"\n", b" ", b"  pr-link: XXX\n", b"- "])
    )
    edited = base[:position] + replacement + base[position + length :]
    head = complete(edited) + append(complete(base), same_flags(own))[len(complete(base)) :]
    assume(not head.startswith(complete(base)))
    verdict = validate(base, head, ANY)
    assert not verdict.ok
    repair = fix(base, head, ANY)
    assert repair.head is None or repair.head.startswith(complete(base))


MESSES: list[tuple[bytes, bytes]] = [
    (b"XXX", b"TBD"), (b"XXX", b"XXXX"), (link(77).encode(), b"#77"), (b"pull/77", b"pull/77/files"), (b"\n", b"\r\n"),
    (b"\n\n- ", b"\n- "), (b"\n\n- ", b"\n\n\n- "), (b"\n\n- ", b"\n  \n- "), (b"pr-link: XXX\n", b"pr-link:\n"), (b"  pr-link: XXX\n", b""),
]  # fmt: skip


@given(
    histories(),
    OWN_ENTRIES,
    st.lists(st.sampled_from(MESSES), max_size=3),
    st.sampled_from([b"", b"\n", b"  \n"]),
    st.booleans(),
    st.booleans(),
)
@some_hundreds
def test_a_repaired_file_is_valid_and_keeps_its_meaning(
    base: bytes, own: list[bytes], messes: list[tuple[bytes, bytes]], tail: bytes, cut: bool, above: bool
) -> None:
    own = same_flags(own)
    start = len(complete(base))
    suffix = append(complete(base), own)[start:]
    expected = [block.meaning for block in parse_blocks(complete(base) + suffix, "p", start)]
    for clean, messy in messes:
        suffix = suffix.replace(clean, messy)
    head = complete(base) + suffix + tail
    if above and base.startswith(b"- "):
        head = suffix.lstrip(b"\r\n") + tail + b"\n" + complete(base)
    repair = fix(base, head[:-1] if cut else head, ANY)
    if repair.head is not None:
        assert validate(base, repair.head, ANY).ok
        assert repair.head.startswith(complete(base))
        meanings = [block.meaning for block in parse_blocks(repair.head, "p", start)]
        # A new entry among past ones may equal a past entry, so that the order is undefined.
        assert (sorted(map(repr, meanings)) == sorted(map(repr, expected))) if above else meanings == expected
        assert fix(base, repair.head, ANY).head == repair.head
    event("repaired" if repair.head is not None else "refused")


@given(histories(), OWN_ENTRIES)
@some_hundreds
def test_an_append_in_any_style_is_valid(base: bytes, own: list[bytes]) -> None:
    """Make sure that the properties above are not tested with invalid examples only."""
    verdict = validate(base, append(base, same_flags(own)), ANY)
    assert verdict.ok
    assert len(verdict.blocks) == len(own)

"""Comparison of the checklist with a reviewer's copy: the wording may differ, the meaning may not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infx.errors import InfxError
from infx.signoff.checklist import (
    ItemState,
    compare_checklist,
    fill_signature,
    find_signature,
    parse_items,
    parse_template,
)
from tests.signoff.facts import ITEMS, PHRASE, POLICY, TEMPLATE, checklist

ROOT = Path(__file__).parents[2]
DOCS = [ROOT / path for path in POLICY.signoff.paths.checklists]
WORDS = POLICY.signoff.phrase
CHECKED, OPEN, MISSING = ItemState.CHECKED, ItemState.OPEN, ItemState.MISSING
NESTED = f"{PHRASE}\n\n- [ ] **Recipe.** Documented it\n  - [ ] **Merged.** It is merged upstream\n- [ ] **Code.** Read it all\n"


def states(comment: str, template: str = TEMPLATE) -> list[ItemState]:
    items = parse_items(parse_template(template, WORDS))
    return [match.state for match in compare_checklist(items, comment)]


@pytest.mark.parametrize(
    "comment",
    [
        checklist(),
        checklist().replace("- [x]", "* [X]"),
        checklist().replace("- [x]", "+ [x]"),
        checklist().replace("- [x]", "1. [x]"),
        checklist().upper().replace("[X]", "[x]"),
        checklist().replace(" of ", "  of\t"),
        checklist().replace("blob/main/docs/X.md", "tree/v2/docs/OTHER.md"),
        checklist().replace("[checklist](https://github.com/acme/bench/blob/main/docs/X.md)", "checklist"),
        checklist().replace("Verified that the code", "I verified the code"),
        checklist().replace("accuracy runs", "accuracy runs (run 900)"),
        checklist(items=tuple(reversed(ITEMS))),
        checklist().replace("\n", "\r\n"),
    ],
)
def test_small_changes_of_wording_do_not_matter(comment: str) -> None:
    assert states(comment) == [CHECKED] * 6


@pytest.mark.parametrize("box", ["[ x ]", "[]", "(x)", "[y]", "x"])
def test_other_marks_are_not_boxes(box: str) -> None:
    assert states(checklist().replace("- [x]", f"- {box}")) == [MISSING] * 6


def test_nested_items_are_compared() -> None:
    assert states(NESTED.replace("[ ]", "[x]"), NESTED) == [CHECKED] * 3
    assert states(NESTED.replace("[ ]", "[x]").replace("[x] **Merged", "[ ] **Merged"), NESTED)[1] is OPEN
    flat = NESTED.replace("[ ]", "[x]").replace("  - ", "- ")
    assert states(flat, NESTED) == [CHECKED] * 3


@pytest.mark.parametrize("missing", range(6))
def test_each_missing_item_is_found(missing: int) -> None:
    item_states = states(checklist(items=ITEMS[:missing] + ITEMS[missing + 1 :]))
    assert [number for number, state in enumerate(item_states) if state is not CHECKED] == [missing]


@pytest.mark.parametrize(
    ("detail", "explained"),
    [
        ("3, 4: docs-only change, no sweep exists", [3, 4]),
        ("3 and 4 - docs-only change, no sweep exists", [3, 4]),
        ("Items 3-4: docs-only change, no sweep exists", [3, 4]),
        ("3. docs-only change here\n4. no sweep exists", [3, 4]),
        ("第3项：只改了文档，没有运行", [3]),
        ("3: docs-only change here", [3]),
        ("3:只改了文档", [3]),
        ("3: n/a", []),
        ("3:30 the sweep has started", []),
        ("3.5 hours of sweeping went well", []),
        ("2026-03-04: the sweep has started", []),
        ("3:", []),
        ("13: docs-only change here", []),
        ("We had no time for 3 and 4", []),
        ("> 3: docs-only change here", []),
    ],
)
def test_reasons_by_number(detail: str, explained: list[int]) -> None:
    item_states = states(checklist([True, True, False, False, True, True], detail=detail))
    assert [
        number for number, state in enumerate(item_states, start=1) if state is ItemState.EXPLAINED
    ] == explained


@pytest.mark.parametrize(
    ("comment", "state"),
    [
        (NESTED + "\nCode: only the documentation changes\n", ItemState.EXPLAINED),
        (NESTED + "\nCodex: only the documentation changes\n", OPEN),
        (
            NESTED.replace("Read it all", "Read it all\n\n  Only the documentation changes"),
            ItemState.EXPLAINED,
        ),
        (
            NESTED.replace("Read it all", "Read it all\n  - only the documentation changes"),
            ItemState.EXPLAINED,
        ),
        (NESTED.replace("Read it all", "Read it all — only the documentation changes"), ItemState.EXPLAINED),
        (NESTED.replace("Read it all", "Read it all — n/a"), OPEN),
    ],
)
def test_reasons_by_name_or_in_place(comment: str, state: ItemState) -> None:
    assert states(comment, NESTED)[2] is state


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("no engine is patched", "an engine is patched"),
        ("no engine is patched", "not no engine is patched"),
        ("Verified that the code", "Verified never that the code"),
        ("Linked a sweep", "Couldn't link a sweep"),
        ("Linked a sweep that validates the change", "~~Linked a sweep that validates the change~~"),
    ],
)
def test_a_negation_changes_the_meaning(was: str, now: str) -> None:
    assert set(states(checklist().replace(was, now))) - {CHECKED} <= {ItemState.REWORDED, MISSING}
    assert set(states(checklist().replace(was, now))) != {CHECKED}


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_the_own_checklists_can_be_filled_in(path: Path) -> None:
    template = parse_template(path.read_text(), WORDS)
    items = parse_items(template)
    assert len(items) == 17
    assert len({item.lead for item in items}) == 17
    signed = fill_signature(template, "noor")
    assert find_signature(signed) == "noor"
    assert set(states(signed.replace("[ ]", "[x]"), path.read_text())) == {CHECKED}
    for item in items:
        lines = [line for line in signed.replace("[ ]", "[x]").split("\n") if item.lead not in line]
        item_states = states("\n".join(lines), path.read_text())
        assert [n for n, state in enumerate(item_states, start=1) if state is not CHECKED] == [item.number]


@pytest.mark.parametrize(
    ("text", "login"),
    [
        ("Signed: noor", "noor"),
        ("Signed: @noor", "noor"),
        ("signed : Noor.", "Noor"),
        ("**Signed:** noor", "noor"),
        ("Signed: amy_acme", "amy_acme"),
        ("Signed:", None),
        ("I signed: noor", None),
        ("> Signed: noor", None),
    ],
)
def test_signature(text: str, login: str | None) -> None:
    assert find_signature(text) == login


@pytest.mark.parametrize("text", ["", "# Checklist\n\n- [ ] a\n", f"> {PHRASE}\n"])
def test_a_document_without_the_phrase_is_refused(text: str) -> None:
    if text.startswith(">"):
        assert parse_template(text, WORDS)
        return
    with pytest.raises(InfxError, match="no paragraph"):
        parse_template(text, WORDS)


@given(st.permutations(range(6)), st.lists(st.booleans(), min_size=6, max_size=6))
def test_properties_order_never_matters(order: list[int], ticks: list[bool]) -> None:
    comment = checklist([ticks[i] for i in order], items=[ITEMS[i] for i in order], detail="none")
    assert [state is CHECKED for state in states(comment)] == ticks


@given(st.text("- [x]\nabc*123:>`", max_size=200))
def test_properties_any_comment_can_be_compared(text: str) -> None:
    assert len(states(text)) == 6


def test_many_brackets_are_parsed_in_time() -> None:
    # Searching to the end from each bracket would take minutes.
    comment = f"{NESTED.replace('Read it all', 'Read it all ' + '(' * 200_000 + ':')}"
    assert states(comment, NESTED) == [OPEN] * 3

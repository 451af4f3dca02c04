"""Known faults, each with a small input and the correct outcome."""

from __future__ import annotations

import pytest

from infx.changelog.canonicalize import canonicalize
from infx.changelog.fix import fix
from infx.changelog.merge import Sides, merge, verify
from infx.errors import InfxError, ProblemsError
from infx.policy.stage import Stage
from tests.changelog.samples import BASE, CONTEXT, LINKS, context, entry, errors, judge, link, new, words

# The line of the new entry's link: five lines of base, one empty, four of the entry before it.
LINK_LINE = 11
NEAR_MISSES = [
    "XXXX",
    link("XXXX"),
    "TBD",
    link("TBD"),
    "PLACEHOLDER",
    "PRLINK_PLACEHOLDER",
    "xxx",
    link(0),
    link("XXX#"),
]


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize("value", NEAR_MISSES)
def test_placeholder_near_misses_are_refused_before_any_sweep(value: str, stage: Stage) -> None:
    verdict = judge(BASE, BASE + new(value), stage)
    assert errors(verdict) == [("pr-link-placeholder", LINK_LINE)]
    assert link(77) in words(verdict)
    if stage is Stage.PR:
        assert f"Write `XXX`, `{link('XXX')}` or `{link(77)}`." in words(verdict)


@pytest.mark.parametrize("value", NEAR_MISSES)
def test_a_near_miss_is_repaired_to_this_pull_request(value: str) -> None:
    assert fix(BASE, BASE + new(value), CONTEXT).head == BASE + new(link(77))
    assert fix(BASE, BASE + new(value), context(number=None)).head == BASE + new("XXX")


@pytest.mark.parametrize("stage", Stage)
def test_a_link_copied_from_another_pull_request(stage: Stage) -> None:
    verdict = judge(BASE, BASE + new(link(75)), stage)
    assert errors(verdict) == [("pr-link-foreign", LINK_LINE)]
    expected = "pull/77 or the placeholder `XXX`" if stage is Stage.PR else "pull/77"
    assert f"expected {expected}, found pull/75" in words(verdict)


def test_a_real_number_is_never_rewritten_silently() -> None:
    head = BASE + new(link(75))
    assert fix(BASE, head, CONTEXT).head is None
    with pytest.raises(ProblemsError, match="found pull/75"):
        canonicalize(BASE, head, CONTEXT)


@pytest.mark.parametrize(
    ("value", "rule", "repaired"),
    [
        ("https://github.com/OTHER/bench/pull/77", "pr-link-foreign", False),
        ("https://github.com/acme/bench/issues/77", "pr-link-shape", True),
        ("https://github.com/acme/bench/pull/77/files", "pr-link-shape", True),
        ("https://github.com/acme/bench/pull/77/", "pr-link-shape", True),
        ("http://github.com/acme/bench/pull/77", "pr-link-shape", True),
        ("https://github.com/ACME/BENCH/pull/77", "pr-link-shape", True),
        ("#77", "pr-link-missing", True),
        ("#75", "pr-link-missing", False),
        ("77", "pr-link-shape", True),
        ("75", "pr-link-foreign", False),
        ("", "pr-link-missing", True),
        ("~", "pr-link-missing", True),
        ("[XXX]", "pr-link-shape", False),
        ("true", "pr-link-shape", False),
        ("https://github.com/acme/bench/commit/0123456", "pr-link-shape", False),
        ("https://example.com/77", "pr-link-foreign", False),
        ("https://github.com/old-acme/bench/pull/77", "pr-link-shape", True),
        (link("77\u00a0"), "pr-link-shape", True),  # a no-break space
        (link("/77"), "pr-link-shape", True),
        (link("/75"), "pr-link-foreign", False),
        (link(""), "pr-link-placeholder", True),
        ("XXX\u00a0", "pr-link-placeholder", True),
        ("PR #77", "pr-link-placeholder", True),
        ("PR #75", "pr-link-placeholder", False),
        ("TBD # " + link(75), "pr-link-placeholder", False),
        ("TBD # one of 2 configs", "pr-link-placeholder", True),
    ],
)
def test_the_right_idea_in_the_wrong_shape(value: str, rule: str, repaired: bool) -> None:
    head = BASE + new(value)
    assert errors(judge(BASE, head)) == [(rule, LINK_LINE)]
    assert fix(BASE, head, CONTEXT).head == (BASE + new(link(77)) if repaired else None)


def test_the_message_explains_that_a_hash_makes_the_link_a_comment() -> None:
    assert "YAML reads `#77` as a comment" in words(judge(BASE, BASE + new("#77")))
    assert "YAML reads `#75` as a comment" in words(judge(BASE, BASE + new("PR #75")))


def test_an_absent_link_is_a_message_about_the_link() -> None:
    head = BASE + new("X").replace(b"  pr-link: X\n", b"")
    assert errors(judge(BASE, head)) == [("pr-link-missing", 7)]
    assert fix(BASE, head, CONTEXT).head == BASE + new(link(77))


def test_a_placeholder_of_another_pull_request_is_not_filled() -> None:
    base = entry(link("XXX"))
    head = entry(link(77)) + new("XXX")
    verdict = judge(base, head)
    assert errors(verdict) == [("history-link", 5)]
    assert "Past entry 1 is not yours" in words(verdict)
    assert "Restore its bytes" in words(verdict)
    assert fix(base, head, CONTEXT).head is None
    assert canonicalize(base, base + new("XXX"), CONTEXT).head == base + new(link(77))


def test_a_base_without_final_newline_is_completed() -> None:
    verdict = judge(BASE[:-1], BASE + new("XXX"))
    assert (errors(verdict), len(verdict.blocks)) == ([], 1)
    assert errors(judge(BASE[:-1], BASE)) == []  # the pull request that only repairs it


@pytest.mark.parametrize("head", [BASE[:-1], (BASE + new("XXX"))[:-1]])
def test_a_removed_final_newline_is_refused_and_repaired(head: bytes) -> None:
    assert errors(judge(BASE, head)) == [("final-newline", head.count(b"\n") + 1)]
    assert fix(BASE, head, CONTEXT).head == head + b"\n"


OTHER = new(link(11))


@pytest.mark.parametrize(
    ("base", "head", "line", "before", "after"),
    [
        (BASE[:-1] + b"  \n", BASE, 5, f"`··pr-link: {link(10)}··`", f"`··pr-link: {link(10)}`"),
        (BASE + b"  \n" + OTHER[1:], BASE + OTHER, 5, "`··↵`", "`↵`"),
        (BASE + b"\n" + OTHER, BASE + OTHER, 5, "`↵↵`", "`↵`"),
        (BASE + b"  \n", BASE, 5, "`··↵`", "`↵`"),
    ],
)
def test_blanks_that_an_editor_trimmed_in_history_are_restored(
    base: bytes, head: bytes, line: int, before: str, after: str
) -> None:
    verdict = judge(base, head + new("XXX"))
    assert errors(verdict) == [("history-blanks", line)]
    assert f"{before} became {after}" in words(verdict)
    assert "Run `infx changelog validate --fix --pr 77` to repair it." in words(verdict)
    assert fix(base, head + new("XXX"), CONTEXT).head == base + new("XXX")


@pytest.mark.parametrize("stage", Stage)
def test_a_revert_may_not_delete_the_entry_it_added(stage: Stage) -> None:
    verdict = judge(BASE + new(link(11)), BASE, stage)
    assert errors(verdict) == [("history-deleted", None)]
    assert "Past entry 2 (line 7 of the base) was deleted." in words(verdict)
    assert 'append an entry whose description says "Reverts #11"' in words(verdict)
    assert fix(BASE + new(link(11)), BASE, CONTEXT).head is None


@pytest.mark.parametrize(
    ("tail", "lines"),
    [
        (b"\n<<<<<<< HEAD\n" + entry() + b"=======\n" + entry() + b">>>>>>> main\n", [7, 13, 19]),
        (new("XXX") + b">>>>>>> main\n", [12]),
    ],
)
def test_conflict_markers_have_an_error_of_their_own(tail: bytes, lines: list[int]) -> None:
    verdict = judge(BASE, BASE + tail)
    assert errors(verdict) == [("conflict-marker", line) for line in lines]
    assert f"Unresolved conflict marker at line {lines[0]}" in words(verdict)


AGENTIC = "  scenario-type:\n    - agentic-coding\n"


def test_two_entries_with_the_same_lines_stay_two() -> None:
    """Show that a line-based union would fuse them into one valid but wrong entry."""
    fields = {"text": '"Bump image"', "more": AGENTIC}
    ours, theirs = new("XXX", key="alpha", **fields), new("XXX", key="beta", **fields)
    merged = merge(Sides(ancestor=BASE, main=BASE + theirs, other=BASE + ours), LINKS, number=77)
    assert merged.data == BASE + theirs + new(link(77), key="alpha", **fields)

    fused = BASE + ours.replace(b"    - alpha\n", b"    - beta\n    - alpha\n")
    expected = [block.meaning for block in merged.kept]
    assert verify(BASE + theirs, expected, merged.data) == []
    assert [problem.rule for problem in verify(BASE + theirs, expected, fused)] == ["merge-lost"]
    assert errors(judge(BASE + theirs, fused)) == [("history-edited", 9)]


def test_no_field_is_lost_while_a_conflict_is_resolved() -> None:
    mine = new("XXX", more=AGENTIC + "  append-only: true\n")
    main = BASE + new(link(80))
    merged = merge(Sides(ancestor=BASE, main=main, other=BASE + mine), LINKS, number=77)
    assert merged.data == main + new(link(77), more=AGENTIC + "  append-only: true\n")

    lost = main + new(link(77), more=AGENTIC)
    (problem,) = verify(main, [block.meaning for block in merged.kept], lost)
    assert "append-only: True" in problem.message


@pytest.mark.parametrize(
    ("tail", "first"),
    [(new(f"XXX\n  pr-link: {link(12)}"), 11), (new("XXX\n  config-keys:\n    - other"), 7)],
)
def test_equal_keys_are_refused_with_both_lines(tail: bytes, first: int) -> None:
    verdict = judge(BASE, BASE + tail)
    assert errors(verdict) == [("yaml-duplicate-key", 12)]
    assert f"on lines {first} and 12" in words(verdict)


def test_a_comment_does_not_cut_a_description() -> None:
    verdict = judge(BASE, BASE + new(text="fix for #123 and #124"))
    assert errors(verdict) == [("description-cut", 10)]
    assert "`fix for`" in words(verdict)
    assert 'Quote this value: "…".' in words(verdict)
    assert errors(judge(BASE, BASE + new(text='"fix for #123 and #124" # quoted'))) == []


def test_a_comment_after_the_link_is_harmless() -> None:
    head = BASE + new("XXX # fill in")
    assert errors(judge(BASE, head)) == []
    assert canonicalize(BASE, head, CONTEXT).head == BASE + new(link(77))


def test_carriage_returns_in_the_appended_text() -> None:
    head = BASE + new("XXX").replace(b"\n", b"\r\n")
    verdict = judge(BASE, head)
    assert errors(verdict) == [("line-ends", 6)]
    assert "CR at line 6" in words(verdict)
    assert "core.autocrlf" in words(verdict)
    assert "text eol=lf" in words(verdict)
    assert fix(BASE, head, CONTEXT).head == BASE + new("XXX")


def test_a_whole_file_with_carriage_returns_is_one_problem() -> None:
    head = (BASE + new("XXX")).replace(b"\n", b"\r\n")
    assert errors(judge(BASE, head)) == [("line-ends", 1)]
    assert fix(BASE, head, CONTEXT).head == BASE + new("XXX")


def test_a_tab_inside_text_is_refused() -> None:
    verdict = judge(BASE, BASE + new(text='"a\tb"'))
    assert errors(verdict) == [("tab", 10)]
    assert '`····- "a→b"`' in words(verdict)


@pytest.mark.parametrize("stage", Stage)
def test_a_pure_link_correction_passes(stage: Stage) -> None:
    verdict = judge(entry(link("XXX")), entry(link(9)), stage)
    assert (errors(verdict), len(verdict.blocks), verdict.corrected) == ([], 0, 1)


def test_only_appended_entries_are_looked_up() -> None:
    base = BASE + new(link(11), key="gone-fp8-h100-vllm")
    assert errors(judge(base, base + new("XXX"))) == []
    verdict = judge(base, base + new("XXX", key="m1-fp8-h200-vlm"))
    assert errors(verdict) == [("config-key-unknown", 14)]
    assert "m1-fp8-h200-vllm" in words(verdict)


def test_the_repository_comes_from_the_context() -> None:
    base = entry("https://github.com/old-acme/bench/pull/3") + new("https://github.com/older/bench/pull/4")
    assert canonicalize(base, base + new("XXX"), CONTEXT).head == base + new(link(77))
    assert errors(judge(base, base + new(link(77)))) == []
    renamed = context(
        links=LINKS.__class__(server="https://github.com", repository="new/name", placeholders=("XXX",))
    )
    assert canonicalize(base, base + new("XXX"), renamed).head == base + new(
        "https://github.com/new/name/pull/77"
    )


def test_a_refused_merge_explains_itself() -> None:
    sides = Sides(ancestor=BASE, main=BASE + new(link(80)), other=BASE.replace(b"old one", b"edited"))
    with pytest.raises(InfxError, match="does more than append"):
        merge(sides, LINKS)

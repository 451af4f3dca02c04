"""Each rule about entries: the heads that it refuses and the heads that it accepts."""

from __future__ import annotations

import pytest

from infx.changelog.fix import fix
from infx.changelog.keys import ConfigKeys
from infx.changelog.links import PullLinks
from infx.changelog.validate import validate
from infx.errors import Level
from infx.policy.stage import Stage
from tests.changelog.samples import BASE, CONTEXT, context, entry, errors, judge, link, new, words
from tests.changelog.tables import RULES


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (BASE, BASE),
        (BASE, BASE + new("XXX")),
        (BASE, BASE + new(link("XXX")) + new(link(77))),
        (BASE, BASE + new('"XXX"')),
        (BASE, BASE + new("|-\n    XXX")),
        (BASE, BASE + new("XXX", key="m1-*")),
        (BASE, BASE + BASE[:0] + new("XXX", text="plain text")),
        (b"", entry("XXX")),
        (b"# header\n", b"# header\n" + new("XXX")),
        (BASE + b"\n", BASE + b"\n" + entry("XXX")),  # the base has the empty line already
        (BASE + b"\n", BASE + b"\n" + new("XXX")),
        (BASE + b"  \n", BASE + b"  \n" + new("XXX")),
        (BASE + new("TBD"), BASE + new("TBD") + new("XXX")),  # past entries are not judged again
        (b"any: thing\n", b"any: thing\n" + new("XXX")),
    ],
)
def test_valid_heads_pass(base: bytes, head: bytes) -> None:
    assert errors(judge(base, head)) == []


@pytest.mark.parametrize(
    ("head", "expected", "fixed"),
    [
        (BASE + entry(), [("blank-lines", 6)], BASE + new()),
        (BASE + b"\n" + new(), [("blank-lines", 8)], BASE + new()),
        (BASE + b"  \n" + entry(), [("blank-lines", 7)], BASE + new()),
        (BASE + new() + entry(), [("blank-lines", 12)], BASE + new() + new()),
        (BASE + new() + b"\n" + new(), [("blank-lines", 14)], BASE + new() + new()),
        (BASE + new() + b"  \n", [("blank-lines", 12)], BASE + new()),
        (BASE + new() + b"\n\n", [("blank-lines", 12)], BASE + new()),
        (BASE + b"\n", [("blank-lines", 6)], BASE),
        (BASE + b"\n# a remark\n" + entry(), [("entry-start", 7)], None),
        (BASE + b"\n# nothing but a remark\n", [("entry-start", 7)], None),
        (
            BASE + b"\n- description: [x]\n  config-keys: [m1-fp8-h200-vllm]\n  pr-link: XXX\n",
            [("entry-start", 7)],
            None,
        ),
        (
            BASE + b"\n- {config-keys: [m1-fp8-h200-vllm], description: [x], pr-link: XXX}\n",
            [("entry-start", 7)],
            None,
        ),
        (
            BASE + b"\n- config-keys: x\n",
            [("pr-link-missing", 7), ("schema-missing-key", 7), ("schema-type", 7)],
            None,
        ),
        (BASE + b"\n- just text\n", [("entry-start", 7), ("schema-type", 7)], None),
        (BASE + new(more="  evals: true\n"), [("schema-unknown-key", 9)], None),
        (BASE + new(text=""), [("schema-type", 10)], None),
        (BASE + new(more="  no-evals: true\n  all-evals: true\n"), [("fields-contradict", 9)], None),
        (
            BASE + new(more="  append-only: true\n  eval-min-prefill-ep: 2\n"),
            [("fields-contradict", 9)],
            None,
        ),
        (BASE + new(more="  append-only: true\n") + new(), [("append-only-mixed", 14)], None),
        (BASE + new(text="&a x") + new(text="*a"), [("alias", 10), ("description-cut", 10)], None),
        (BASE + new(text='"a\u2028b"'), [("yaml-separator", 10)], None),
        (BASE + new(text='"a\0b"'), [("yaml-nul", 10)], None),
        (BASE + b"\xef\xbb\xbf" + entry(), [("byte-order-mark", 6)], None),
        (BASE + new(text='"\ufeffa"'), [("byte-order-mark", 10)], None),
        (BASE + new(f"{link(77)} # \ufeffa"), [("byte-order-mark", 11)], None),
        (b"\xef\xbb\xbf" + BASE + new(), [("byte-order-mark", 1)], BASE + new()),
        (
            b"\xef\xbb\xbf" + (BASE + new("TBD")).replace(b"\n", b"\r\n"),
            [("byte-order-mark", 1), ("line-ends", 1), ("pr-link-placeholder", 11)],
            BASE + new(link(77)),
        ),
        (
            BASE.replace(b"\n", b"\r\n") + new("TBD"),
            [("line-ends", 1), ("pr-link-placeholder", 11)],
            BASE + new(link(77)),
        ),
        (BASE + new(text='"\xff"').replace("ÿ".encode(), b"\xff"), [("yaml-utf8", 10)], None),
        (BASE + new(text='"a\rb"'), [("line-ends", 10)], None),
        (BASE + new(key="x1-*"), [("config-key-unknown", 8)], None),
        (BASE + new(key="m1-fp8-?200-vllm"), [], BASE + new(key="m1-fp8-?200-vllm")),
        (BASE + new(key="m1-fp8-?300-vllm"), [("config-key-unknown", 8)], None),
        (BASE + new() + b"=======\n", [("conflict-marker", 12)], None),
        (BASE + new(text='"a line of ======= is text"'), [], BASE + new(text='"a line of ======= is text"')),
    ],
)
def test_invalid_heads_are_refused(head: bytes, expected: list[tuple[str, int]], fixed: bytes | None) -> None:
    assert errors(judge(BASE, head)) == expected
    assert fix(BASE, head, CONTEXT).head == fixed


PAST = BASE + new(link(11)) + new(link(12), text='"third"')


@pytest.mark.parametrize(
    ("head", "expected", "fixed"),
    [
        (BASE + new() + PAST[len(BASE) :], [("history-inserted", 7)], PAST + new()),
        (entry() + b"\n" + PAST, [("history-inserted", 1)], PAST + new()),
        (
            BASE + new() + PAST[len(BASE) :] + new("TBD"),
            [("history-inserted", 7), ("pr-link-placeholder", 29)],
            PAST + new() + new(link(77)),
        ),
        (PAST.replace(b"old one", b"edited"), [("history-edited", 4)], None),
        (PAST.replace(b"old one", b"edited") + new(), [("history-edited", 4)], None),
        (
            BASE + new(link(12), text='"third"') + new(link(11)),
            [("history-moved", 7)],
            None,
        ),
        (PAST[len(BASE) + 1 :] + b"\n" + BASE + new(), [("history-moved", 13)], None),
        (
            BASE + new(link(12), text='"third"') + new() + new(link(11)),
            [("history-moved", 7), ("history-inserted", 13)],
            None,
        ),
        (PAST[: len(BASE)] + new(link(12), text='"third"'), [("history-deleted", None)], None),
        (b"", [("history-deleted", None)] * 3, None),
        (PAST.replace(link(11).encode(), link(13).encode()), [("history-link", 11)], None),
        (PAST.replace(link(11).encode(), b"XXX"), [("history-link", 11)], None),
        (PAST.replace(b"pr-link: " + link(11).encode(), b"pr-link: TBD # x"), [("history-link", 11)], None),
        (PAST.replace(b"\n\n", b"\n"), [("history-blanks", 5), ("history-blanks", 10)], PAST),
        (PAST.replace(b"\n\n", b"\n \n"), [("history-blanks", 5), ("history-blanks", 11)], PAST),
        (PAST + b"\n", [("blank-lines", 18)], PAST),
    ],
)
def test_history_is_immutable(
    head: bytes, expected: list[tuple[str, int | None]], fixed: bytes | None
) -> None:
    assert errors(judge(PAST, head)) == expected
    assert fix(PAST, head, CONTEXT).head == fixed


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (BASE + new(key="*-vllm"), 'A pattern that starts with `*` needs quotes, as in "*-vllm".'),
        (BASE + new(key="M1-FP8-H200-VLLM"), "Did you mean m1-fp8-h200-vllm"),
        (
            BASE + new(text="fix: router"),
            'entry.description[0]: found {"fix": "router"}; expected text. Put it in quotes',
        ),
        (BASE + new(more="  evals-only: yes\n"), "expected true or false. Write true"),
        (
            BASE + new(more="  scenario-type: agentic-coding\n"),
            "expected a list. Write one line `- …` for each.",
        ),
        (BASE + new("XXX\t"), "TAB at line 11: `··pr-link: XXX→`."),
        (b"\n" + entry(), "Expected nothing before the first entry, found `↵`"),
    ],
)
def test_messages_show_the_fault_and_the_correction(head: bytes, message: str) -> None:
    assert message in words(judge(b"" if head.startswith(b"\n") else BASE, head))


def test_a_merged_entry_is_not_offered_a_repair() -> None:
    """Offer no repair after the merge: moving a past entry would be another problem."""
    head = entry() + b"\n" + BASE
    assert "--fix" in words(judge(BASE, head, Stage.MERGE))
    assert "--fix" not in words(judge(BASE, head, Stage.MAIN))


def test_a_missing_file() -> None:
    verdict = validate(BASE, None, CONTEXT)
    assert errors(verdict) == [("history-deleted", None)]
    assert "git checkout origin/main -- perf-changelog.yaml" in words(verdict)
    assert validate(None, None, CONTEXT).ok
    assert validate(None, entry("XXX"), CONTEXT).ok


@pytest.mark.parametrize("stage", [Stage.MERGE, Stage.MAIN])
@pytest.mark.parametrize(
    "value", ["XXX", link("XXX"), '"XXX"', f'"{link(77)}"', f"{link(77)} # ours", f">-\n    {link(77)}"]
)
def test_a_merged_entry_needs_a_canonical_link_on_one_line(value: str, stage: Stage) -> None:
    head = BASE + new(value)
    assert errors(judge(BASE, head)) == []
    assert errors(judge(BASE, head, stage)) == [("pr-link-canonical", 11)]
    assert fix(BASE, head, context(stage=stage)).head == BASE + new(link(77))


def test_a_group_may_hold_several_pull_requests() -> None:
    head = BASE + new(link(77)) + new(link(80), more="  append-only: true\n")
    assert errors(judge(BASE, head, Stage.MERGE, number=None)) == []
    assert errors(judge(BASE, BASE + new(link(77)) + new("XXX"), Stage.MERGE, number=None)) == [
        ("pr-link-canonical", 17)
    ]
    assert fix(BASE, BASE + new("XXX"), context(stage=Stage.MERGE, number=None)).head is None


def test_the_hint_for_a_placeholder_depends_on_the_stage() -> None:
    head = BASE + new("XXX")
    assert "before the pull request is queued" in words(judge(BASE, head, Stage.MERGE, number=None))
    assert "in a pull request that changes nothing else" in words(judge(BASE, head, Stage.MAIN, number=None))


def test_a_group_may_correct_links_and_append() -> None:
    base = entry(link("XXX")) + new(link(11))
    head = entry(link(9)) + new(link(11)) + new(link(80))
    assert errors(judge(base, head, Stage.MERGE, number=None)) == []
    assert errors(judge(base, head + b"\n", Stage.MERGE, number=None)) == [("blank-lines", 18)]
    assert errors(judge(base, head, number=80)) == [("history-link", 5)]


@pytest.mark.parametrize("stage", Stage)
@pytest.mark.parametrize(
    ("gap", "head_gap"), [(b"\n", b"\n\n"), (b"\n\n", b"\n"), (b"\n", b""), (b"\n", b"  \n")]
)
def test_a_correction_leaves_the_lines_between_entries_alone(
    gap: bytes, head_gap: bytes, stage: Stage
) -> None:
    base, head = (
        entry(value) + blank + entry(link(11)) for value, blank in ((link("XXX"), gap), (link(9), head_gap))
    )
    assert errors(judge(base, head, stage)) == [("history-blanks", 5)]
    assert fix(base, head, CONTEXT).head == entry(link(9)) + gap + entry(link(11))


def test_the_empty_line_at_the_end_of_the_base_stays() -> None:
    assert errors(judge(BASE + b"\n", BASE)) == [("history-blanks", 5)]
    assert errors(judge(entry(link("XXX")) + b"\n", entry(link(9)))) == [("history-blanks", 5)]


def test_a_correction_cannot_name_the_pull_request_itself() -> None:
    assert errors(judge(entry(link("XXX")), entry(link(77)))) == [("history-link", 5)]
    assert errors(judge(entry(link("XXX")), entry(link(77)), number=None)) == []


@pytest.mark.parametrize(
    ("old", "new_link", "legal"),
    [
        (link("XXX"), link(9), True),
        ("XXX", link(9), True),
        (link("9\u00a0"), link(9), True),
        (link("9/files"), link(9), True),
        (link(9) + "  ", link(9), False),  # blanks only: nothing to correct
        (link(9), link(10), False),
        (link("XXX"), link("YYY"), False),
        (link("XXX"), f'"{link(9)}"', False),
        (link("XXX"), link(9) + " # found later", False),
        ("https://github.com/old-acme/bench/pull/9", link(9), False),  # a former name stays valid
    ],
)
def test_which_corrections_are_legal(old: str, new_link: str, legal: bool) -> None:
    assert judge(entry(old) + new(link(11)), entry(new_link) + new(link(11))).ok is legal


def test_without_a_number_an_unchecked_link_gets_a_warning() -> None:
    verdict = judge(BASE, BASE + new(link(75)), number=None)
    assert [(p.rule, p.level) for p in verdict.problems] == [("pr-link-unchecked", Level.WARNING)]
    nameless = PullLinks(server="https://github.com", repository=None, placeholders=("XXX",))
    verdict = judge(BASE, BASE + new("https://github.com/any/name/pull/77"), links=nameless)
    assert [p.rule for p in verdict.problems] == ["pr-link-unchecked"]


def test_without_configurations_unchecked_keys_get_a_warning() -> None:
    verdict = judge(BASE, BASE + new(key="unheard-of"), configs=None)
    assert [(p.rule, p.level) for p in verdict.problems] == [("config-keys-unchecked", Level.WARNING)]


def test_a_broken_configuration_file_is_the_only_problem() -> None:
    broken = ConfigKeys(files=(("configs/nvidia.yaml", b"a: [\n"),))
    verdict = judge(BASE, BASE + new(key="unheard-of"), configs=broken)
    assert [(p.path, p.rule) for p in verdict.problems] == [("configs/nvidia.yaml", "yaml-syntax")]


def test_a_quoted_configuration_key_is_found() -> None:
    quoted = ConfigKeys(files=(("configs/nvidia.yaml", b'"m1-fp8-h200-vllm": {image: x}\n'),))
    assert errors(judge(BASE, BASE + new(), configs=quoted)) == []


def test_all_problems_are_reported_at_once() -> None:
    head = BASE.replace(b"old one", b"edited") + b"\n" + new("TBD", text='"a\tb"') + b"\n"
    assert errors(judge(BASE, head)) == [
        ("history-edited", 4),
        ("tab", 11),
        ("pr-link-placeholder", 12),
    ]


def test_a_fix_is_made_whole_or_not_at_all() -> None:
    repair = fix(BASE, BASE + b"\n" + new("TBD", key="unheard-of"), CONTEXT)
    assert repair.head is None
    rules = [problem.rule for problem in repair.remaining]
    assert rules == ["blank-lines", "config-key-unknown", "pr-link-placeholder"]


def test_a_repair_lists_the_repaired_problems() -> None:
    repair = fix(BASE, BASE + b"\n" + new("TBD"), CONTEXT)
    assert [problem.rule for problem in repair.repaired] == ["blank-lines", "pr-link-placeholder"]
    assert repair.remaining == ()


def test_a_repair_that_would_change_a_text_is_not_made() -> None:
    """Refuse a description that includes the blank lines after it."""
    head = (
        BASE
        + b"\n- config-keys: [m1-fp8-h200-vllm]\n  pr-link: XXX\n  description:\n    - |+\n      text\n\n\n"
    )
    repair = fix(BASE, head, CONTEXT)
    assert repair.head is None
    assert [problem.rule for problem in repair.remaining] == ["text-open", "blank-lines"]


def test_rule_ids_are_unique() -> None:
    names = [rule.id for rule in RULES]
    assert len(names) == len(set(names))

"""The verdict's grammar: every rendered verdict can be parsed, and every other text is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from infx.markdown import parse_markdown
from infx.model import User
from infx.policy.checks import CHECKS
from infx.policy.signoff import CheckStatus
from infx.saved import dump_json, parse_json, to_json
from infx.signoff.facts import PlanVariant, SignoffFacts, TextFile
from infx.signoff.judge import judge, make_verdict
from infx.signoff.outcome import EMOJI, MAX_REASON, Link, code, cut, name_all
from infx.signoff.verdict import SignoffVerdict, VerdictRow, render_failure, render_verdict
from tests.builders import comment, person, pull
from tests.signoff.facts import (
    KEY,
    MODELS,
    POLICY,
    change,
    checklist,
    facts,
    file,
    judged,
    plan,
    plan_entry,
    row,
    state,
    sweep,
)
from tests.signoff.grammar import VerdictError, parse_verdict

ALL = tuple(CheckStatus)
FEWER = settings().max_examples // 3  # each draws or judges sixteen rows
ALLOWED = {check.number: ALL for check in CHECKS}
SHA, OTHER = "a" * 40, "b" * 40


def verdict(*statuses: CheckStatus, **fields: Any) -> SignoffVerdict:
    """Return a verdict of three checks with these statuses."""
    names = ("Owner", "Green sweep", "Accuracy")
    rows = tuple(
        VerdictRow(number=number, name=name, status=status, reason=f"Because of `{name}`.")
        for number, (name, status) in enumerate(zip(names, statuses, strict=True))
    )
    return SignoffVerdict(**{"rows": rows, "signer": "noor", "sha": SHA, **fields})


def three(count: int = 3) -> dict[int, tuple[CheckStatus, ...]]:
    return dict.fromkeys(range(count), ALL)


@pytest.mark.parametrize("login", ["amy_acme", "noor-", "a--b", "1"])
def test_accounts_of_every_kind_are_mentioned(login: str) -> None:
    rejection = verdict(
        CheckStatus.FAIL, CheckStatus.WARN, CheckStatus.PASS, signer=login, escalated=(login,)
    )
    assert parse_verdict(render_verdict(rejection), three()) == rejection


def test_rejection_as_text() -> None:
    rejection = verdict(
        CheckStatus.PASS, CheckStatus.FAIL, CheckStatus.WARN, covered_sha=OTHER, escalated=("mia", "amy")
    )
    assert render_verdict(rejection) == (
        "## ❌❌❌ **REJECTED** ❌❌❌\n"
        "@noor, a check below ended in FAIL; fix the problem that it names, or edit your sign-off.\n"
        "@mia @amy, please look at the warnings below.\n"
        "\n"
        "- ❌ Check 1 (Green sweep): FAIL — Because of `Green sweep`.\n"
        "- ⚠️ Check 2 (Accuracy): WARN — Because of `Accuracy`.\n"
        "\n"
        "<details>\n"
        "<summary>Passed and not applicable checks</summary>\n"
        "\n"
        "- ✅ Check 0 (Owner): PASS — Because of `Owner`.\n"
        "\n"
        "</details>\n"
        "\n"
        f"Assessed commit: `{SHA}`. It covers `{OTHER}`, whose diff against the base branch is identical.\n"
    )


@pytest.mark.parametrize(
    ("statuses", "header"),
    [
        (
            (CheckStatus.PASS, CheckStatus.PASS, CheckStatus.NOT_APPLICABLE),
            "## ✅✅✅ **Verdict: PASS** ✅✅✅",
        ),
        ((CheckStatus.PASS, CheckStatus.WARN, CheckStatus.NOT_APPLICABLE), "## ⚠️ **Verdict: WARN** ⚠️"),
        ((CheckStatus.WARN, CheckStatus.PASS, CheckStatus.FAIL), "## ❌❌❌ **REJECTED** ❌❌❌"),
    ],
)
def test_header_follows_from_the_rows(statuses: tuple[CheckStatus, ...], header: str) -> None:
    assert render_verdict(verdict(*statuses)).split("\n", 1)[0] == header


GOOD = render_verdict(verdict(CheckStatus.PASS, CheckStatus.WARN, CheckStatus.NOT_APPLICABLE))
BAD = render_verdict(verdict(CheckStatus.FAIL, CheckStatus.PASS, CheckStatus.PASS))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "not one of the three headers"),
        ("\n" + GOOD, "not one of the three headers"),
        (GOOD.replace("⚠️ **Verdict: WARN** ⚠️", "✅✅✅ **Verdict: PASS** ✅✅✅"), "does not follow from the rows"),
        (GOOD.replace("Check 1", "Check 2"), "each of the checks"),
        (GOOD.replace("Check 1", "Check 7"), "each of the checks"),
        (GOOD.replace("- ⚠️ Check 1", "- ✅ Check 1"), "emoji"),
        (GOOD.replace("<details>", "<details open>"), "not part of a verdict"),
        (GOOD.replace("Passed and", "Failed and"), "not part of a verdict"),
        (GOOD.replace("<details>\n<summary>Passed and not applicable checks</summary>\n", ""), "outside of the details"),
        (GOOD.replace("</details>\n", ""), "missing"),
        (GOOD.replace("Because", "@mia because"), "mention"),
        (GOOD.replace("Because", "<img src=x>"), "HTML"),
        (GOOD.replace("Because", "![x](y)"), "image"),
        (GOOD.replace("Because", "🎉"), "another emoji"),
        (GOOD.replace("Because of `", "Because of "), "backtick"),
        (GOOD.replace("- ⚠️ Check", "Also.\n- ⚠️ Check"), "not part of a verdict"),
        (GOOD + "More.\n", "follows the footer"),
        (GOOD.replace("Assessed commit", "Commit"), "not part of a verdict"),
        (GOOD.replace(f"`{SHA}`", "`abc`"), "not part of a verdict"),
        (GOOD + GOOD, "follows the footer"),
        (BAD.replace("@noor, ", ""), "not part of a verdict"),
        (BAD.replace("@noor, a check below ended in FAIL; fix the problem that it names, or edit your sign-off.\n", ""), "mentions the signer"),
        (BAD.replace("@noor", "@noor @eve"), "mentions the signer"),
        (BAD.replace("\n\n- ❌", "\n@eve, please look at the warnings below.\n@mia, please look at the warnings below.\n\n- ❌"), "more mentions"),
    ],
)  # fmt: skip
def test_other_texts_are_refused(text: str, words: str) -> None:
    with pytest.raises(VerdictError, match=words):
        parse_verdict(text, three())


def test_status_must_be_allowed() -> None:
    with pytest.raises(VerdictError, match="may not end in WARN"):
        parse_verdict(GOOD, {0: ALL, 1: (CheckStatus.PASS, CheckStatus.FAIL), 2: ALL})


def test_bullets_are_optional() -> None:
    assert parse_verdict(GOOD.replace("- ⚠️", "⚠️"), three()) == parse_verdict(GOOD, three())


def test_a_failure_is_red_and_not_a_verdict() -> None:
    text = render_failure("noor", SHA, "GitHub answered 502.")
    assert text.startswith("## ❌❌❌ **REJECTED** ❌❌❌\n@noor, ")
    with pytest.raises(VerdictError):
        parse_verdict(text, three())


REASON = st.lists(
    st.one_of(st.sampled_from(["Because", "of", "it."]), st.text(max_size=20).map(code)),
    min_size=1,
    max_size=5,
).map(" ".join)
VERDICTS = st.builds(
    SignoffVerdict,
    rows=st.tuples(
        *(
            st.builds(
                VerdictRow,
                number=st.just(c.number),
                name=st.just(c.name),
                status=st.sampled_from(ALL),
                reason=REASON,
            )
            for c in CHECKS
        )
    ),
    signer=st.from_regex(r"[a-z0-9](?:-?[a-z0-9]){0,8}", fullmatch=True),
    sha=st.just(SHA),
    covered_sha=st.sampled_from([None, OTHER]),
    escalated=st.sampled_from([(), ("mia",), ("mia", "amy")]),
)


@settings(max_examples=FEWER)
@given(VERDICTS)
def test_properties_a_rendered_verdict_is_parsed(given: SignoffVerdict) -> None:
    read = parse_verdict(render_verdict(given), ALLOWED)
    signer = given.signer if given.status is CheckStatus.FAIL else ""
    rows = tuple(replace(row, reason=cut(row.reason)) for row in given.rows)
    assert read == replace(given, rows=rows, signer=signer)


@settings(max_examples=FEWER)
@given(VERDICTS, st.data())
def test_properties_an_altered_verdict_is_refused_or_consistent(
    given: SignoffVerdict, data: st.DataObject
) -> None:
    # Any edit of a verdict's text is refused, or its header still follows from its rows.
    text = render_verdict(given)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text)))
        cut_ = data.draw(st.sampled_from([0, 1, 5, 40]))
        piece = data.draw(
            st.sampled_from(
                ["", "✅", "@mia", "\n", "- ✅ Check 3 (X): PASS — y", "<b>", "FAIL", "`", "</details>\n"]
            )
        )
        text = text[:at] + piece + text[at + cut_ :]
    try:
        read = parse_verdict(text, ALLOWED)
    except VerdictError:
        return
    assert sorted(row.number for row in read.rows) == sorted(ALLOWED)
    again = parse_verdict(render_verdict(read), ALLOWED)
    assert (again.status, [row.status for row in again.rows]) == (
        read.status,
        [row.status for row in read.rows],
    )


@given(st.text(max_size=400))
def test_properties_any_text_is_read_or_refused(text: str) -> None:
    with pytest.raises(VerdictError):
        parse_verdict(text, ALLOWED)


@given(st.text(max_size=300))
def test_properties_foreign_text_is_inert(text: str) -> None:
    shown = code(text)
    assert "\n" not in shown
    assert not EMOJI.search(shown)
    row = VerdictRow(number=0, name="Owner", status=CheckStatus.PASS, reason=f"It has {shown}.")
    read = parse_verdict(render_verdict(SignoffVerdict(rows=(row,), signer="noor", sha=SHA)), {0: ALL})
    assert read.rows == (row,)


HOSTILE = "x` @mia <img src=x onerror=1> <!-- codeowner-signoff-verify --> 🎉 ![y](z) [t](javascript:1)\n## ✅ PASS `"


def hostile_facts(text: str) -> SignoffFacts:
    """Return facts in which every untrusted text has the same hostile value."""
    rows = (row(1, image=text, model=text, model_prefix=text, framework=text, precision=text, runner=text),
            row(2, image=text, model_prefix=text, evaluated=True))  # fmt: skip
    config = state(path=text, image=text, model_prefix=text, framework=text, runner=text, speculative=True)
    vllm = replace(config, framework="vllm", agentic_speculative=True)
    return facts(
        pull=pull(body=f"adds 14 rows {text}", title=text, author=User(login="cody")),
        files=(file(text, text, "git apply " + text, "--hf-overrides " + text), file("c.yaml", text)),
        signoff=comment(checklist(detail=text) + text, author="eve"),
        configs=(change(None, config, key=text), change(None, vllm, key=text + "2")),
        plan=plan(rows, variants=(PlanVariant(name="full", rows=rows),), problem=None),
        runs=(sweep(rows[:1]),),
        comments=(comment(f"/settle 14 {text}", id=1, author="mia"),),
        people=(person("mia", "admin"),),
        golden=(judged(f"golden/{text}_x.yaml", text, text + "2"),),
        models=judged("m.yaml", MODELS, text),
        codeowners=TextFile(path="CODEOWNERS", text=f"* @noor\n!{text}"),
    )  # fmt: skip


def broken_facts(text: str) -> tuple[SignoffFacts, ...]:
    """Return facts whose error messages quote hostile text from the pull request's files."""
    titled = MODELS.replace("m1: {title: M1", f"m1: {{deprecated: 2026-01-01, title: {json.dumps(text)}")
    append = plan(problem=text, entries=(plan_entry(append_only=True),))
    return (
        facts(plan=append),
        facts(shortfalls=(text,)),
        facts(models=judged("m.yaml", MODELS, titled)),
    )


@pytest.mark.parametrize("text", [HOSTILE, "@mia", "``", "a`b``c", "</details>", KEY, "\u202e", "x" * 5000])
def test_hostile_text_stays_text(text: str) -> None:
    # The verdict keeps to the grammar and GitHub's limit, and mentions only the signer.
    hostile = hostile_facts(text)
    rendered = render_verdict(make_verdict(judge(hostile, POLICY), hostile, POLICY))
    assert parse_verdict(rendered, ALLOWED).status is CheckStatus.FAIL
    assert len(rendered) < 65_536
    shown = " ".join(block.source for block in parse_markdown(rendered))
    assert "<img" not in rendered.replace("`", "") or "<img" in shown  # only inside code


@pytest.mark.parametrize("text", [HOSTILE, "@mia", "[t](https://evil.example/x)", "x" * 5000])
def test_quoted_faults_stay_text(text: str) -> None:
    for broken in broken_facts(text):
        rendered = render_verdict(make_verdict(judge(broken, POLICY), broken, POLICY))
        parse_verdict(rendered, ALLOWED)
        assert 'href="https://evil' not in MarkdownIt("commonmark").render(rendered)
    failure = render_failure("noor", SHA, text)
    assert "@mia" not in failure
    assert "href" not in MarkdownIt("commonmark").render(failure)


@settings(max_examples=FEWER)
@given(st.text("`@<>![]()\n abé🎉#*_|", max_size=80))
def test_properties_hostile_text_stays_text(text: str) -> None:
    hostile = hostile_facts(text or "x")
    parse_verdict(render_verdict(make_verdict(judge(hostile, POLICY), hostile, POLICY)), ALLOWED)


def test_same_facts_same_bytes_and_round_trip() -> None:
    original = facts()
    saved = dump_json(original)
    again = parse_json(SignoffFacts, saved.encode(), "facts.json")
    assert again == original
    assert dump_json(again) == saved
    texts = {
        render_verdict(make_verdict(judge(signoff_facts, POLICY), signoff_facts, POLICY))
        for signoff_facts in (original, again)
    }
    assert len(texts) == 1
    assert json.loads(saved) == to_json(original)


@pytest.mark.parametrize(
    ("reason", "limit", "expected"),
    [
        ("short", 100, "short"),
        ("a\n b", 100, "a b"),
        ("x" * 90, 80, "x" * 55 + " … (cut; use --explain)"),
        (
            "word `inside a long code span` end" * 3,
            60,
            "word `inside a long code span` end … (cut; use --explain)",
        ),
    ],
)
def test_cut(reason: str, limit: int, expected: str) -> None:
    shown = cut(reason, limit)
    assert shown.count("`") % 2 == 0
    assert len(shown) <= limit
    assert shown.startswith(expected[:4])


def test_many_names() -> None:
    assert name_all(["a", "b", "a", "c"], limit=2) == "`a`, `b` and 1 more"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://github.com/acme/bench/pull/1#issuecomment-2", "[t](https://github.com/acme/bench/pull/1#issuecomment-2)"),
        ("javascript:alert(1)", "`javascript:alert(1)`"),
        ("https://e.com/a b", "`https://e.com/a b`"),
        ("https://e.com/)@mia", "`https://e.com/)@mia`"),
    ],
)  # fmt: skip
def test_only_plain_addresses_become_links(url: str, shown: str) -> None:
    assert str(Link(text="t", url=url)) == shown


def test_reasons_fit_a_comment() -> None:
    assert MAX_REASON * len(CHECKS) < 65_536 / 2

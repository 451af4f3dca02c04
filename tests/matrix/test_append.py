from __future__ import annotations

import pytest

from infx.errors import ProblemsError
from tests.matrix.inputs import DEFAULT, agentic, both, entry, load, multi, pair, plan, points, single

NONE = "kv-offloading: none"
APPEND = entry("a", append_only="true")
BASE = single("a", "{tp: 8, conc-list: [4, 8]}", "{tp: 4, conc-list: [4]}")


def added(base: str, head: str, text: str = APPEND) -> list[str]:
    result = plan(load(head), text, base=load(base))
    assert result.evals == ()
    return points(item.row for item in result.throughput)


def refusal(base: str, head: str, text: str = APPEND) -> str:
    with pytest.raises(ProblemsError) as error:
        plan(load(head), text, base=load(base))
    assert {problem.rule for problem in error.value.problems} == {"append-only"}
    return " ".join(problem.message for problem in error.value.problems)


@pytest.mark.parametrize(
    ("base", "head", "points"),
    [
        (BASE, BASE.replace("[4, 8]", "[4, 6, 8, 16]"), ["tp8@6", "tp8@16"]),
        (BASE, BASE.replace("{tp: 4,", "{tp: 2, conc-list: [4]}\n      - {tp: 4,"), ["tp2@4"]),  # same curve
        (multi("a", pair("[64, 4]")), multi("a", pair("[64, 32, 4, 2]")), ["1xtp4+1xtp4@32,2"]),
        (BASE, BASE.replace("[4, 8]", "[16, 8, 4, 16]"), ["tp8@16"]),  # once, in the head's order
    ],
)
def test_only_points_that_the_base_lacks_are_planned(base: str, head: str, points: list[str]) -> None:
    assert added(base, head) == points


def test_a_silenced_rule_is_not_a_change() -> None:
    """It says which problems are reported, and changes no row: neither here nor in a configuration that is not named."""

    def silence(text: str) -> str:
        return text.replace("  multinode:", "  silenced: {launch-port: a reason}\n  multinode:")

    other = single("b", "{tp: 8, conc-list: [4]}")
    head = silence(BASE.replace("[4, 8]", "[4, 8, 16]")) + silence(other)
    assert "silenced" in head
    assert added(BASE + other, head) == ["tp8@16"]


def test_new_points_carry_their_key_and_the_fingerprint_of_their_curve() -> None:
    head = load(BASE.replace("[4, 8]", "[4, 8, 16]"))
    (new,) = plan(head, APPEND, base=load(BASE)).throughput
    whole = plan(head, entry("a")).throughput
    assert new in whole


@pytest.mark.parametrize(
    ("base", "head", "words"),
    [
        (BASE, BASE, "The entries add no new point"),
        (BASE, BASE.replace("[4, 8]", "[4, 16]"), "lost points.* at concurrency 8"),
        (BASE, BASE.replace("{tp: 8, ", "{tp: 8, ep: 8, "), "no longer measured in the same way"),
        (BASE, BASE.replace(":v1", ":v2"), "no longer measured in the same way"),
        (single("b", "{tp: 8, conc-list: [4]}"), BASE, "The base has no configuration a"),
        (
            BASE + single("b", "{tp: 8, conc-list: [4]}"),
            BASE.replace("[4, 8]", "[4, 8, 16]") + single("b", "{tp: 8, conc-list: [5]}"),
            "The configuration b changed, but no append-only entry names it",
        ),
        (
            BASE,
            BASE.replace("[4, 8]", "[4, 8, 16]") + single("b", "{tp: 8, conc-list: [5]}"),
            "The configuration b changed",
        ),
        (
            agentic("a", f"{{tp: 8, {NONE}, conc-list: [4]}}"),
            both("a", "{tp: 4, conc-list: [4]}", f"{{tp: 8, {NONE}, conc-list: [4, 8]}}"),
            "a gained the scenario fixed-seq-len",
        ),
        (
            both("a", "{tp: 4, conc-list: [4]}", f"{{tp: 8, {NONE}, conc-list: [4, 8]}}"),
            agentic("a", f"{{tp: 8, {NONE}, conc-list: [4, 8, 9]}}"),
            "a lost the scenario fixed-seq-len",
        ),
        (
            BASE,
            BASE.replace("[4, 8]", "[4, 8]").replace("{tp: 4,", "{tp: 2, spec-decoding: mtp, conc-list: [4]}\n      - {tp: 4,"),
            "New points do not belong to any curve of the base",
        ),
    ],
)  # fmt: skip
def test_any_other_change_is_refused(base: str, head: str, words: str) -> None:
    import re

    assert re.search(words, refusal(base, head))


def test_only_the_selected_scenario_may_change() -> None:
    base = both("a", "{tp: 4, conc-list: [4]}", f"{{tp: 8, {NONE}, conc-list: [1]}}")
    text = entry("a", append_only="true", scenario_type="[agentic-coding]")
    head = base.replace("[1]", "[1, 2]")
    assert added(base, head, text) == ["tp8@2"]
    assert "the scenario fixed-seq-len changed" in refusal(base, head.replace("[4]", "[4, 5]"), text)
    assert "fields changed" in refusal(base, head.replace(":v1", ":v2"), text)


def test_new_points_of_a_curve_with_two_images() -> None:
    older = single("a", "{tp: 8, conc-list: [4]}")
    newer = single("b", "{tp: 8, conc-list: [4]}", image="acme/vllm:v2")
    head = older.replace("[4]", "[4, 8]") + newer
    text = entry("a", "b", append_only="true")
    assert "their curve was measured with acme/vllm:v1, acme/vllm:v2" in refusal(older + newer, head, text)


@pytest.mark.parametrize("flag", ["all_evals", "evals_only"])
def test_a_request_for_accuracy_runs_contradicts_append_only(flag: str) -> None:
    with pytest.raises(ProblemsError, match=f"asks for {flag.replace('_', '-')}; they contradict"):
        plan(load(BASE), APPEND, base=load(BASE), profile=DEFAULT, **{flag: True})


def test_append_only_and_other_entries_do_not_mix() -> None:
    with pytest.raises(ProblemsError, match="all entries of a pull request must") as error:
        plan(load(BASE, single("b", "{tp: 8, conc-list: [4]}")), APPEND, entry("b"), base=load(BASE))
    assert [problem.line for problem in error.value.problems] == [5]

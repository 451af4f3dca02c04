from __future__ import annotations

from pathlib import Path

import pytest

from infx.bench.config import ScenarioType
from infx.bench.delta import Correction
from infx.changelog.delta import read_delta, read_entries
from infx.errors import ProblemsError

PATH = "perf-changelog.yaml"


def entry(key: str, link: str = "https://github.com/acme/bench/pull/10", *more: str) -> str:
    fields = "".join(f"  {line}\n" for line in more)
    return f'- config-keys:\n    - {key}\n{fields}  description:\n    - "old one"\n  pr-link: {link}\n'


B = entry("m1-fp8-h200-vllm")


def keys(base: str, head: str) -> list[tuple[str, ...]]:
    return [entry.config_keys for entry in read_delta(base.encode(), head.encode(), PATH).entries]


@pytest.mark.parametrize(
    ("base", "head", "added"),
    [
        (B, B + "\n" + entry("a"), ["a"]),
        (B, B + "\n" + entry("a") + "\n" + entry("b"), ["a", "b"]),
        (B[:-1], B + "\n" + entry("a"), ["a"]),  # a base without its final newline
        ("", entry("a"), ["a"]),
        (B, B + "\n# a remark\n" + entry("a"), ["a"]),
        (B, B + "\n" + B, ["m1-fp8-h200-vllm"]),  # the same entry once more
        # Readable, though the validator refuses it: entries above others, and blank lines of the past gone.
        (B + "\n" + entry("z"), B + "\n" + entry("a") + "\n" + entry("z"), ["a"]),
        (B + "\n" + entry("z"), entry("a") + B + "\n" + entry("z") + "\n" + entry("b"), ["a", "b"]),
        (B + "  \n\n" + entry("z"), B + "\n" + entry("z") + "\n" + entry("a"), ["a"]),
        (B + "\n", B + "  \n" + entry("a"), ["a"]),
    ],
)
def test_added_entries(base: str, head: str, added: list[str]) -> None:
    assert keys(base, head) == [(key,) for key in added]


@pytest.mark.parametrize("head", [B, B[:-1] + "\n"])
def test_nothing_added(head: str) -> None:
    delta = read_delta(B.encode(), head.encode(), PATH)
    assert (delta.entries, delta.corrections) == ((), ())


def test_an_append_is_told_from_other_additions() -> None:
    appended = read_delta(B.encode(), (B + "\n" + entry("a")).encode(), PATH)
    above = read_delta(B.encode(), (entry("a") + "\n" + B).encode(), PATH)
    assert (appended.is_append, above.is_append) == (True, False)


def test_every_field_of_an_entry() -> None:
    text = (
        B
        + "\n"
        + """\
- config-keys: [a, "b*"]
  scenario-type: [agentic-coding]
  description: [x, "y: z"]
  pr-link: XXX # fill in
  evals-only: true
  all-evals: true
  eval-min-prefill-ep: 8
"""
    )
    (found,) = read_delta(B.encode(), text.encode(), PATH).entries
    assert found.line == 7
    assert found.config_keys == ("a", "b*")
    assert found.description == ("x", "y: z")
    assert found.pr_link == "XXX"
    assert found.scenario_types == (ScenarioType.AGENTIC,)
    assert (found.evals_only, found.all_evals, found.no_evals, found.append_only) == (
        True,
        True,
        False,
        False,
    )
    assert found.eval_min_prefill_ep == 8


@pytest.mark.parametrize("link", ["#77", "", "77", "[1]"])
def test_a_link_that_is_no_text_is_for_the_validator_to_judge(link: str) -> None:
    (found,) = read_entries(entry("a", link).encode(), PATH)
    assert found.pr_link is None


def test_only_links_changed() -> None:
    base = entry("a", "XXX") + "\n" + entry("b", "https://github.com/acme/bench/pull/2/files")
    head = base.replace("XXX", "https://github.com/acme/bench/pull/9").replace("/files", "")
    delta = read_delta(base.encode(), head.encode(), PATH)
    assert delta.entries == ()
    assert delta.corrections == (
        Correction(
            line=5, before=b"  pr-link: XXX", after=b"  pr-link: https://github.com/acme/bench/pull/9"
        ),
        Correction(
            line=11,
            before=b"  pr-link: https://github.com/acme/bench/pull/2/files",
            after=b"  pr-link: https://github.com/acme/bench/pull/2",
        ),
    )


@pytest.mark.parametrize(
    ("head", "line"),
    [
        (B.replace("old one", "new one") + "\n" + entry("a"), 4),
        (entry("a"), 2),
        (B.replace("old one", "new one"), 4),
        (B.replace("pull/10", "pull/11") + "\n" + entry("a"), 5),  # a correction and an addition
        ("\n", None),
        (B.replace("\n", "\r\n"), 1),
    ],
)
def test_past_entries_do_not_change(head: str, line: int | None) -> None:
    with pytest.raises(ProblemsError, match="Past entries do not change") as error:
        read_delta(B.encode(), head.encode(), PATH)
    assert [problem.line for problem in error.value.problems] == [line]


def test_the_changed_entry_is_named_by_its_place_in_the_base() -> None:
    base = B + "\n" + entry("b") + "\n" + entry("c")
    head = B + "\n" + entry("new") + "\n" + entry("b") + "\n" + entry("d")
    with pytest.raises(
        ProblemsError, match="on line 13 of the base, changed or is gone: `····- c` is not here"
    ) as error:
        read_delta(base.encode(), head.encode(), PATH)
    assert [problem.line for problem in error.value.problems] == [20]


@pytest.mark.parametrize(
    ("added", "rule", "line"),
    [
        ("  - indented\n", "yaml-syntax", 6),
        ("    more of the link\n", "yaml-syntax", 6),
        ("[{config-keys: [a], description: [x], pr-link: XXX}]\n", "yaml-syntax", 6),
        ("- config-keys: []\n  description: [x]\n  pr-link: XXX\n", "schema-minItems", 6),
        ("- config-keys: [a]\n  descripton: [x]\n  pr-link: XXX\n", "schema-missing-key", 6),
        (
            "- config-keys: [a]\n  description: [x]\n  no-evals: true\n  evals-only: true\n",
            "fields-contradict",
            9,
        ),
        (
            "- config-keys: [a]\n  description: [x]\n  append-only: true\n  all-evals: true\n",
            "fields-contradict",
            9,
        ),
        ("- config-keys: [a]\n  config-keys: [b]\n", "yaml-duplicate-key", 7),
        ("<<<<<<< HEAD\n", "yaml-syntax", 6),
        ("- just text\n", "schema-type", 6),
    ],
)
def test_what_is_no_entry(added: str, rule: str, line: int) -> None:
    with pytest.raises(ProblemsError) as error:
        read_delta(B.encode(), (B + added).encode(), PATH)
    assert (rule, line) in {(problem.rule, problem.line) for problem in error.value.problems}


@pytest.mark.shared
def test_real_history_is_readable(shared: Path) -> None:
    """772 entries, of which 67 name a scenario, 6 are evals-only and 1 is append-only."""
    text = (shared / "inferencex" / "perf-changelog.yaml").read_bytes()
    found = read_entries(text, PATH)
    counts = (
        len(found),
        sum(bool(one.scenario_types) for one in found),
        sum(one.evals_only for one in found),
        sum(one.append_only for one in found),
    )
    assert counts == (772, 67, 6, 1)

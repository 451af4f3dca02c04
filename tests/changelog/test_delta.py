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
        # Readable, though the validator refuses it: new entries above past ones, and deleted blank lines.
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


def test_an_append_is_distinguished_from_other_additions() -> None:
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
    (added,) = read_delta(B.encode(), text.encode(), PATH).entries
    assert added.line == 7
    assert added.config_keys == ("a", "b*")
    assert added.description == ("x", "y: z")
    assert added.pr_link == "XXX"
    assert added.scenario_types == (ScenarioType.AGENTIC,)
    assert (added.evals_only, added.all_evals, added.no_evals, added.append_only) == (
        True,
        True,
        False,
        False,
    )
    assert added.eval_min_prefill_ep == 8


@pytest.mark.parametrize("link", ["#77", "", "77", "[1]"])
def test_a_link_that_is_not_text_is_left_to_the_validator(link: str) -> None:
    (read,) = read_entries(entry("a", link).encode(), PATH)
    assert read.pr_link is None


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
    with pytest.raises(ProblemsError, match="Past entries are immutable") as error:
        read_delta(B.encode(), head.encode(), PATH)
    assert [problem.line for problem in error.value.problems] == [line]


def test_a_changed_entry_is_named_by_its_line_in_the_base() -> None:
    base = B + "\n" + entry("b") + "\n" + entry("c")
    head = B + "\n" + entry("new") + "\n" + entry("b") + "\n" + entry("d")
    message = r"\(line 13 of the base\) was changed or deleted: `····- c` is missing"
    with pytest.raises(ProblemsError, match=message) as error:
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
def test_invalid_additions_are_refused(added: str, rule: str, line: int) -> None:
    with pytest.raises(ProblemsError) as error:
        read_delta(B.encode(), (B + added).encode(), PATH)
    assert (rule, line) in {(problem.rule, problem.line) for problem in error.value.problems}


@pytest.mark.shared
def test_real_history_is_readable(shared: Path) -> None:
    """Count entries, and those with a scenario, evals-only and append-only."""
    text = (shared / "inferencex" / "perf-changelog.yaml").read_bytes()
    entries = read_entries(text, PATH)
    counts = (
        len(entries),
        sum(bool(entry.scenario_types) for entry in entries),
        sum(entry.evals_only for entry in entries),
        sum(entry.append_only for entry in entries),
    )
    assert counts == (772, 67, 6, 1)

"""The policy's path patterns: their syntax, and what the default patterns match."""

from __future__ import annotations

import time

import pytest

from infx.gather.signoff_clone import find_serving, may_serve
from infx.policy.load import default_policy
from infx.policy.paths import compile_glob, escape_glob, is_serving
from tests.signoff.facts import state

POLICY = default_policy()


@pytest.mark.parametrize(
    ("glob", "path", "expected"),
    [
        ("docs/*.png", "docs/a.png", True),
        ("docs/*.png", "docs/a/b.png", False),  # one star stops at a slash
        ("docs/**/*.png", "docs/a.png", True),  # no folder is needed
        ("docs/**/*.png", "docs/a/b/c.png", True),
        ("benchmarks/**", "benchmarks/a/b.sh", True),
        ("benchmarks/**", "benchmarks", False),
        ("a?.sh", "ab.sh", True),
        ("a?.sh", "a/.sh", False),
        (r"a\*.sh", "a*.sh", True),
        (r"a\*.sh", "ab.sh", False),
        ("a[bc].sh", "a[bc].sh", True),  # ranges are plain text
        ("a[bc].sh", "ab.sh", False),
        ("**", "a\nb/c", True),
    ],
)
def test_a_pattern_matches_as_in_a_workflow(glob: str, path: str, expected: bool) -> None:
    assert bool(compile_glob(glob).fullmatch(path)) is expected


@pytest.mark.parametrize("text", ["a*b", "a?b", "a\\b", "a[b]", "plain", "**/x"])
def test_an_escaped_text_matches_only_itself(text: str) -> None:
    pattern = compile_glob(escape_glob(text))
    assert pattern.fullmatch(text)
    assert not any(pattern.fullmatch(other) for other in ("axb", "a//b", "x", "a/b/x", "ab"))


# The default patterns for prose and pictures match files at any depth.
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("README.md", False),
        ("docs/deep/er/page.md", False),
        (".md", False),
        ("docs/a.png", False),
        ("docs/a/b.webp", False),
        ("docs/run.sh", True),  # a row may use a script below docs
        ("pictures/a.png", True),
        ("README.mdx", True),
        ("perf-changelog.yaml", False),
    ],
)
def test_the_default_separates_prose_from_files_of_rows(path: str, expected: bool) -> None:
    assert is_serving(path, POLICY) is expected


# The default finds scripts at any depth below a folder of benchmarks, but not in benchmarks itself. Any text may follow
# the framework, even with slashes.
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("benchmarks/single_node/dsr1_fp8_h200_vllm.sh", True),
        ("benchmarks/single_node/deep/er/dsr1_fp8_h200-x_vllm_mtp.sh", True),
        ("benchmarks/multi/dsr1_fp8_h200_vllm/recipe.yaml", True),
        ("benchmarks/dsr1_fp8_h200_vllm.sh", False),
        ("other/single_node/dsr1_fp8_h200_vllm.sh", False),
        ("benchmarks/single_node/dsr1_fp4_h200_vllm.sh", False),
    ],
)
def test_the_default_finds_the_scripts_of_a_configuration(path: str, expected: bool) -> None:
    configuration = state(model_prefix="dsr1", precision="fp8", runner="h200", framework="vllm")
    assert bool(find_serving([path], configuration, POLICY.signoff)) is expected
    assert may_serve(path, b"", POLICY.signoff) or not expected


def test_a_star_in_a_value_is_literal() -> None:
    configuration = state(model_prefix="dsr*", precision="fp8", runner="h200", framework="vllm")
    assert not find_serving(["benchmarks/a/dsr1_fp8_h200_vllm.sh"], configuration, POLICY.signoff)
    assert find_serving(["benchmarks/a/dsr*_fp8_h200_vllm.sh"], configuration, POLICY.signoff)


def test_a_long_path_takes_no_time() -> None:
    """A matcher that backtracks would take minutes for 4,000 folders."""
    began = time.process_time()
    for path in ("benchmarks/" + "a/" * 4000, "benchmarks/" + "_" * 8000):
        is_serving(path, POLICY)
        may_serve(path, b"", POLICY.signoff)
    assert time.process_time() - began < 2

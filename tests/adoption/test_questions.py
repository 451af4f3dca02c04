"""Check which answers are valid."""

from __future__ import annotations

import pytest

from infx.adoption.questions import QUESTIONS, split_pin, split_runner
from tests.adoption.made import SHA

CHECKS = {question.name: question.find_problem for question in QUESTIONS}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("repo", "bench"),
        ("repo", "https://github.com/acme/bench"),
        ("base-branch", "a..b"),
        ("base-branch", "x.lock"),
        ("base-branch", "rel*"),
        ("base-branch", "/main"),
        ("changelog", "../log.yaml"),
        ("changelog", "/tmp/log.yaml"),
        ("runner-config", "a//b.yaml"),
        ("clusters", ".git/clusters.yaml"),
        ("models", "a/$(id).yaml"),
        ("runner", "h200, b200"),
        ("runner", "h200="),
        ("runner", "h200:"),
        ("runner", "${{ x }}"),
        ("code-owner", "mia"),
        ("app", "bench bot"),
        ("actions", "acme/infx@main"),
        ("actions", f"infx@{SHA}"),
    ],
)
def test_an_answer_that_is_not_valid_is_refused(name: str, text: str) -> None:
    assert CHECKS[name](text)
    assert not text or CHECKS[name](f"{text}\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("repo", "acme/bench.v2"),
        ("base-branch", "release/1.0"),
        ("changelog", "a/b-c/log"),
        ("runner", "cluster:h200-a"),
        ("runner", "007=box-7"),
        ("code-owner", "@acme/core"),
        ("app", "bench-bot[bot]"),
        ("app", ""),
        ("actions", f"acme/infx@{SHA}#v1"),
    ],
)
def test_an_answer_that_is_valid_is_accepted(name: str, text: str) -> None:
    assert CHECKS[name](text) is None


def test_the_parts_of_an_answer() -> None:
    assert split_pin(f"acme/infx@{SHA} # v1.0") == ("acme/infx", SHA, "v1.0")
    assert split_pin(f"acme/infx@{SHA}") == ("acme/infx", SHA, "")
    assert split_runner("cluster:h200-a") == ("cluster:h200-a", "h200-a_0")
    assert split_runner("h200=box-7") == ("h200", "box-7")

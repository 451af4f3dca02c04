"""Placeholders of a launch on the row's machine."""

from __future__ import annotations

from typing import Any

import pytest

from infx.rowfile.errors import RowError
from infx.rowfile.launch_values import choose_path, compute_port, fill_all, fill_map, fill_text


def test_placeholders_get_their_values() -> None:
    values = {"job": "17", "home": "/home/ci"}
    assert fill_text("--jobid={job} {home}/{job}", values) == "--jobid=17 /home/ci/17"
    assert fill_all(["{job}", "x"], values) == ["17", "x"]
    assert fill_map({"A": "{home}"}, values) == {"A": "/home/ci"}


@pytest.mark.parametrize("text", ["{other}", "${job_name}", '{"name":"x"}', "{}", "{ job }", "${file%/*}"])
def test_other_text_in_braces_stays(text: str) -> None:
    assert fill_text(text, {"job": "17"}) == text


def test_a_value_is_not_read_again() -> None:
    assert fill_text("{home}{job}", {"home": "{job}", "job": "17"}) == "{job}17"


def test_a_value_that_is_not_known_is_an_error() -> None:
    with pytest.raises(RowError, match=r"The launch needs \{job\} before it is known"):
        fill_text("scancel {job}", {"home": "/home/ci"})


@pytest.mark.parametrize(
    ("choice", "there", "expected"),
    [
        ({"paths": ["a", "b"]}, {("b", "")}, "b"),
        ({"paths": ["a", "b"]}, {("a", ""), ("b", "")}, "a"),
        ({"paths": ["a"], "holds": "*.x"}, {("a", "")}, None),
        ({"paths": ["a"], "holds": "*.x"}, {("a", "*.x")}, "a"),
        ({"paths": ["a"], "otherwise": "c"}, set(), "c"),
        ({"paths": [], "otherwise": "c"}, set(), "c"),
        ({"paths": ["a", "b"]}, set(), None),
    ],
)
def test_the_first_path_that_qualifies_wins(
    choice: dict[str, Any], there: set[tuple[str, str]], expected: str | None
) -> None:
    named = {"name": "script", **choice}
    if expected is None:
        with pytest.raises(RowError, match="None of the candidates for script exists: a"):
            choose_path(named, lambda path, holds: (path, holds) in there)
    else:
        assert choose_path(named, lambda path, holds: (path, holds) in there) == expected


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ({"base": 8888}, "8888"),
        ({"base": 8888, "plus": "digit"}, "8891"),
        ({"base": 40000, "plus": "job", "modulo": 10000}, "44567"),
        ({"base": 1, "plus": "job"}, "1234568"),
    ],
)
def test_a_port_has_three_forms(form: dict[str, Any], expected: str) -> None:
    assert compute_port(form, {"digit": "3", "job": "1234567"}) == expected


@pytest.mark.parametrize("values", [{}, {"job": ""}, {"job": "x"}, {"job": "-1"}])
def test_a_port_needs_a_number(values: dict[str, str]) -> None:
    with pytest.raises(RowError, match="The port needs a number for job"):
        compute_port({"base": 1, "plus": "job"}, values)

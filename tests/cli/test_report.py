from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from infx.cli.report import report
from infx.errors import Level, Problem

ERROR = Problem(rule="b", message="Wrong.", path="a.yaml", line=2, hint="Fix it.")
WARNING = Problem(rule="a", message="Odd.", path="a.yaml", line=1, level=Level.WARNING)


def test_a_table_prints_problems_on_stderr_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([ERROR, WARNING], {}, as_json=False) == 1
    assert capsys.readouterr() == ("", "warning: a.yaml:1: Odd.\na.yaml:2: Wrong. Fix it.\n")


def test_json_holds_every_problem_and_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([ERROR, WARNING], {}, as_json=True) == 1
    rows = [
        {"rule": "a", "level": "warning", "message": "Odd.", "path": "a.yaml", "line": 1, "hint": None},
        {"rule": "b", "level": "error", "message": "Wrong.", "path": "a.yaml", "line": 2, "hint": "Fix it."},
    ]
    assert json.loads(capsys.readouterr().out) == {"ok": False, "problems": rows}


@pytest.mark.parametrize("problems", [[], [WARNING]])
def test_without_errors_the_exit_code_is_0(
    problems: list[Problem], capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(problems, {}, as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["ok"] is True


def test_on_actions_the_eleventh_error_goes_to_the_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    errors = [Problem(rule="r", message=f"Wrong `{n}` @amy.", path="a", line=n) for n in range(1, 13)]
    assert report([*errors, WARNING], environ, as_json=True) == 1
    out, err = capsys.readouterr()
    assert len(json.loads(out)["problems"]) == 13
    commands = re.findall(r"^::(\w+) ", err, flags=re.MULTILINE)
    assert sorted(commands) == ["error"] * 10 + ["warning"]
    summary = (tmp_path / "summary").read_text()
    assert summary == (
        "### Problems beyond the annotations\n\n- ``a:11: Wrong `11` @amy.``\n- ``a:12: Wrong `12` @amy.``\n"
    )


def test_without_an_overflow_the_summary_stays_empty(tmp_path: Path) -> None:
    environ = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    report([ERROR] * 3, environ, as_json=False)
    assert not (tmp_path / "summary").exists()

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infx import actions
from infx.errors import Level, Problem, UsageError


def runner_commands(text: str) -> list[str]:
    """Return the lines that the runner would run as commands.

    The runner ends a line at CR, LF or both, skips blanks before `::`, and accepts `##[` at any position.
    """
    return [line for line in re.split(r"\r\n|\r|\n", text) if line.lstrip().startswith("::") or "##[" in line]


def parse_outputs(text: str) -> dict[str, str]:
    """Read GITHUB_OUTPUT as the runner does: `name=value` lines and `name<<delimiter` blocks."""
    outputs, lines = {}, text.split("\n")
    assert lines.pop() == ""
    while lines:
        line = lines.pop(0)
        if "<<" in line and ("=" not in line or line.index("<<") < line.index("=")):
            name, delimiter = line.split("<<", 1)
            end = lines.index(delimiter)
            outputs[name] = "\n".join(lines[:end])
            del lines[: end + 1]
        else:
            name, outputs[name] = line.split("=", 1)
    return outputs


@pytest.mark.parametrize(("value", "expected"), [("true", True), ("", False), (None, False), ("1", False)])
def test_actions_is_recognized_by_its_variable(value: str | None, expected: bool) -> None:
    assert actions.is_actions({} if value is None else {"GITHUB_ACTIONS": value}) is expected


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("plain text\nwith :: inside\n", "plain text\nwith :: inside\n"),
        ("::set-output name=a::b", "\\::set-output name=a::b"),
        ("ok\n::error::x\n", "ok\n\\::error::x\n"),
        ("ok\r::error::x", "ok\r\\::error::x"),
        ("ok\r\n::error::x\r\n", "ok\r\n\\::error::x\r\n"),
        ("  \t::stop-commands::x", "  \t\\::stop-commands::x"),
        ("\u00a0\u2003::add-mask::x", "\u00a0\u2003\\::add-mask::x"),
        ("\v\f::add-mask::x", "\v\f\\::add-mask::x"),
        ("text ##[error]x", "text #\\#[error]x"),
        ("###[group]", "##\\#[group]"),
        ("## [not one]", "## [not one]"),
        ("", ""),
    ],
)
def test_no_line_of_foreign_text_starts_a_command(text: str, harmless: str) -> None:
    assert actions.neutralize(text) == harmless
    assert runner_commands(harmless) == []
    assert actions.neutralize(harmless) == harmless


@given(st.text("a: \t\r\n#[]\\\u00a0\u2028::##", max_size=40))
@example("\r ::\n##[")
def test_properties_neutralized_text_runs_nothing_and_loses_nothing(text: str) -> None:
    harmless = actions.neutralize(text)
    assert runner_commands(harmless) == []
    assert harmless.replace("\\", "") == text.replace("\\", "")


@given(
    st.recursive(
        st.text("a#[]:\n\\", max_size=8),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("#[", max_size=4), inner, max_size=3)
        ),
        max_leaves=6,
    )
)
def test_properties_json_stays_the_same_value_and_runs_nothing(value: object) -> None:
    text = actions.neutralize_json(json.dumps(value, indent=2))
    assert json.loads(text) == value
    assert runner_commands(text) == []


@given(st.text("a' :#[\t\r\n\u00a0", max_size=12))
@example("\r\n ::error::x\n##[error]'")
def test_properties_a_quoted_word_is_the_same_word_and_runs_nothing(text: str) -> None:
    quoted = actions.quote_shell(text)
    assert shlex.split(quoted) == [text]
    assert runner_commands(f"export X={quoted}") == []


def problem(message: str = "Wrong.", level: Level = Level.ERROR, **fields: Any) -> Problem:
    return Problem(rule="r", message=message, level=level, **fields)


@pytest.mark.parametrize(
    ("annotated", "command"),
    [
        (problem(), "::error title=r::Wrong."),
        (
            problem(path="a.yaml", line=7, hint="Fix it."),
            "::error file=a.yaml,line=7,title=r::Wrong. Fix it.",
        ),
        (problem(level=Level.WARNING, path="a"), "::warning file=a,title=r::Wrong."),
        (problem("50%\r\n::error::x"), "::error title=r::50%25%0D%0A::error::x"),
        (problem(path="a:b,c%\nd::e"), "::error file=a%3Ab%2Cc%25%0Ad%3A%3Ae,title=r::Wrong."),
    ],
)
def test_annotation_is_escaped(annotated: Problem, command: str) -> None:
    assert actions.format_annotation(annotated) == command
    assert "\n" not in command


def test_annotation_is_cut_where_github_cuts_it() -> None:
    command = actions.format_annotation(problem("x" * 5000))
    assert command == "::error title=r::" + "x" * 4096


def test_more_than_ten_annotations_of_a_level_are_returned_as_problems() -> None:
    errors = [problem(f"E{n}.") for n in range(12)]
    warnings = [problem(f"W{n}.", Level.WARNING) for n in range(11)]
    commands, remaining = actions.format_annotations([*warnings, *errors])
    assert len(commands) == 20
    assert remaining == [warnings[10], errors[10], errors[11]]
    assert actions.format_annotations(errors[:10]) == (
        [actions.format_annotation(e) for e in errors[:10]],
        [],
    )


# The reason text would add two outputs to a file written as name=value; EOF is the usual delimiter.
HOSTILE = [
    "no\nreuse-enabled=true\nreuse-source-run-id=1",
    "a\nEOF\nb=c",
    "x<<EOF\ny\nEOF",
    "",
    "\n",
    "a\r\nb",
    "ü\n",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_a_hostile_value_creates_no_further_output(value: str, tmp_path: Path) -> None:
    file = tmp_path / "output"
    environ = {"GITHUB_OUTPUT": str(file)}
    actions.write_outputs(environ, {"run": "false", "reason": value})
    actions.write_outputs(environ, {"last": "1"})
    text = file.read_bytes().decode()
    assert parse_outputs(text) == {"run": "false", "reason": value, "last": "1"}


def test_the_delimiter_is_random_and_not_in_the_value(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = iter(["taken", "taken", "free"])
    monkeypatch.setattr("secrets.token_hex", lambda size: next(tokens))
    text = actions.format_output("name", "has infx-taken inside")
    assert text == "name<<infx-free\nhas infx-taken inside\ninfx-free\n"
    monkeypatch.undo()
    assert len({actions.format_output("a", "b") for _ in range(5)}) == 5


@pytest.mark.parametrize("name", ["", "a b", "a=b", "a\nb", "1a", "a<<b"])
def test_an_invalid_output_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a valid output name"):
        actions.format_output(name, "x")


def test_outside_actions_no_output_or_summary_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    actions.write_outputs({}, {"a": "b"})
    actions.write_summary({}, "text")
    assert (list(tmp_path.iterdir()), capsys.readouterr()) == ([], ("", ""))


def test_a_lone_surrogate_does_not_stop_an_output(tmp_path: Path) -> None:
    file = tmp_path / "output"
    actions.write_outputs({"GITHUB_OUTPUT": str(file)}, {"title": "x\ud800y"})
    assert parse_outputs(file.read_text()) == {"title": "x?y"}


def test_summaries_are_appended(tmp_path: Path) -> None:
    environ = {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary")}
    actions.write_summary(environ, "# One\n\n")
    actions.write_summary(environ, "Two ü")
    assert (tmp_path / "summary").read_text() == "# One\nTwo ü\n"


def test_a_summary_stays_within_one_mebibyte_and_closes_what_is_open(tmp_path: Path) -> None:
    path = tmp_path / "summary"
    environ = {"GITHUB_STEP_SUMMARY": str(path)}
    actions.write_summary(environ, "<details>\n\n```\n" + "zeile ü\n" * 200_000 + "```\n\n</details>\n")
    size = path.stat().st_size
    assert actions.MAX_SUMMARY - 40 < size <= actions.MAX_SUMMARY == 1_048_576
    assert path.read_text().endswith("zeile ü\n```\n\n</details>\n\n*Cut here: the rest did not fit.*\n")
    actions.write_summary(environ, "much more text than the remaining room, wherever it was cut")
    assert path.stat().st_size == size


OWN = {"GITHUB_EVENT_PATH": "own.json", "GITHUB_EVENT_NAME": "pull_request_target"}
COMMENTED = {"issue": {"number": 77}, "comment": {"id": 1}}


def receive(
    tmp_path: Path, file: str | None, environ: dict[str, str], name: str | None = None
) -> tuple[str, str, bool] | None:
    """Receive an event in a folder with the run's own event, `own.json`, and another event, `other.json`."""
    (tmp_path / "own.json").write_text('{"pull_request": {}}')
    (tmp_path / "other.json").write_text(json.dumps(COMMENTED))
    here = {
        key: str(tmp_path / value) if value.endswith(".json") else value for key, value in environ.items()
    }
    event = actions.receive_event(tmp_path / file if file else None, here, name=name)
    return (event.name, event.path.name, event.is_own) if event else None


@pytest.mark.parametrize(
    ("file", "environ", "name", "expected"),
    [
        (None, {}, None, None),
        (None, {"GITHUB_EVENT_PATH": ""}, None, None),
        (None, OWN, None, ("pull_request_target", "own.json", True)),
        ("own.json", OWN, None, ("pull_request_target", "own.json", True)),
        ("other.json", OWN, None, ("issue_comment", "other.json", False)),  # the named file wins
        ("other.json", {}, None, ("issue_comment", "other.json", False)),  # on a laptop
        ("other.json", {"GITHUB_EVENT_NAME": "push"}, None, ("issue_comment", "other.json", False)),
        ("other.json", OWN, "push", ("push", "other.json", False)),  # and so does the given name
        (None, OWN, "push", ("push", "own.json", True)),
    ],
)
def test_an_events_file_and_name(
    tmp_path: Path,
    file: str | None,
    environ: dict[str, str],
    name: str | None,
    expected: tuple[str, str, bool] | None,
) -> None:
    assert receive(tmp_path, file, environ, name) == expected


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"action": "labeled", "number": 7, "pull_request": {}, "repository": {}}, "pull_request"),
        ({"action": "created", "issue": {}, "comment": {}}, "issue_comment"),
        ({"action": "submitted", "pull_request": {}, "review": {}}, "pull_request_review"),
        ({"action": "created", "pull_request": {}, "comment": {}}, "pull_request_review_comment"),
        ({"action": "completed", "workflow_run": {}, "workflow": {}}, "workflow_run"),
        (
            {"inputs": None, "ref": "refs/heads/main", "workflow": ".github/workflows/x.yml"},
            "workflow_dispatch",
        ),
        ({"ref": "refs/heads/main", "before": "0", "after": "1", "head_commit": {}}, "push"),
        ({"action": "checks_requested", "merge_group": {}}, "merge_group"),
        ({"issue": {}}, ""),
        ({}, ""),
    ],
)
def test_the_name_of_a_payload(tmp_path: Path, payload: dict[str, object], name: str) -> None:
    """Use the keys that GitHub's documentation lists for each event."""
    path = tmp_path / "event.json"
    path.write_text(json.dumps(payload))
    event = actions.receive_event(path, {})
    assert event is not None
    assert (event.name, event.payload) == (name, payload)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "The event file cannot be read: No such file or directory."),
        ("{", "The event file is not JSON"),
        ("[1]", "The event file does not contain a JSON object."),
        (b"\xff", "The event file is not JSON"),
    ],
)
def test_a_bad_event_file_is_a_usage_error(content: str | bytes | None, message: str, tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    for named, environ in ((path, {}), (None, {"GITHUB_EVENT_PATH": str(path)})):
        with pytest.raises(UsageError, match=message) as caught:
            actions.receive_event(named, environ)
        assert caught.value.where == str(path)


def test_a_word_of_many_empty_lines_is_quoted_in_time() -> None:
    """Finish in time, although matching from each line would take hours."""
    assert actions.quote_shell("\n" * 400_000 + "x") == f"'{chr(10) * 400_000}x'"

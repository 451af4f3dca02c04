"""Talk to GitHub Actions from inside a step: workflow commands, outputs, the summary and the event.

Text from a pull request passes through `neutralize` before it is printed, so that none of its lines can start a
workflow command, and gets a random delimiter before it becomes an output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from infx.errors import Level, Problem, UsageError
from infx.files import decode_json, read_file
from infx.records import record

MAX_ANNOTATIONS = 10  # per level and step; GitHub drops the rest
MAX_MESSAGE = 4096  # characters of one annotation
MAX_SUMMARY = 1024 * 1024  # bytes; GitHub shows nothing of a larger file


def is_actions(environ: Mapping[str, str]) -> bool:
    return environ.get("GITHUB_ACTIONS") == "true"


def neutralize(text: str) -> str:
    """Return the text without lines that the runner would run as a command (`::x::` or `##[x]`)."""
    lines = re.split(r"(\r\n|\n|\r)", text)
    return "".join(_neutral_line(part) for part in lines)


def _neutral_line(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith("::"):
        line = line[: len(line) - len(stripped)] + "\\" + stripped
    return _neutral_marks(line)


def _neutral_marks(line: str) -> str:
    return line.replace("##[", "#\\#[")


def neutralize_json(text: str) -> str:
    """Return the JSON with an escape in each `##[`, which is a command at any position of a line."""
    return text.replace("##[", "#\\u0023[")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def format_annotation(problem: Problem) -> str:
    """Return the workflow command that shows a problem at its line."""
    properties = {"file": problem.path, "line": problem.line, "title": problem.rule}
    shown = ",".join(f"{key}={_escape_property(str(value))}" for key, value in properties.items() if value)
    text = f"{problem.message} {problem.hint}" if problem.hint else problem.message
    return _neutral_marks(f"::{problem.level} {shown}::{_escape_data(text[:MAX_MESSAGE])}")


def format_annotations(problems: Iterable[Problem]) -> tuple[list[str], list[Problem]]:
    """Return commands for the first ten errors and the first ten warnings, and the remaining problems."""
    commands, remaining = [], []
    counts = dict.fromkeys(Level, 0)
    for problem in problems:
        counts[problem.level] += 1
        if counts[problem.level] <= MAX_ANNOTATIONS:
            commands.append(format_annotation(problem))
        else:
            remaining.append(problem)
    return commands, remaining


def quote_shell(text: str) -> str:
    """Quote a word for a shell; empty quotes inside `##[` or before a line's `::` hide them from the runner."""
    import shlex

    quoted = shlex.quote(text).replace("##[", "##''[")  # such a word is in single quotes
    # (?<!\s) matches a run of blanks only once: matching from each of many empty lines would take too long.
    return re.sub(r"(?<!\s)(\s+)::", lambda m: f"{m[1]}''::" if set(m[1]) & {"\r", "\n"} else m[0], quoted)


def format_output(name: str, value: str) -> str:
    """Return one output in the multi-line form, with a delimiter that the value does not contain."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
        raise ValueError(f"not a valid output name: {name!r}")
    import secrets

    delimiter = f"infx-{secrets.token_hex(16)}"
    while delimiter in value:
        delimiter = f"infx-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append to `GITHUB_OUTPUT`; do nothing without that file (outside Actions)."""
    if path := environ.get("GITHUB_OUTPUT"):
        with Path(path).open("a", encoding="utf-8", errors="replace") as file:
            file.write("".join(format_output(name, value) for name, value in outputs.items()))


def find_summary_room(environ: Mapping[str, str]) -> int:
    """Return how many bytes the step's summary can still hold; 0 outside Actions."""
    if not (name := environ.get("GITHUB_STEP_SUMMARY")):
        return 0
    path = Path(name)
    return max(0, MAX_SUMMARY - (path.stat().st_size if path.exists() else 0))


def write_summary(environ: Mapping[str, str], markdown: str) -> None:
    """Append to the step's summary, cut at a line so that the file stays within GitHub's limit."""
    if not (name := environ.get("GITHUB_STEP_SUMMARY")):
        return
    from infx.shorten import count_bytes, shorten

    text = shorten(markdown.rstrip("\n") + "\n", find_summary_room(environ), measure=count_bytes)
    with Path(name).open("a", encoding="utf-8", errors="replace") as file:
        file.write(text)


def find_summary_run(environ: Mapping[str, str]) -> int | None:
    """Return the id of the run whose page shows the summaries; None outside Actions."""
    number = environ.get("GITHUB_RUN_ID", "")
    is_shown = bool(environ.get("GITHUB_STEP_SUMMARY")) and re.fullmatch(r"[1-9][0-9]{0,17}", number)
    return int(number) if is_shown else None


@record
class ReceivedEvent:
    """The event that a command works on.

    Attributes:
        name: such as `pull_request`; empty if unknown from the caller, the environment and the payload.
        payload: the content of the event file.
        path: of the event file.
        is_own: whether it is the event of this workflow run, which the run's other variables belong to.
    """

    name: str
    payload: dict[str, Any]
    path: Path
    is_own: bool


def receive_event(
    file: Path | None, environ: Mapping[str, str], *, name: str | None = None
) -> ReceivedEvent | None:
    """Read the event of a file, else of this workflow run; None if there is neither.

    file: wins over the environment, whose event name then counts only if the environment names the same file.
    name: of the event, if the caller knows it. Raises UsageError for a file that is not a payload.
    """
    own = environ.get("GITHUB_EVENT_PATH")
    path = file or (Path(own) if own else None)
    if path is None:
        return None
    payload = _read_payload(path)
    is_own = bool(own) and path.absolute() == Path(own or "").absolute()
    own_name = environ.get("GITHUB_EVENT_NAME") if is_own else None
    return ReceivedEvent(
        name=name or own_name or _guess_event_name(payload), payload=payload, path=path, is_own=is_own
    )


def _read_payload(path: Path) -> dict[str, Any]:
    payload = decode_json(read_file(path, "event file"), "event file", path)
    if not isinstance(payload, dict):
        raise UsageError("The event file does not contain a JSON object.", where=str(path))
    return payload


# Keys that identify an event's payload. The first event whose keys are all present counts.
_MARKS = {
    "merge_group": ("merge_group",),
    "workflow_run": ("workflow_run",),
    "issue_comment": ("issue", "comment"),
    "pull_request_review_comment": ("pull_request", "comment"),
    "pull_request_review": ("pull_request", "review"),
    "pull_request": ("pull_request",),
    "workflow_dispatch": ("inputs", "workflow"),
    "push": ("ref", "after"),
}


def _guess_event_name(payload: Mapping[str, Any]) -> str:
    """Return the event name of a payload, which does not contain it; empty if unknown."""
    names = (name for name, keys in _MARKS.items() if all(key in payload for key in keys))
    return next(names, "")

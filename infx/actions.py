"""GitHub Actions as seen from inside a step: workflow commands, outputs, the summary and the event.

Anything that came from a pull request passes through `neutralise` before it is printed, so that no line of it
can start a workflow command, and through a random delimiter before it becomes an output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from infx.errors import Level, Problem, UsageError

MAX_ANNOTATIONS = 10  # of a kind and step; GitHub drops the rest
MAX_MESSAGE = 4096  # characters of one annotation
MAX_SUMMARY = 1024 * 1024  # bytes; of a larger file GitHub shows nothing at all


def is_actions(environ: Mapping[str, str]) -> bool:
    return environ.get("GITHUB_ACTIONS") == "true"


def neutralise(text: str) -> str:
    """The same text, with no line that the runner would take for a command (`::x::` or `##[x]`)."""
    lines = re.split(r"(\r\n|\n|\r)", text)
    return "".join(_neutral_line(part) for part in lines)


def _neutral_line(line: str) -> str:
    stripped = line.lstrip()
    if stripped.startswith("::"):
        line = line[: len(line) - len(stripped)] + "\\" + stripped
    return _neutral_marks(line)


def _neutral_marks(line: str) -> str:
    return line.replace("##[", "#\\#[")


def neutralise_json(text: str) -> str:
    """The same JSON, in which `##[`, a command wherever in a line it stands, is spelled with an escape."""
    return text.replace("##[", "#\\u0023[")


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")


def format_annotation(problem: Problem) -> str:
    """The workflow command that shows a problem beside its line."""
    properties = {"file": problem.path, "line": problem.line, "title": problem.rule}
    shown = ",".join(f"{key}={_escape_property(str(value))}" for key, value in properties.items() if value)
    text = f"{problem.message} {problem.hint}" if problem.hint else problem.message
    return _neutral_marks(f"::{problem.level} {shown}::{_escape_data(text[:MAX_MESSAGE])}")


def format_annotations(problems: Iterable[Problem]) -> tuple[list[str], list[Problem]]:
    """Commands for the first ten errors and the first ten warnings, and the problems left over."""
    commands, rest = [], []
    counts = dict.fromkeys(Level, 0)
    for problem in problems:
        counts[problem.level] += 1
        if counts[problem.level] <= MAX_ANNOTATIONS:
            commands.append(format_annotation(problem))
        else:
            rest.append(problem)
    return commands, rest


def quote_shell(text: str) -> str:
    """A word for a shell; where `##[`, or a line with `::`, starts in it two quotes that mean nothing keep the runner
    from seeing it.
    """
    import shlex

    quoted = shlex.quote(text).replace("##[", "##''[")  # such a word is in single quotes
    # A run of blanks is looked at once: from each of its lines on, many empty ones would take for ever.
    return re.sub(r"(?<!\s)(\s+)::", lambda m: f"{m[1]}''::" if set(m[1]) & {"\r", "\n"} else m[0], quoted)


def format_stop() -> str:
    """The workflow command after which nothing in the step is one, until a word is printed that nobody knows."""
    import secrets

    return f"::stop-commands::{secrets.token_hex(16)}"


def format_output(name: str, value: str) -> str:
    """One output in the multi-line form, under a delimiter that the value does not contain."""
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name):
        raise ValueError(f"not the name of an output: {name!r}")
    import secrets

    delimiter = f"infx-{secrets.token_hex(16)}"
    while delimiter in value:
        delimiter = f"infx-{secrets.token_hex(16)}"
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def write_outputs(environ: Mapping[str, str], outputs: Mapping[str, str]) -> None:
    """Append to `GITHUB_OUTPUT`; without that file (outside Actions) nothing happens."""
    if path := environ.get("GITHUB_OUTPUT"):
        with Path(path).open("a", encoding="utf-8", errors="replace") as file:
            file.write("".join(format_output(name, value) for name, value in outputs.items()))


def write_summary(environ: Mapping[str, str], markdown: str) -> None:
    """Append to the step's summary, cut at a line so that the whole stays within GitHub's limit."""
    if not (name := environ.get("GITHUB_STEP_SUMMARY")):
        return
    path = Path(name)
    room = MAX_SUMMARY - (path.stat().st_size if path.exists() else 0)
    from infx.shorten import count_bytes, shorten

    text = shorten(markdown.rstrip("\n") + "\n", room, measure=count_bytes)
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write(text)


def find_event(given: Path | None, environ: Mapping[str, str]) -> Path | None:
    """The file of the event that was named, or else of the one that started the run."""
    found = environ.get("GITHUB_EVENT_PATH")
    return given or (Path(found) if found else None)


def read_event(path: Path) -> dict[str, Any]:
    """The payload of a webhook."""
    import json

    try:
        payload = json.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"The event file cannot be read: {error.strerror}.", where=str(path)) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The event file is not JSON: {error}.", where=str(path)) from None
    if not isinstance(payload, dict):
        raise UsageError("The event file holds no JSON object.", where=str(path))
    return payload


def guess_event_name(payload: Mapping[str, Any]) -> str:
    """The name of the event that a payload belongs to: the file does not hold it."""
    if "merge_group" in payload:
        return "merge_group"
    if "comment" in payload and "issue" in payload:
        return "issue_comment"
    if "pull_request" in payload and "comment" not in payload and "review" not in payload:
        return "pull_request"
    if "inputs" in payload and "workflow" in payload:
        return "workflow_dispatch"
    return "push" if "after" in payload and "ref" in payload else ""

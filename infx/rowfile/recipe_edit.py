"""Edit a recipe of srt-slurm by its lines: `python3 -c <this text> <recipe> <edits as JSON>`.

Edits: name (of the job), set (values of keys that the recipe has), health_check (replaced as a whole), after-line (lines
to add after every line of a key). This text runs on a launch's machine: standard library only, Python 3.8.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any


def main(path: str, edits: str) -> int:
    """Edit the file. Exit code 1 if the recipe does not have what an edit changes."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    try:
        lines = edit_lines(lines, json.loads(edits))
    except LookupError as error:
        sys.stderr.write(f"infx: {path}: the recipe has no {error.args[0]}.\n")
        return 1
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return 0


def edit_lines(lines: list[str], edits: dict[str, Any]) -> list[str]:
    """Return the edited lines. Raises LookupError with a key that the recipe does not have."""
    if "name" in edits:
        lines = set_name(lines, edits["name"])
    for key, value in edits.get("set", {}).items():
        lines = set_value(lines, key, json.dumps(value))
    if "health_check" in edits:
        lines = set_block(lines, "health_check", edits["health_check"])
    for key, line in edits.get("after-line", {}).items():
        lines = add_after(lines, key, line)
    return lines


def set_name(lines: list[str], name: str) -> list[str]:
    """Return the lines with another job name, at the top or directly below `base`."""
    place = "name: "
    for index, line in enumerate(lines):
        if re.match(r"name\s*:", line) or (
            re.match(r"\s+name\s*:", line) and _parent(lines, index) == "base"
        ):
            indent = line[: len(line) - len(line.lstrip())]
            return [*lines[:index], indent + place + json.dumps(name), *lines[index + 1 :]]
    raise LookupError("name")


def _parent(lines: list[str], index: int) -> str:
    """Return the key of the mapping that a line belongs to, if that key is at the top of the file."""
    depth = len(lines[index]) - len(lines[index].lstrip())
    for line in reversed(lines[:index]):
        own = len(line) - len(line.lstrip())
        if line.strip() and not line.lstrip().startswith("#") and own < depth:
            return line.partition(":")[0] if own == 0 else ""
    return ""


def set_value(lines: list[str], key: str, value: str) -> list[str]:
    """Return the lines with another value on every line of a key."""
    pattern = re.compile(rf"(\s*{re.escape(key)}\s*:\s).*")
    if not any(pattern.fullmatch(line) for line in lines):
        raise LookupError(key)
    return [pattern.sub(lambda match: match.group(1) + value, line) for line in lines]


def set_block(lines: list[str], key: str, values: dict[str, Any]) -> list[str]:
    """Return the lines with another mapping under a key: in its place, or at the end."""
    pattern = re.compile(rf"(\s*){re.escape(key)}\s*:.*")
    for index, line in enumerate(lines):
        match = pattern.fullmatch(line)
        if match is not None:
            end = index + 1
            while end < len(lines) and (
                not lines[end].strip() or lines[end].startswith(match.group(1) + " ")
            ):
                end += 1
            return [*lines[:index], *_render_block(match.group(1), key, values), *lines[end:]]
    return [*lines, *_render_block("", key, values)]


def _render_block(indent: str, key: str, values: dict[str, Any]) -> list[str]:
    return [
        f"{indent}{key}:",
        *(f"{indent}  {name}: {json.dumps(value)}" for name, value in values.items()),
    ]


def add_after(lines: list[str], key: str, added: str) -> list[str]:
    """Return the lines with a line after every line of a key, at the same depth."""
    edited: list[str] = []
    for line in lines:
        edited.append(line)
        match = re.fullmatch(rf"(\s*){re.escape(key)}\s*:.*", line)
        if match is not None:
            edited.append(match.group(1) + added)
    return edited


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

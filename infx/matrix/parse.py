"""Parse a master configuration file into typed configurations.

The schema check of a whole file takes a millisecond. Only invalid entries are checked in detail, so a valid
file costs little more than loading its YAML. `rules` checks the fields against each other, in every valid
part.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import field
from typing import Any

from infx import schema, yaml12, yaml_parts
from infx.bench.config import Config
from infx.bench.keys import is_pattern
from infx.errors import Problem, ProblemsError
from infx.matrix.build import build_config
from infx.matrix.rules import check_config, state_problem
from infx.records import record

_SCHEMA = "master-config"
_DEFINITIONS = {"fixed-seq-len": "fixed", "agentic-coding": "agentic"}  # kind of scenario → schema definition


@record
class MasterFile:
    """A parsed master configuration file."""

    path: str
    configs: Mapping[str, Config]  # the valid ones by key, in the file's order
    problems: tuple[Problem, ...] = ()  # errors within the file, without inventory and other configurations
    entries: Mapping[str, Any] = field(default_factory=dict)  # plain value of every wanted key, valid or not
    document: yaml12.Document | None = None  # None if the file is not a YAML mapping

    @property
    def lines(self) -> dict[str, int]:
        """Return the line of each entry, in the file's order."""
        if self.document is None:
            return {}
        nodes = {key.value: key for key, _ in self.document.root.value}
        return {key: nodes[key].start_mark.line + 1 for key in self.entries}


def parse_master(
    data: bytes, path: str, *, only: Container[str] | None = None, whole: bool = True
) -> MasterFile:
    """Parse a file of configurations. Raises nothing: errors are in `problems`.

    only: the wanted keys; other entries are neither checked nor built. Missing keys are ignored.
    whole: whether the document has the values of other keys too.
    """
    try:
        if only is None or whole:
            document = yaml12.load_mapping(data, path)
        else:
            document = yaml_parts.load_parts(data, path, only)
    except ProblemsError as error:
        return MasterFile(path=path, configs={}, problems=tuple(error.problems))
    entries = document.value
    if only is not None:
        entries = {key: value for key, value in entries.items() if key in only}
    problems = [_report_pattern(key, document) for key in entries if is_pattern(key)]
    wrong = _check_structure(entries, document)
    configs = {}
    for key_node, node in document.root.value:
        key = key_node.value
        entry = entries.get(key)
        if key in wrong:
            problems += wrong[key]
            entry = _salvage(key, entry)
        if entry is None:
            continue
        config = build_config(key_node, node, entry, path)
        config_problems = [state_problem(finding, document) for finding in check_config(config)]
        problems += config_problems
        if not config_problems and key not in wrong and not is_pattern(key):
            configs[key] = config
    return MasterFile(
        path=path, configs=configs, problems=tuple(problems), entries=entries, document=document
    )


def find_repeated_keys(files: Iterable[MasterFile]) -> list[Problem]:
    """Return a problem for each key that is in more than one file."""
    # The YAML loader refuses a key that is repeated within one file.
    first: dict[str, str] = {}
    problems = []
    for file in files:
        for key, line in file.lines.items():
            here = f"{file.path}:{line}"
            if first.setdefault(key, here) != here:
                problems.append(
                    Problem(
                        rule="config-key-repeated",
                        message=f"{schema.dotted((key,))}: the key is also in {first[key]}. "
                        "A key names one configuration.",
                        path=file.path,
                        line=line,
                        hint="Rename one of them.",
                    )
                )
    return problems


def _report_pattern(key: str, document: yaml12.Document) -> Problem:
    mark, meaning = ("*", "any text") if "*" in key else ("?", "any character")
    return Problem(
        rule="config-key-star",
        message=f"{key}: a key contains {mark}, which matches {meaning} where a changelog names keys.",
        path=document.path,
        line=document.line(key),
        hint=f"Choose a key without {mark}.",
    )


def _check_structure(entries: Mapping[str, Any], document: yaml12.Document) -> dict[str, list[Problem]]:
    """Return the problems of the entries that do not fit the schema, by key."""
    if schema.fits(_SCHEMA, entries, document):
        return {}
    checked = {key: schema.check_value(_SCHEMA, {key: value}, document) for key, value in entries.items()}
    return {key: problems for key, problems in checked.items() if problems}


def _salvage(key: str, entry: Any) -> dict[str, Any] | None:
    """Replace each invalid row and scenario of an entry by None; return None if the entry is still invalid.

    The rules can then check the valid parts, so that the author sees all problems at once.
    """
    if not isinstance(entry, dict) or not isinstance(entry.get("scenarios"), dict):
        return None
    scenarios = {
        kind: [_salvage_scenario(item, _DEFINITIONS[kind]) for item in items]
        for kind, items in entry["scenarios"].items()
        if kind in _DEFINITIONS and isinstance(items, list)
    }
    valid_scenarios = {
        kind: [
            {**item, "search-space": [row for row in item["search-space"] if row is not None]}
            for item in items
            if item is not None
        ]
        for kind, items in scenarios.items()
    }
    salvaged = {key: {**entry, "scenarios": valid_scenarios}}
    if not any(valid_scenarios.values()) or not schema.is_valid(_SCHEMA, salvaged):
        return None
    return {**entry, "scenarios": scenarios}


def _salvage_scenario(item: Any, definition: str) -> dict[str, Any] | None:
    if not isinstance(item, dict) or not isinstance(item.get("search-space"), list):
        return None
    rows = [
        row if schema.is_valid(f"{_SCHEMA}#{definition}-row", row) else None for row in item["search-space"]
    ]
    valid_part = {**item, "search-space": [row for row in rows if row is not None]}
    return {**item, "search-space": rows} if schema.is_valid(f"{_SCHEMA}#{definition}", valid_part) else None

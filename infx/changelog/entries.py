"""Read an item of a changelog as an entry, and describe the problems of an invalid item."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infx.bench.entry import Entry
from infx.bench.scenario import ScenarioType
from infx.changelog.blocks import LINK_KEY, Block
from infx.errors import Problem, ProblemsError

FIRST_KEY = "config-keys"
ENTRY_START = b"- config-keys:"


def check_fields(block: Block) -> list[Problem]:
    """Check an entry against the schema, except for its link."""
    value = block.value
    if read_fields(value, line=1) is not None:
        return []
    from infx import schema

    # The link has rules of its own, which know the expected link.
    checked = {**value, LINK_KEY: ""} if isinstance(value, dict) else value
    problems = schema.check_value("changelog-entry", checked, block.source.document, (block.index,))
    return [_add_hint(problem, block.index) for problem in problems]


# Expected form → how to write it.
_HINTS = {
    "expected text.": 'Put it in quotes: "…".',
    "expected a list.": "Write one line `- …` for each.",
    "expected true or false.": "Write true, or leave the line out.",
}


def _add_hint(problem: Problem, index: int) -> Problem:
    """Return the problem with a hint, and with "entry" instead of the item's index."""
    # The index counts only the parsed part of the file; the line identifies the entry.
    message = problem.message.replace(f"[{index}]", "entry", 1)
    hint = next((hint for end, hint in _HINTS.items() if message.endswith(end)), None)
    return replace(problem, message=message, hint=problem.hint or hint)


def read_entry(block: Block) -> Entry:
    """Return a parsed item as an entry. Raises ProblemsError if it breaks the schema."""
    entry = read_fields(block.value, line=block.line())
    if entry is None:
        raise ProblemsError(check_fields(block))
    return entry


def read_fields(value: Any, *, line: int) -> Entry | None:
    """Return an entry from its parsed value; None exactly if the schema, apart from the link, refuses it."""
    # These checks repeat the schema, because importing a schema library takes longer than all other work here.
    if not isinstance(value, dict) or not value.keys() <= _READERS.keys():
        return None
    if not {FIRST_KEY, "description"} <= value.keys():
        return None
    fields: dict[str, Any] = {}
    for key, item in value.items():
        name, is_valid = _READERS[key]
        if not is_valid(item):
            return None
        fields[name] = tuple(item) if isinstance(item, list) else item
    link = fields.pop("pr_link", None)
    scenarios = tuple(ScenarioType(name) for name in fields.pop("scenario_types", ()))
    return Entry(
        line=line, pr_link=link if isinstance(link, str) else None, scenario_types=scenarios, **fields
    )


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) and item for item in value)


def _is_scenarios(value: Any) -> bool:
    return _is_texts(value) and set(value) <= set(ScenarioType)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_READERS = {
    "config-keys": ("config_keys", _is_texts),
    "description": ("description", _is_texts),
    "pr-link": ("pr_link", lambda _: True),
    "scenario-type": ("scenario_types", _is_scenarios),
    "evals-only": ("evals_only", _is_flag),
    "all-evals": ("all_evals", _is_flag),
    "no-evals": ("no_evals", _is_flag),
    "append-only": ("append_only", _is_flag),
    "eval-min-prefill-ep": ("eval_min_prefill_ep", _is_count),
}

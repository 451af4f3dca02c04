"""What a head's changelog has that its base has not: new entries, or corrected links.

A delta is readable if every past entry still stands, in order and to the letter, and what stands besides is a list
of entries; or if nothing but links changed. That is all the planner needs. Where new entries stand, and whether
links, blank lines and bytes are as they should be, is `validate`'s to judge, on the same entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from infx import schema, yaml12
from infx.errors import Problem, ProblemsError
from infx.matrix.config import ScenarioType

_LINK = b"  pr-link:"


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One appended entry; `line` is that of its first key in the head, from 1.

    config_keys: exact keys or patterns, as written. pr_link: None where the entry gives no text.
    scenario_types: empty means all.
    """

    line: int
    config_keys: tuple[str, ...]
    description: tuple[str, ...]
    pr_link: str | None
    scenario_types: tuple[ScenarioType, ...] = ()
    evals_only: bool = False
    all_evals: bool = False
    no_evals: bool = False
    append_only: bool = False
    eval_min_prefill_ep: int | None = None


@dataclass(frozen=True, kw_only=True)
class Correction:
    """A past entry's link line that the head wrote anew; both without their line break."""

    line: int
    before: bytes
    after: bytes


@dataclass(frozen=True, kw_only=True)
class Delta:
    """Entries or corrections, never both; neither where the two files say the same.

    is_append: the head starts with the base's bytes, a missing final newline completed.
    """

    entries: tuple[Entry, ...] = ()
    corrections: tuple[Correction, ...] = ()
    is_append: bool = True


def read_delta(base: bytes, head: bytes, path: str) -> Delta:
    """Compare two revisions of the changelog at `path`.

    Only what was appended is parsed, so that the cost does not grow with history. Raises ProblemsError where a past
    entry changed in any way but its link, or what was added is no list of entries.
    """
    complete = base if base.endswith(b"\n") or not base else base + b"\n"
    if head in (base, complete):
        return Delta()
    if head.startswith(complete):
        return Delta(entries=read_entries(head[len(complete) :], path, lines_before=complete.count(b"\n")))
    if corrections := _find_corrections(complete.split(b"\n"), head.split(b"\n")):
        return Delta(corrections=corrections, is_append=False)
    return Delta(entries=read_entries(_keep_additions(complete, head, path), path), is_append=False)


def read_entries(text: bytes, path: str, *, lines_before: int = 0) -> tuple[Entry, ...]:
    """The entries of a whole file, or of its end; `lines_before` lines of the file precede the text."""
    document = yaml12.load(b"\n" * lines_before + text, path)
    if document.value is None:
        return ()
    root = document.root
    if not isinstance(root, yaml.SequenceNode) or root.flow_style or root.start_mark.column:
        message = "The appended text is no list of entries. Every entry starts with `- config-keys:` in the first column."
        raise ProblemsError(
            [Problem(rule="changelog-list", message=message, path=path, line=document.line())]
        )
    problems: list[Problem] = []
    for index, value in enumerate(document.value):
        problems += _check_entry(value, document, index)
    if problems:
        raise ProblemsError(problems)
    return tuple(_build_entry(value, document.line(index)) for index, value in enumerate(document.value))


def _check_entry(value: Any, document: yaml12.Document, index: int) -> list[Problem]:
    """Shapes and contradictions. Links are judged by the validator, which knows which ones are meant."""
    judged = {**value, "pr-link": ""} if isinstance(value, dict) else value
    if problems := schema.check_value("changelog-entry", judged, document, (index,)):
        return problems
    widening = [name for name in ("evals-only", "all-evals", "eval-min-prefill-ep") if value.get(name)]
    problems = []
    for name in ("no-evals", "append-only"):
        if value.get(name):
            for other in widening:
                message = f"{name} and {other} contradict each other."
                problems.append(
                    Problem(
                        rule="entry-conflict",
                        message=message,
                        path=document.path,
                        line=document.line(index, other),
                        hint="Keep one of them.",
                    )
                )
    return problems


def _build_entry(value: dict[str, Any], line: int) -> Entry:
    link = value.get("pr-link")
    return Entry(
        line=line,
        config_keys=tuple(value["config-keys"]),
        description=tuple(value["description"]),
        pr_link=link if isinstance(link, str) else None,
        scenario_types=tuple(ScenarioType(name) for name in value.get("scenario-type", ())),
        evals_only=value.get("evals-only", False),
        all_evals=value.get("all-evals", False),
        no_evals=value.get("no-evals", False),
        append_only=value.get("append-only", False),
        eval_min_prefill_ep=value.get("eval-min-prefill-ep"),
    )


def _find_corrections(old: Sequence[bytes], new: Sequence[bytes]) -> tuple[Correction, ...]:
    """Every changed line, if all of them are link lines in their old places."""
    if len(old) != len(new):
        return ()
    changed = [index for index, (one, other) in enumerate(zip(old, new, strict=True)) if one != other]
    if not all(old[i].startswith(_LINK) and new[i].startswith(_LINK) for i in changed):
        return ()
    return tuple(Correction(line=index + 1, before=old[index], after=new[index]) for index in changed)


@dataclass(frozen=True)
class _Block:
    """The lines of one entry that are not blank, each with its index in the file."""

    lines: tuple[bytes, ...]
    indices: tuple[int, ...]


def _split_blocks(text: bytes) -> list[_Block]:
    """Entries as text; what stands above the first one is a block too."""
    blocks: list[list[tuple[bytes, int]]] = [[]]
    for index, line in enumerate(text.split(b"\n")):
        if line.startswith(b"- "):
            blocks.append([])
        if line.strip():
            blocks[-1].append((line, index))
    return [_Block(tuple(line for line, _ in block), tuple(i for _, i in block)) for block in blocks if block]


def _keep_additions(base: bytes, head: bytes, path: str) -> bytes:
    """The head with every line of a past entry emptied, so that what is left keeps its line numbers."""
    past, position = _split_blocks(base), 0
    added: list[_Block] = []
    since: list[_Block] = []  # additions after the last past entry that was found
    for block in _split_blocks(head):
        if position < len(past) and block.lines == past[position].lines:
            position, since = position + 1, []
        else:
            added.append(block)
            since.append(block)
    if position < len(past):
        raise ProblemsError([_past_changed(past[position], since, path)])
    kept = dict(pair for block in added for pair in zip(block.indices, block.lines, strict=True))
    return b"\n".join(kept.get(index, b"") for index in range(max(kept, default=0) + 1)) + b"\n"


def _past_changed(missing: _Block, candidates: Sequence[_Block], path: str) -> Problem:
    """Where a past entry is no longer as it was: at the first line that differs, if something stands in its place."""
    was, now = missing.lines, candidates[0].lines if candidates else ()
    same = next((i for i, (one, other) in enumerate(zip(was, now, strict=False)) if one != other), len(now))
    line = candidates[0].indices[min(same, len(now) - 1)] + 1 if candidates else None
    shown = _shown(was[min(same, len(was) - 1)])
    message = f"A past entry changed or is gone: line {missing.indices[0] + 1} of the base starts it, and {shown} is not here. Past entries do not change."
    hint = "Restore it and append a new entry instead."
    return Problem(rule="changelog-past", message=message, path=path, line=line, hint=hint)


def _shown(line: bytes) -> str:
    text = repr(line.decode(errors="replace"))
    return text if len(text) <= 80 else text[:77] + "..."

"""Rules about the fields of an entry, except for its link."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from infx.changelog.blocks import Block
from infx.changelog.subject import Subject
from infx.errors import Level
from infx.policy.stage import Stage
from infx.rules import Finding, Rule

_KEYS = "config-keys"
_NARROWING = ("no-evals", "append-only")
_WIDENING = ("evals-only", "all-evals", "eval-min-prefill-ep")


def find_contradictions(block: Block) -> Iterator[tuple[str, str]]:
    """Find pairs of fields that contradict each other: (a narrowing field, a widening field)."""
    for narrowing in _NARROWING:
        for widening in _WIDENING:
            if block.fields.get(narrowing) and block.fields.get(widening):
                yield narrowing, widening


def _contradictions(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        for narrowing, widening in find_contradictions(block):
            located = block.find(narrowing)
            message = f"{narrowing} and {widening} contradict each other."
            offset = located[0] if located else block.start
            yield Finding(at=offset, message=message, hint="Keep one of them.")


def _append_only(subject: Subject) -> Iterator[Finding[int | None]]:
    flags = [block.fields.get("append-only") is True for block in subject.blocks]
    if subject.context.stage is Stage.PR and any(flags) and not all(flags):
        block = subject.blocks[flags.index(False)]
        message = "Some new entries are append-only and this one is not; expected all or none."
        yield Finding(at=block.start, message=message, hint="Split them into two pull requests.")


def _aliases(subject: Subject) -> Iterator[Finding[int | None]]:
    seen: set[int] = set()
    for block in subject.blocks:
        if b"&" in block.data or b"*" in block.data:
            for node in _repeated(block.node, seen):
                message = "An alias repeats this value; expected no alias in an entry."
                offset = block.source.offset(node.start_mark)
                yield Finding(at=offset, message=message, hint="Replace the alias by the value.")


def _repeated(node: yaml.Node, seen: set[int]) -> Iterator[yaml.Node]:
    if id(node) in seen:
        yield node
        return
    seen.add(id(node))
    for child in node.value if isinstance(node, yaml.CollectionNode) else ():
        for part in child if isinstance(child, tuple) else (child,):
            yield from _repeated(part, seen)


def _unknown_keys(subject: Subject) -> Iterator[Finding[int | None]]:
    configs = subject.context.configs
    if configs is None:
        return
    for block in subject.blocks:
        patterns: Any = block.fields.get(_KEYS)
        items = block.items(_KEYS)
        if not isinstance(patterns, list) or len(items) != len(patterns):
            continue
        for pattern, item in zip(patterns, items, strict=True):
            if isinstance(pattern, str) and pattern:
                for problem in configs.find_unknown(pattern):
                    yield Finding(at=item.start, message=problem.message, hint=problem.hint)


def _unchecked_keys(subject: Subject) -> Iterator[Finding[int | None]]:
    if subject.blocks and subject.context.configs is None:
        message = "config-keys were not checked, because the configurations of this file are not known."
        hint = "To check them, compare revisions inside the repository."
        yield Finding(at=None, message=message, hint=hint)


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="fields-contradict",
        says="no-evals and append-only are not combined with evals-only, all-evals or eval-min-prefill-ep.",
        why="One field asks for less and the other for more of the same thing.",
        check=_contradictions,
    ),
    Rule(
        id="append-only-mixed",
        says="In a pull request, all new entries are append-only or none are.",
        why="A plan either adds to the published points or measures all points again.",
        check=_append_only,
    ),
    Rule(
        id="alias",
        says="An entry contains no alias.",
        why="An entry must mean the same wherever a merge puts it.",
        check=_aliases,
    ),
    Rule(
        id="config-key-unknown",
        says="Every key or pattern in config-keys matches a configuration of the head.",
        why="A misspelled key sweeps nothing. Past entries may name deleted configurations.",
        check=_unknown_keys,
    ),
    Rule(
        id="config-keys-unchecked",
        says="(warning) Keys were not checked, because the configurations of the file are not known.",
        why="Without a warning, an incomplete check looks complete.",
        check=_unchecked_keys,
        level=Level.WARNING,
    ),
)

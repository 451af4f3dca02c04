"""Rules about what an entry says, apart from its link."""

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
    """Pairs of fields that cannot both hold."""
    for one in _NARROWING:
        for other in _WIDENING:
            if block.fields.get(one) and block.fields.get(other):
                yield one, other


def _contradictions(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        for one, other in find_contradictions(block):
            found = block.find(one)
            message = f"{one} and {other} contradict each other."
            yield Finding(at=found[0] if found else block.start, message=message, hint="Keep one of them.")


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
                message = "This value is used again through an alias; every entry spells out what it says."
                offset = block.source.offset(node.start_mark)
                yield Finding(at=offset, message=message, hint="Write the value out where the alias stands.")


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
        message = "There are no configurations beside this file, so config-keys were not looked up."
        yield Finding(
            at=None, message=message, hint="Run it in the repository, with revisions, to look them up."
        )


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="fields-contradict",
        says="no-evals and append-only do not stand with evals-only, all-evals or eval-min-prefill-ep.",
        why="One asks for less and the other for more of the same thing.",
        check=_contradictions,
    ),
    Rule(
        id="append-only-mixed",
        says="In one pull request all new entries are append-only, or none is.",
        why="A plan is either what was added to published points, or everything anew.",
        check=_append_only,
    ),
    Rule(
        id="alias",
        says="There is no alias.",
        why="An entry must say the same thing wherever a merge puts it.",
        check=_aliases,
    ),
    Rule(
        id="config-key-unknown",
        says="Every key or pattern in config-keys names a configuration of the head.",
        why="A misspelt key sweeps nothing. Past entries may name configurations that are gone.",
        check=_unknown_keys,
    ),
    Rule(
        id="config-keys-unchecked",
        says="(warning) Keys were not looked up, because there are no configurations beside the file.",
        why="A silent half of a check looks like a whole one.",
        check=_unchecked_keys,
        level=Level.WARNING,
    ),
)

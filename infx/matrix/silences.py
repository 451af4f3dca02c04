"""Silenced rules: a configuration may name rules whose problems it does not report, each with the reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from infx.bench.config import Config
from infx.errors import Level, suggest
from infx.matrix.launch_hits import ClusterHit, ConfigHit
from infx.records import record
from infx.rules import Finding, Path

FIELD = "silenced"
# Rules that judge whether a row makes sense, not whether it can be planned.
SILENCEABLE = frozenset(
    (
        "acceptance-length",
        "image-moves",
        "launch-image",
        "launch-model",
        "launch-port",
        "launch-recipe",
        "launch-router",
        "launch-script",
        "launch-setting",
        "launch-time",
        "points-overlap",
        "points-repeated",
        "rows-identical",
    )
)
_Hit = TypeVar("_Hit", ConfigHit, ClusterHit)


@record
class Silenced:
    """A rule that a configuration silences, and that found something in it."""

    key: str
    rule: str


def drop_silenced(hits: Iterable[_Hit], used: set[Silenced]) -> Iterator[_Hit]:
    """Yield the faults that no configuration silences; add to `used` what is silenced."""
    for hit in hits:
        if not is_silenced(hit.config, hit.rule, used):
            yield hit


def is_silenced(config: Config, rule: str, used: set[Silenced]) -> bool:
    """Return whether a configuration silences a rule that found something in it; add it to `used`."""
    if rule not in config.silenced or rule not in SILENCEABLE:
        return False
    used.add(Silenced(key=config.key, rule=rule))
    return True


def check_silences(
    configs: Iterable[Config], used: Collection[Silenced], checked: Collection[str]
) -> Iterator[tuple[Config, Finding[Path]]]:
    """Yield silenced rules that do not exist, and those that find nothing.

    checked: the rules whose files were there.
    """
    for config in configs:
        for rule in config.silenced:
            at = (config.key, FIELD, rule)
            if rule not in SILENCEABLE:
                hint = suggest(rule, SILENCEABLE) or "docs/configs.md lists the rules that can be silenced."
                message = f'"{rule}" is not a rule that can be silenced'
                yield config, Finding(rule="silence-unknown", at=at, message=message, hint=hint)
            elif rule in checked and Silenced(key=config.key, rule=rule) not in used:
                yield (
                    config,
                    Finding(
                        rule="silence-unused",
                        at=at,
                        message=f"the rule {rule} finds nothing here",
                        hint="Remove the line.",
                        level=Level.WARNING,
                    ),
                )

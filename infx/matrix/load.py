"""All of a repository's configurations as one mapping, or everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infx.errors import Problem, ProblemsError
from infx.matrix.config import Config, Runners
from infx.matrix.parse import parse_master
from infx.matrix.runners import parse_runners


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """What rows are made of.

    configs: by key, file after file, in the files' order. raw: all keys of the files, wanted or not, with what YAML
    says of them.
    """

    configs: Mapping[str, Config]
    raw: Mapping[str, Any]
    runners: Runners


def load_inputs(
    masters: Iterable[tuple[str, bytes]],
    runners: tuple[str, bytes],
    *,
    only: Container[str] | None = None,
) -> Inputs:
    """From (path, bytes) of every file. only: the keys that are wanted; others are not checked. Raises ProblemsError."""
    inventory, problems = parse_runners(runners[1], runners[0])
    configs: dict[str, Config] = {}
    raw: dict[str, Any] = {}
    for path, data in masters:
        file = parse_master(data, path, only=only)
        problems += file.problems
        problems += [
            _repeated(config, configs[key]) for key, config in file.configs.items() if key in configs
        ]
        configs |= file.configs
        raw |= file.document.value if file.document else {}
    if problems:
        raise ProblemsError(problems)
    return Inputs(configs=configs, raw=raw, runners=inventory)


def _repeated(config: Config, first: Config) -> Problem:
    return Problem(
        rule="config-key-repeated",
        message=f'The key "{config.key}" stands in {first.path}:{first.line} too. A key names one configuration.',
        path=config.path,
        line=config.line,
        hint="Rename one of them.",
    )

"""All of a repository's configurations as one mapping, or everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from infx.errors import ProblemsError
from infx.matrix.config import Config, Runners
from infx.matrix.parse import find_repeated_keys, parse_master
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
    files = [parse_master(data, path, only=only) for path, data in masters]
    for file in files:
        problems += file.problems
    problems += find_repeated_keys(files)
    if problems:
        raise ProblemsError(problems)
    configs = {key: config for file in files for key, config in file.configs.items()}
    raw = {key: value for file in files if file.document for key, value in file.document.value.items()}
    return Inputs(configs=configs, raw=raw, runners=inventory)

"""All of a repository's configurations as one mapping, or everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from infx.bench.config import Config, Runners
from infx.errors import Level, Problem, ProblemsError, has_errors
from infx.matrix.inventory import check_inventory, find_unserved_rows
from infx.matrix.parse import find_repeated_keys, parse_master
from infx.matrix.rules import state_problem
from infx.matrix.runners import parse_runners
from infx.yaml12 import Document


@dataclass(frozen=True, kw_only=True)
class PlanInputs:
    """What rows are made of.

    configs: those that are wanted, by key, file after file, in the files' order. raw: what YAML says of every key of
    the files, wanted or not. warnings: about the inventory.
    """

    configs: Mapping[str, Config]
    raw: Mapping[str, Any]
    runners: Runners
    documents: Mapping[str, Document]
    warnings: tuple[Problem, ...] = ()


def load_inputs(
    masters: Iterable[tuple[str, bytes]],
    runners: tuple[str, bytes],
    *,
    only: Container[str] | None = None,
) -> PlanInputs:
    """From (path, bytes) of every file. only: the keys that are wanted; others are not checked. Raises ProblemsError."""
    inventory, problems = parse_runners(runners[1], runners[0])
    files = [parse_master(data, path, only=only) for path, data in masters]
    for file in files:
        problems += file.problems
    problems += find_repeated_keys(files)
    if has_errors(problems):
        raise ProblemsError(problems)
    documents = {file.path: file.document for file in files if file.document}
    return PlanInputs(
        configs={key: config for file in files for key, config in file.configs.items()},
        raw={key: value for document in documents.values() for key, value in document.value.items()},
        runners=inventory,
        documents=documents,
        warnings=tuple(problems),
    )


def find_unserved(inputs: PlanInputs, configs: Iterable[Config]) -> list[Problem]:
    """A warning for each configuration whose jobs no runner would take, and for each row that no node holds."""
    found = [(config, one) for config in configs for one in find_unserved_rows(config, inputs.runners)]
    problems = [state_problem(one, inputs.documents[config.path]) for config, one in found]
    return [replace(problem, level=Level.WARNING) for problem in problems]


def check_runners(inputs: PlanInputs) -> list[Problem]:
    """Everything that the wanted configurations demand of the inventory in vain."""
    return [
        state_problem(found, inputs.documents[config.path])
        for config in inputs.configs.values()
        for found in check_inventory(config, inputs.runners)
    ]

"""Load the configurations of a repository into one mapping, or report all their problems."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from infx.bench.config import Config, Runners
from infx.errors import Level, Problem, ProblemsError, has_errors
from infx.matrix.inventory import check_inventory, find_unserved_rows
from infx.matrix.parse import find_repeated_keys, parse_master
from infx.matrix.rules import state_problem
from infx.matrix.runners import parse_runners
from infx.records import record, replace
from infx.yaml12 import Document


@record
class PlanInputs:
    """The configurations and the runner inventory that rows are expanded from."""

    configs: Mapping[str, Config]  # the wanted ones by key, file after file, in the files' order
    raw: Mapping[
        str, Any
    ]  # the YAML value of every key; of an unwanted key it may be None, see `load_inputs`
    runners: Runners
    documents: Mapping[str, Document]  # by path
    warnings: tuple[Problem, ...] = ()  # about the inventory


def load_inputs(
    masters: Iterable[tuple[str, bytes]],
    runners: tuple[str, bytes],
    *,
    only: Container[str] | None = None,
    whole: bool = True,
) -> PlanInputs:
    """Parse the (path, bytes) of every file. Raises ProblemsError if a file has errors.

    only: the wanted keys; other configurations are not checked.
    whole: whether the YAML values of other keys are needed too.
    """
    inventory, problems = parse_runners(runners[1], runners[0])
    files = [parse_master(data, path, only=only, whole=whole) for path, data in masters]
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
    """Return a warning for each configuration without a runner, and for each row too large for its nodes."""
    problems = [
        state_problem(finding, inputs.documents[config.path])
        for config in configs
        for finding in find_unserved_rows(config, inputs.runners)
    ]
    return [replace(problem, level=Level.WARNING) for problem in problems]


def check_runners(inputs: PlanInputs) -> list[Problem]:
    """Return the problems of the wanted configurations with the inventory."""
    return [
        state_problem(finding, inputs.documents[config.path])
        for config in inputs.configs.values()
        for finding in check_inventory(config, inputs.runners)
    ]

"""Parse a runner inventory.

Two shapes are in use: labels with `hardware` by label, and labels with `clusters` by id, where a record
describes the label `cluster:<id>`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infx import schema, yaml12
from infx.bench.config import Hardware, Runners
from infx.errors import Problem, ProblemsError
from infx.matrix.rules import state_problem
from infx.matrix.runner_rules import check_inventory_file


def parse_runners(data: bytes, path: str) -> tuple[Runners, list[Problem]]:
    """Parse an inventory. Raises nothing.

    The result has no labels if the file does not fit the schema, and all labels if the file only breaks a
    rule.
    """
    try:
        document = yaml12.load_mapping(data, path)
    except ProblemsError as error:
        return Runners(labels={}, hardware={}, path=path), error.problems
    if problems := schema.check("runners", document):
        return Runners(labels={}, hardware={}, path=path), problems
    problems = [state_problem(finding, document) for finding in check_inventory_file(document.value)]
    return _build_runners(document.value, path), problems


def _build_runners(value: Mapping[str, Any], path: str) -> Runners:
    records = dict(value.get("hardware", {}))
    records |= {f"cluster:{key}": record for key, record in value.get("clusters", {}).items()}
    return Runners(
        labels={label: tuple(names) for label, names in value["labels"].items()},
        hardware={
            label: Hardware(
                gpus_per_node=record["gpus-per-node"], dram_mib=record.get("available-cpu-dram-mib")
            )
            for label, record in records.items()
        },
        path=path,
    )

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
from infx.records import record


@record
class Inventory:
    """A parsed inventory.

    Attributes:
        document: None if the file does not fit the schema.
    """

    runners: Runners
    problems: tuple[Problem, ...]
    document: yaml12.Document | None = None


def parse_runners(data: bytes, path: str) -> tuple[Runners, list[Problem]]:
    """Parse an inventory, without its document; see `parse_inventory`."""
    inventory = parse_inventory(data, path)
    return inventory.runners, list(inventory.problems)


def parse_inventory(data: bytes, path: str) -> Inventory:
    """Parse an inventory. Raises nothing.

    The result has no labels if the file does not fit the schema, and all labels if the file only breaks a
    rule.
    """
    nothing = Runners(labels={}, hardware={}, path=path)
    try:
        document = yaml12.load_mapping(data, path)
    except ProblemsError as error:
        return Inventory(runners=nothing, problems=tuple(error.problems))
    if problems := schema.check("runners", document):
        return Inventory(runners=nothing, problems=tuple(problems))
    problems = [state_problem(finding, document) for finding in check_inventory_file(document.value)]
    runners = _build_runners(document.value, path)
    return Inventory(runners=runners, problems=tuple(problems), document=document)


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

"""What the parts of a runner inventory demand of each other.

Each rule is a function from the plain values of the file, which the schema has approved, to what it finds there.
The rules about clusters hold only where the file has `clusters`: with `hardware` by label a runner may belong to no
cluster, and a label may have no record.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from infx.errors import suggest
from infx.matrix.row_rules import RowFinding

Values: TypeAlias = Mapping[str, Any]

CLUSTER = "cluster:"
PARTITION = "partition:"
WARNED = frozenset({"hardware-label"})  # what hurts nobody; all other rules are errors


def check_inventory_file(value: Values) -> Iterator[tuple[str, RowFinding]]:
    """(id of the rule, what it found) for everything that is wrong with an inventory."""
    for rule, find in FILE_RULES:
        for finding in find(value):
            yield rule, finding
    for cluster, record in value.get("clusters", {}).items():
        for rule, find_in_cluster in CLUSTER_RULES:
            for finding in find_in_cluster(cluster, record, value):
                yield rule, finding


def _find_both_shapes(value: Values) -> Iterator[RowFinding]:
    if "hardware" in value and "clusters" in value:
        yield RowFinding(
            at=("hardware",),
            message="hardware and clusters both describe nodes; expected one of them",
            hint="Move what hardware says to the records of clusters.",
        )


def _find_unused_hardware(value: Values) -> Iterator[RowFinding]:
    for label in value.get("hardware", {}):
        if label not in value["labels"]:
            yield RowFinding(
                at=("hardware", label),
                message=f'"{label}" is not among the labels, so no job can use this record',
                hint=suggest(label, value["labels"]) or "Add the label or remove the record.",
            )


def _find_label_without_record(value: Values) -> Iterator[RowFinding]:
    if "clusters" not in value:
        return
    for label in value["labels"]:
        name = label.removeprefix(CLUSTER)
        if name != label and name not in value["clusters"]:
            yield RowFinding(
                at=("labels", label),
                message=f'there is no record of the cluster "{name}"; expected one under clusters',
                hint=suggest(name, value["clusters"]) or "Add the record or remove the label.",
            )


def _find_record_without_label(value: Values) -> Iterator[RowFinding]:
    for name in value.get("clusters", {}):
        if f"{CLUSTER}{name}" not in value["labels"]:
            yield RowFinding(
                at=("clusters", name),
                message=f'no label "{CLUSTER}{name}" lists the runners of this cluster',
                hint=f"Add {CLUSTER}{name} to labels.",
            )


def _find_stray_runners(value: Values) -> Iterator[RowFinding]:
    """A runner's hardware is that of its cluster: it has exactly one."""
    if "clusters" not in value:
        return
    clusters = _labels_of_runners(value, CLUSTER)
    said: set[str] = set()
    for label, names in value["labels"].items():
        for index, name in enumerate(names):
            own = clusters[name]
            if name in said or len(own) == 1:
                continue
            if not own:
                said.add(name)
                yield RowFinding(
                    at=("labels", label, index),
                    message=f'the runner "{name}" is in no {CLUSTER} label; expected exactly one',
                )
            elif label in own[1:]:
                said.add(name)
                yield RowFinding(
                    at=("labels", label, index),
                    message=f'the runner "{name}" is in {" and ".join(own)}; expected exactly one cluster',
                )


def _labels_of_runners(value: Values, prefix: str) -> dict[str, list[str]]:
    """The labels of each runner that start with the prefix, in the file's order."""
    found: dict[str, list[str]] = defaultdict(list)
    for label, names in value["labels"].items():
        if label.startswith(prefix):
            for name in dict.fromkeys(names):
                found[name].append(label)
    return found


def _find_missing_scheduler(cluster: str, record: Values, _: Values) -> Iterator[RowFinding]:
    if record["scheduler"] not in record:
        yield RowFinding(
            at=("clusters", cluster, "scheduler"),
            message=f"the settings of {record['scheduler']} are missing; expected them beside it, under that name",
        )


def _find_unknown_volumes(cluster: str, record: Values, _: Values) -> Iterator[RowFinding]:
    volumes = record.get("slurm", {}).get("volumes", {})
    models = record.get("models", {})
    for name, entry in models.get("entries", {}).items():
        if entry["root"] not in volumes:
            yield RowFinding(
                at=("clusters", cluster, "models", "entries", name, "root"),
                message=f'"{entry["root"]}" is no volume of this cluster',
                hint=suggest(entry["root"], volumes) or "Add it to slurm.volumes.",
            )
    root = models.get("download-root")
    if root is None:
        return
    at = ("clusters", cluster, "models", "download-root")
    if root not in volumes:
        hint = suggest(root, volumes) or "Add it to slurm.volumes."
        yield RowFinding(at=at, message=f'"{root}" is no volume of this cluster', hint=hint)
    elif volumes[root]["visibility"] != "shared":
        yield RowFinding(
            at=at,
            message=f'"{root}" is {volumes[root]["visibility"]}; weights are downloaded to a shared volume',
        )


def _find_wrong_partitions(cluster: str, record: Values, value: Values) -> Iterator[RowFinding]:
    slurm = record.get("slurm", {})
    allowed = slurm.get("partitions")
    if allowed is None:
        return
    default = slurm.get("partition")
    if default is not None and default not in allowed:
        yield RowFinding(
            at=("clusters", cluster, "slurm", "partition"),
            message=f'"{default}" is not among the partitions {", ".join(allowed)}',
        )
    label = f"{CLUSTER}{cluster}"
    own = _labels_of_runners(value, PARTITION)
    for index, runner in enumerate(value["labels"].get(label, ())):
        names = [name.removeprefix(PARTITION) for name in own[runner]]
        if len(names) != 1 or names[0] not in allowed:
            found = " and ".join(f"{PARTITION}{name}" for name in names) or f"no {PARTITION} label"
            yield RowFinding(
                at=("labels", label, index),
                message=f'the runner "{runner}" has {found}; expected exactly one, of '
                + ", ".join(f"{PARTITION}{name}" for name in allowed),
            )


def _find_wrong_gres(cluster: str, record: Values, _: Values) -> Iterator[RowFinding]:
    gres = record.get("slurm", {}).get("gres")
    if gres is not None and (re.findall(r"\{[^{}]*\}", gres) != ["{gpus}"] or gres.count("{") != 1):
        yield RowFinding(
            at=("clusters", cluster, "slurm", "gres"),
            message=f'found "{gres}"; expected a template with {{gpus}} exactly once, such as gpu:{{gpus}}',
        )


def _find_both_cpu_counts(cluster: str, record: Values, _: Values) -> Iterator[RowFinding]:
    slurm = record.get("slurm", {})
    if "cpus-per-task" in slurm and "cpus-per-gpu" in slurm:
        yield RowFinding(
            at=("clusters", cluster, "slurm", "cpus-per-gpu"),
            message="cpus-per-task and cpus-per-gpu exclude each other; expected one of them",
        )


def _find_local_import(cluster: str, record: Values, _: Values) -> Iterator[RowFinding]:
    squash = record.get("slurm", {}).get("squash", {})
    if squash.get("import") == "submit-host" and squash.get("visibility") == "node-local":
        yield RowFinding(
            at=("clusters", cluster, "slurm", "squash", "import"),
            message="what the submit host imports to node-local storage no node can see; expected shared "
            "storage or another import",
        )


FILE_RULES: tuple[tuple[str, Callable[[Values], Iterator[RowFinding]]], ...] = (
    ("runners-shape", _find_both_shapes),
    ("hardware-label", _find_unused_hardware),
    ("cluster-record", _find_label_without_record),
    ("cluster-label", _find_record_without_label),
    ("cluster-membership", _find_stray_runners),
)

CLUSTER_RULES: tuple[tuple[str, Callable[[str, Values, Values], Iterator[RowFinding]]], ...] = (
    ("cluster-scheduler", _find_missing_scheduler),
    ("cluster-volume", _find_unknown_volumes),
    ("cluster-partition", _find_wrong_partitions),
    ("cluster-gres", _find_wrong_gres),
    ("cluster-cpus", _find_both_cpu_counts),
    ("cluster-import", _find_local_import),
)

"""Rules between the parts of a runner inventory.

Each rule is a function from the plain values of the file, which fit the schema, to its findings. The rules
about clusters apply only to a file with `clusters`: with `hardware` by label, a runner may belong to no
cluster, and a label may have no record.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from infx.errors import Level, suggest
from infx.rules import Finding, Path, Rule, find_all

Values: TypeAlias = Mapping[str, Any]

CLUSTER = "cluster:"
PARTITION = "partition:"


def check_inventory_file(value: Values) -> Iterator[Finding[Path]]:
    """Yield all findings about an inventory."""
    yield from find_all(FILE_RULES, value)
    for cluster, record in value.get("clusters", {}).items():
        yield from find_all(CLUSTER_RULES, cluster, record, value)


def _find_both_shapes(value: Values) -> Iterator[Finding[Path]]:
    if "hardware" in value and "clusters" in value:
        yield Finding(
            at=("hardware",),
            message="hardware and clusters both describe nodes; expected one of them",
            hint="Move what hardware says to the records of clusters.",
        )


def _find_unused_hardware(value: Values) -> Iterator[Finding[Path]]:
    for label in value.get("hardware", {}):
        if label not in value["labels"]:
            yield Finding(
                at=("hardware", label),
                message=f'"{label}" is not among the labels, so no job can use this record',
                hint=suggest(label, value["labels"]) or "Add the label or remove the record.",
            )


def _find_label_without_record(value: Values) -> Iterator[Finding[Path]]:
    if "clusters" not in value:
        return
    for label in value["labels"]:
        name = label.removeprefix(CLUSTER)
        if name != label and name not in value["clusters"]:
            yield Finding(
                at=("labels", label),
                message=f'there is no record of the cluster "{name}"; expected one under clusters',
                hint=suggest(name, value["clusters"]) or "Add the record or remove the label.",
            )


def _find_record_without_label(value: Values) -> Iterator[Finding[Path]]:
    for name in value.get("clusters", {}):
        if f"{CLUSTER}{name}" not in value["labels"]:
            yield Finding(
                at=("clusters", name),
                message=f'no label "{CLUSTER}{name}" lists the runners of this cluster',
                hint=f"Add {CLUSTER}{name} to labels.",
            )


def _find_stray_runners(value: Values) -> Iterator[Finding[Path]]:
    """Find runners that do not belong to exactly one cluster, which describes their hardware."""
    if "clusters" not in value:
        return
    clusters = _group_labels(value, CLUSTER)
    reported: set[str] = set()
    for label, names in value["labels"].items():
        for index, name in enumerate(names):
            own = clusters[name]
            if name in reported or len(own) == 1:
                continue
            if not own:
                reported.add(name)
                yield Finding(
                    at=("labels", label, index),
                    message=f'the runner "{name}" is not in any {CLUSTER} label; expected exactly one',
                )
            elif label in own[1:]:
                reported.add(name)
                yield Finding(
                    at=("labels", label, index),
                    message=f'the runner "{name}" is in {" and ".join(own)}; expected exactly one cluster',
                )


def _group_labels(value: Values, prefix: str) -> dict[str, list[str]]:
    """Return the labels of each runner that start with the prefix, in the file's order."""
    labels_by_runner: dict[str, list[str]] = defaultdict(list)
    for label, names in value["labels"].items():
        if label.startswith(prefix):
            for name in dict.fromkeys(names):
                labels_by_runner[name].append(label)
    return labels_by_runner


def _find_missing_scheduler(cluster: str, record: Values, _: Values) -> Iterator[Finding[Path]]:
    if record["scheduler"] not in record:
        yield Finding(
            at=("clusters", cluster, "scheduler"),
            message=f"the settings of {record['scheduler']} are missing; expected them next to scheduler, under that name",
        )


def _find_unknown_volumes(cluster: str, record: Values, _: Values) -> Iterator[Finding[Path]]:
    volumes = record.get("slurm", {}).get("volumes", {})
    models = record.get("models", {})
    for name, entry in models.get("entries", {}).items():
        if entry["root"] not in volumes:
            yield Finding(
                at=("clusters", cluster, "models", "entries", name, "root"),
                message=f'"{entry["root"]}" is not a volume of this cluster',
                hint=suggest(entry["root"], volumes) or "Add it to slurm.volumes.",
            )
    root = models.get("download-root")
    if root is None:
        return
    at = ("clusters", cluster, "models", "download-root")
    if root not in volumes:
        hint = suggest(root, volumes) or "Add it to slurm.volumes."
        yield Finding(at=at, message=f'"{root}" is not a volume of this cluster', hint=hint)
    elif volumes[root]["visibility"] != "shared":
        yield Finding(
            at=at,
            message=f'"{root}" is {volumes[root]["visibility"]}; weights are downloaded to a shared volume',
        )


def _find_wrong_partitions(cluster: str, record: Values, value: Values) -> Iterator[Finding[Path]]:
    slurm = record.get("slurm", {})
    allowed = slurm.get("partitions")
    if allowed is None:
        return
    default = slurm.get("partition")
    if default is not None and default not in allowed:
        yield Finding(
            at=("clusters", cluster, "slurm", "partition"),
            message=f'"{default}" is not among the partitions {", ".join(allowed)}',
        )
    label = f"{CLUSTER}{cluster}"
    own = _group_labels(value, PARTITION)
    for index, runner in enumerate(value["labels"].get(label, ())):
        names = [name.removeprefix(PARTITION) for name in own[runner]]
        if len(names) != 1 or names[0] not in allowed:
            carried = " and ".join(f"{PARTITION}{name}" for name in names) or f"no {PARTITION} label"
            yield Finding(
                at=("labels", label, index),
                message=f'the runner "{runner}" has {carried}; expected exactly one, of '
                + ", ".join(f"{PARTITION}{name}" for name in allowed),
            )


def _find_wrong_gres(cluster: str, record: Values, _: Values) -> Iterator[Finding[Path]]:
    gres = record.get("slurm", {}).get("gres")
    if gres is not None and (re.findall(r"\{[^{}]*\}", gres) != ["{gpus}"] or gres.count("{") != 1):
        yield Finding(
            at=("clusters", cluster, "slurm", "gres"),
            message=f'found "{gres}"; expected a template with {{gpus}} exactly once, such as gpu:{{gpus}}',
        )


def _find_both_cpu_counts(cluster: str, record: Values, _: Values) -> Iterator[Finding[Path]]:
    slurm = record.get("slurm", {})
    if "cpus-per-task" in slurm and "cpus-per-gpu" in slurm:
        yield Finding(
            at=("clusters", cluster, "slurm", "cpus-per-gpu"),
            message="cpus-per-task and cpus-per-gpu exclude each other; expected one of them",
        )


def _find_local_import(cluster: str, record: Values, _: Values) -> Iterator[Finding[Path]]:
    squash = record.get("slurm", {}).get("squash", {})
    if squash.get("import") == "submit-host" and squash.get("visibility") == "node-local":
        yield Finding(
            at=("clusters", cluster, "slurm", "squash", "import"),
            message="nodes cannot see what the submit host imports to node-local storage; expected shared "
            "storage or another import",
        )


FILE_RULES: tuple[Rule[[Values], Path], ...] = (
    Rule(id="runners-shape", check=_find_both_shapes),
    Rule(id="hardware-label", check=_find_unused_hardware, level=Level.WARNING),  # the record has no effect
    Rule(id="cluster-record", check=_find_label_without_record),
    Rule(id="cluster-label", check=_find_record_without_label),
    Rule(id="cluster-membership", check=_find_stray_runners),
)

CLUSTER_RULES: tuple[Rule[[str, Values, Values], Path], ...] = (
    Rule(id="cluster-scheduler", check=_find_missing_scheduler),
    Rule(id="cluster-volume", check=_find_unknown_volumes),
    Rule(id="cluster-partition", check=_find_wrong_partitions),
    Rule(id="cluster-gres", check=_find_wrong_gres),
    Rule(id="cluster-cpus", check=_find_both_cpu_counts),
    Rule(id="cluster-import", check=_find_local_import),
)

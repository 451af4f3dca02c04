"""Check additional settings, which become environment of the launcher, against the cluster."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infx.bench.config import Config, Runners
from infx.bench.topology import find_hardware
from infx.launch.clusters import Clusters
from infx.matrix.landing import find_meant_clusters, list_places
from infx.matrix.launch_hits import ConfigHit
from infx.matrix.row_rules import iterate_settings
from infx.rules import Path

# Variables that decide where and how Slurm runs a job.
_SLURM = re.compile(r"(?:SLURM|SALLOC|SBATCH|SRUN)_[A-Z0-9_]+")
_PARTITION = "SLURM_PARTITION"
_GPUS = "GPUS_PER_NODE"


def find_overruling_settings(
    config: Config, runners: Runners | None, clusters: Clusters | None
) -> Iterator[ConfigHit]:
    """Yield settings that overrule what the cluster says, each once at its first row."""
    rows: dict[str, dict[Path, int]] = {}
    first: dict[str, Path] = {}
    for place in list_places(config):
        for at, name, value in iterate_settings(place.row):
            if (overruled := _find_overruled(config, name, value, runners, clusters)) is not None:
                message = f"{name}={value} overrules {overruled}"
                first.setdefault(message, (*place.at, *at))
                rows.setdefault(message, {})[place.at] = place.jobs
    for message, at in first.items():
        yield ConfigHit(
            rule="launch-setting",
            config=config,
            at=at,
            message=message,
            hint="Remove it, and set it for the cluster; or use a label whose runners have this value.",
            jobs=sum(rows[message].values()),
        )


def _find_overruled(
    config: Config, name: str, value: str, runners: Runners | None, clusters: Clusters | None
) -> str | None:
    """Return what a setting overrules; None for a setting that overrules nothing."""
    if name == _GPUS:
        hardware = find_hardware(config.runner, runners) if runners else None
        if hardware is None or str(hardware.gpus_per_node) == value:
            return None
        return f"the {hardware.gpus_per_node} GPUs of the inventory"
    if _SLURM.fullmatch(name) is None:
        return None
    if name == _PARTITION and runners is not None and clusters is not None:
        names = find_meant_clusters(config.runner, runners, clusters)
        partitions = {clusters.plain[cluster].partition for cluster in names}
        if partitions == {value}:
            return None
        if named := sorted(filter(None, partitions)):
            return f"the cluster's partition {' and '.join(named)}"
    return f"what the cluster of {config.runner} says"

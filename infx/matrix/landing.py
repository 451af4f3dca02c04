"""Find the clusters on which the rows of configurations may land.

A runner takes a row by its label, and belongs to one cluster; so a row may land on several clusters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from infx.bench.config import AgenticScenario, Config, FixedScenario, Runners, ScenarioType, SearchRow
from infx.launch.cluster import Cluster, build_cluster
from infx.launch.clusters import SUFFIX, Clusters
from infx.launch.merging import Fields, apply_changes, is_met
from infx.matrix.concurrency import expand_all
from infx.matrix.launches import find_clusters
from infx.matrix.row_rules import Scenario
from infx.matrix.rules import iterate_scenarios, row_path
from infx.records import record
from infx.rules import Path


@record
class SearchPlace:
    """An item of a search space."""

    at: Path  # from the top of the file
    scenario: Scenario
    row: SearchRow
    jobs: int  # rows of a full sweep

    @property
    def gpus(self) -> int:
        """Return the GPUs of a single-node row."""
        return self.row.engine.gpus if self.row.engine is not None else 0


@record
class Landing:
    """A configuration on a cluster that its rows may land on; the cluster is as these rows see it."""

    config: Config
    cluster: Cluster
    places: tuple[SearchPlace, ...]

    @property
    def jobs(self) -> int:
        return sum(place.jobs for place in self.places)


def list_places(config: Config) -> list[SearchPlace]:
    """Return all items of a configuration's search spaces."""
    return [
        SearchPlace(at=row_path(at, row), scenario=scenario, row=row, jobs=count_jobs(config, scenario, row))
        for at, scenario in iterate_scenarios(config)
        for row in scenario.search_space
    ]


def count_jobs(config: Config, scenario: Scenario, row: SearchRow) -> int:
    """Return the number of rows of a full sweep that an item of a search space makes."""
    # A fixed multi-node row measures its whole list of concurrencies in one job.
    if config.multinode and isinstance(scenario, FixedScenario):
        return 1
    return len(expand_all(row.concurrency))


def find_meant_clusters(label: str, runners: Runners, clusters: Clusters) -> tuple[str, ...]:
    """Return the clusters of a label's runners; for a label without runners, the cluster that its name means.

    So a mistake is reported before the label gets its runners.
    """
    if label in runners.labels:
        return find_clusters(label, runners, clusters)
    name = label.removeprefix("cluster:")
    return tuple(candidate for candidate in (name, name + SUFFIX) if candidate in clusters.fields)[:1]


def find_landings(configs: Iterable[Config], runners: Runners, clusters: Clusters) -> Iterator[Landing]:
    """Yield every configuration with every cluster that its rows may land on.

    Rows that see a cluster differently are apart.
    """
    resolver = _Resolver(clusters)
    for config in configs:
        places = list_places(config)
        for name in find_meant_clusters(config.runner, runners, clusters):
            groups: dict[int, tuple[Cluster, list[SearchPlace]]] = {}
            for place in places:
                cluster = resolver.resolve(name, config, place)
                groups.setdefault(id(cluster), (cluster, []))[1].append(place)
            for cluster, group in groups.values():
                yield Landing(config=config, cluster=cluster, places=tuple(group))


class _Resolver:
    """The clusters as rows see them; rows that meet the same conditions share one value."""

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters
        self._resolved: dict[tuple[str, tuple[int, ...]], Cluster] = {}

    def resolve(self, name: str, config: Config, place: SearchPlace) -> Cluster:
        fields = self._clusters.fields[name]
        changes = fields.get("when", ())
        row = _describe(config, place) if changes else {}
        met = tuple(index for index, change in enumerate(changes) if is_met(change, row))
        if (name, met) not in self._resolved:
            self._resolved[name, met] = _build(name, fields, row)
        return self._resolved[name, met]


def _build(name: str, fields: Fields, row: Fields) -> Cluster:
    return build_cluster(name, apply_changes(fields, row))


def _describe(config: Config, place: SearchPlace) -> Mapping[str, Any]:
    """Return the fields of a row that a cluster's conditions may name, as the row's JSON form has them.

    The concurrency, and what the planner computes, are left out: conditions on them are not met.
    """
    row, scenario = place.row, place.scenario
    values: dict[str, Any] = {
        "image": config.image,
        "model": config.model,
        "model-prefix": config.model_prefix,
        "precision": config.precision,
        "framework": config.framework,
        "runner": config.runner,
        "spec-decoding": row.spec_decoding.value,
    }
    if config.multinode or not isinstance(scenario, AgenticScenario):
        values["disagg"] = config.disagg
    if isinstance(scenario, FixedScenario):
        values |= {"isl": scenario.isl, "osl": scenario.osl}
    else:
        values["scenario-type"] = ScenarioType.AGENTIC.value
        values["kv-offloading"] = row.kv_offloading.value if row.kv_offloading else "none"
    if row.engine is not None:
        engine = row.engine.filled()
        values |= {
            "tp": engine.tp,
            "pp": engine.pp,
            "dcp-size": engine.dcp_size,
            "pcp-size": engine.pcp_size,
            "ep": engine.ep,
            "dp-attn": engine.dp_attn,
        }
    return values

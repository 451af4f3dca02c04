"""Faults of rows on clusters, and how many of them become one problem.

A fault of a configuration is reported where the configuration causes it, with all clusters that have it. A fault of a
cluster is reported once in the clusters file, with the number of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from infx.bench.config import Config
from infx.errors import Level, Problem
from infx.launch.clusters import Clusters
from infx.matrix.rules import state_problem
from infx.phrases import count, join_words
from infx.records import record
from infx.rules import Finding, Path
from infx.yaml12 import Document

_SHOWN = 8  # clusters in a message
_Hit = TypeVar("_Hit", "ConfigHit", "ClusterHit")


@record
class ConfigHit:
    """A fault of a configuration.

    Attributes:
        at: the path in the configuration's file.
        jobs: rows of a full sweep that have the fault.
        cluster: the cluster on which they have it; None: on all.
    """

    rule: str
    config: Config
    at: Path
    message: str
    hint: str
    jobs: int
    cluster: str | None = None
    level: Level = Level.WARNING


@record
class ClusterHit:
    """A fault of a cluster that rows of a configuration meet.

    Attributes:
        message: contains `{rows}` in place of the number of rows.
    """

    rule: str
    config: Config
    cluster: str
    message: str
    hint: str
    jobs: int


def state_config_hits(hits: Iterable[ConfigHit], documents: Mapping[str, Document]) -> Iterator[Problem]:
    """Yield a problem for each fault of a configuration. documents: by path."""
    for group in _group(hits, lambda hit: (hit.config.key, hit.rule, hit.at, hit.message, hit.hint)):
        first = group[0]
        clusters = list(dict.fromkeys(hit.cluster for hit in group if hit.cluster is not None))
        # A row that may land on several clusters has the fault on each of them, but is one row.
        jobs: dict[str | None, int] = {}
        for hit in group:
            jobs[hit.cluster] = jobs.get(hit.cluster, 0) + hit.jobs
        scope = count(max(jobs.values()), "row")
        if clusters:
            scope += f" on {join_words(clusters, limit=_SHOWN)}"
        finding = Finding(
            rule=first.rule,
            at=first.at,
            message=f"{first.message} ({scope})",
            hint=first.hint,
            level=first.level,
        )
        yield state_problem(finding, documents[first.config.path])


def state_cluster_hits(hits: Iterable[ClusterHit], clusters: Clusters) -> Iterator[Problem]:
    """Yield a problem for each fault of a cluster."""
    for group in _group(hits, lambda hit: (hit.cluster, hit.rule, hit.message, hit.hint)):
        first = group[0]
        configs = len({hit.config.key for hit in group})
        rows = f"{count(sum(hit.jobs for hit in group), 'row')} of {count(configs, 'configuration')}"
        yield state_cluster_problem(
            first.cluster, clusters, first.rule, first.message.replace("{rows}", rows), first.hint
        )


def state_cluster_problem(name: str, clusters: Clusters, rule: str, message: str, hint: str) -> Problem:
    """Return a warning about a cluster, with its line in the clusters file."""
    return Problem(
        rule=rule,
        message=f"clusters.{name}: {message}.",
        path=clusters.path,
        line=clusters.lines.get(name),
        hint=hint,
        level=Level.WARNING,
    )


def _group(hits: Iterable[_Hit], key: Callable[[_Hit], Hashable]) -> list[list[_Hit]]:
    groups: dict[Hashable, list[_Hit]] = {}
    for hit in hits:
        groups.setdefault(key(hit), []).append(hit)
    return list(groups.values())

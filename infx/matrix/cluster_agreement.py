"""Check that runners and clusters agree: every runner has a cluster, every cluster a runner, and no ports collide."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

from infx.bench.config import Config, Runners
from infx.errors import Level, suggest
from infx.launch.clusters import Clusters
from infx.matrix.landing import find_meant_clusters
from infx.phrases import count, join_words
from infx.rules import Finding, Path

_SHOWN = 12  # runners in a message


def find_strays(configs: Sequence[Config], runners: Runners, clusters: Clusters) -> Iterator[Finding[Path]]:
    """Yield the runners that belong to no cluster, once for each cluster that their names mean.

    Rows on several nodes need no cluster of this file, so runners that take nothing else pass.
    """
    wanted: dict[str, list[Config]] = {}
    for config in configs:
        wanted.setdefault(config.runner, []).append(config)
    strays: dict[str, dict[str, list[Config]]] = {}
    places: dict[str, Path] = {}
    for label, names in runners.labels.items():
        for index, name in enumerate(names):
            if clusters.find_name(name) is None:
                cluster = name.partition("_")[0]
                strays.setdefault(cluster, {}).setdefault(name, []).extend(wanted.get(label, ()))
                places.setdefault(cluster, ("labels", label, index))
    for cluster, takers in strays.items():
        if alone := [
            name for name, taken in takers.items() if not taken or not all(c.multinode for c in taken)
        ]:
            taken = [config for name in alone for config in takers[name] if not config.multinode]
            yield _describe_stray(cluster, alone, taken, places[cluster], clusters)


def _describe_stray(
    cluster: str, names: Sequence[str], taken: Sequence[Config], at: Path, clusters: Clusters
) -> Finding[Path]:
    keys = list(dict.fromkeys(config.key for config in taken))
    rows = f"; rows of {join_words(keys, limit=3)} cannot be launched there" if keys else ""
    verb = "belongs" if len(names) == 1 else "belong"
    return Finding(
        rule="launch-runner",
        at=at,
        message=f'{count(len(names), "runner")} ({join_words(names, limit=_SHOWN)}) {verb} to no cluster; expected "{cluster}" '
        f"in {clusters.path}{rows}",
        hint=suggest(cluster, clusters.fields)
        or "Describe the cluster, add an alias, or remove the runners.",
        level=Level.ERROR if keys else Level.WARNING,
    )


def find_idle_clusters(configs: Iterable[Config], runners: Runners, clusters: Clusters) -> Iterator[str]:
    """Yield the clusters that have no runner; those that a configuration asks for are reported with its label."""
    used = {clusters.find_name(name) for names in runners.labels.values() for name in names}
    for label in dict.fromkeys(config.runner for config in configs):
        used.update(find_meant_clusters(label, runners, clusters))
    yield from (name for name in clusters.fields if name not in used)


def find_equal_digits(runners: Runners, clusters: Clusters) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the clusters whose ports end with the runner's digit, with the pairs of runners that share a port.

    Only runners of one label count, because other runners never get the same rows.
    """
    pairs: dict[str, dict[tuple[str, str], None]] = {}
    for names in runners.labels.values():
        groups: dict[tuple[str, str], list[str]] = {}
        for name in names:
            cluster = clusters.find_name(name)
            if cluster is not None and clusters.plain[cluster].port.plus == "digit":
                groups.setdefault((cluster, name[-1:]), []).append(name)
        for (cluster, _), group in groups.items():
            pairs.setdefault(cluster, {}).update(dict.fromkeys(combinations(group, 2)))
    for cluster, equal in pairs.items():
        if equal:
            yield cluster, list(equal)

"""Check configurations against what their launches need: clusters, scripts, recipes and committed acceptance lengths.

A check whose files are missing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from infx.bench.config import Config, Runners
from infx.errors import Problem
from infx.launch.clusters import Clusters
from infx.launch.srt_cluster import SrtClusters
from infx.matrix.acceptance import AcceptanceCell
from infx.matrix.checkout import Checkout
from infx.matrix.cluster_agreement import find_equal_digits, find_idle_clusters, find_strays
from infx.matrix.file_rules import find_missing_recipe, find_missing_script, find_other_router
from infx.matrix.landing import Landing, find_landings
from infx.matrix.launch_hits import (
    ClusterHit,
    ConfigHit,
    state_cluster_hits,
    state_cluster_problem,
    state_config_hits,
)
from infx.matrix.launch_rules import (
    find_ephemeral_port,
    find_shared_port,
    find_short_time,
    find_wrong_image,
    find_wrong_model,
)
from infx.matrix.length_rules import find_other_script_length, find_other_setting_length
from infx.matrix.rules import state_problem
from infx.matrix.setting_rules import find_overruling_settings
from infx.matrix.silences import Silenced, drop_silenced
from infx.phrases import join_words
from infx.policy.model import Policy
from infx.records import record
from infx.yaml12 import Document

_SHOWN = 6  # pairs of runners in a message
_ON_CLUSTERS = ("launch-image", "launch-model", "launch-port", "launch-time")


@record
class LaunchInputs:
    """What the checks of launches read; None for a file that is not there.

    Attributes:
        runners_document: the inventory as YAML.
        documents: the master files, by path.
        lengths: the committed acceptance lengths; None without such files.
        has_all_clusters: whether every cluster of the file can be used.
        srt: the clusters of srt-slurm, where images may be there before a row runs.
    """

    configs: tuple[Config, ...]
    documents: Mapping[str, Document]
    policy: Policy
    runners: Runners | None = None
    runners_document: Document | None = None
    clusters: Clusters | None = None
    has_all_clusters: bool = True
    srt: SrtClusters | None = None
    checkout: Checkout | None = None
    lengths: tuple[AcceptanceCell, ...] | None = None

    @cached_property
    def landings(self) -> tuple[Landing, ...]:
        if self.runners is None or self.clusters is None:
            return ()
        return tuple(find_landings(self.configs, self.runners, self.clusters))

    @cached_property
    def single(self) -> tuple[Landing, ...]:
        return tuple(landing for landing in self.landings if not landing.config.multinode)

    @cached_property
    def checked(self) -> frozenset[str]:
        """The rules whose files are there."""
        rules = {"launch-setting"}
        if self.runners is not None and self.clusters is not None:
            rules.update(_ON_CLUSTERS)
            if self.checkout is not None and self.checkout.has_scripts:
                rules.update(("launch-script", "launch-router"))
        if self.checkout is not None and self.checkout.has_recipes:
            rules.add("launch-recipe")
        if self.lengths is not None:
            rules.add("acceptance-length")
        return frozenset(rules)


def check_launches(inputs: LaunchInputs, used: set[Silenced]) -> Iterator[Problem]:
    """Yield all problems of launches; add to `used` the silenced rules that found something."""
    yield from state_config_hits(drop_silenced(_find_in_configs(inputs), used), inputs.documents)
    if inputs.runners is None or inputs.clusters is None:
        return
    yield from state_cluster_hits(drop_silenced(_find_in_clusters(inputs), used), inputs.clusters)
    if inputs.has_all_clusters:  # else a runner may belong to a cluster that has errors
        yield from _check_agreement(inputs, inputs.runners, inputs.clusters)


def _find_in_configs(inputs: LaunchInputs) -> Iterator[ConfigHit]:
    for config in inputs.configs:
        yield from find_overruling_settings(config, inputs.runners, inputs.clusters)
        if inputs.lengths is not None:
            yield from find_other_setting_length(config, inputs.lengths)
        if inputs.checkout is not None and "launch-recipe" in inputs.checked:
            yield from find_missing_recipe(config, inputs.checkout)
    for landing in inputs.landings:
        yield from find_wrong_image(landing, inputs.srt)
    for landing in inputs.single:
        yield from find_wrong_model(landing)
        if inputs.checkout is not None and "launch-script" in inputs.checked:
            yield from find_missing_script(landing, inputs.checkout)
            yield from find_other_router(landing, inputs.checkout)
            if inputs.lengths is not None:
                yield from find_other_script_length(
                    landing, inputs.checkout, inputs.lengths, inputs.policy.signoff
                )


def _find_in_clusters(inputs: LaunchInputs) -> Iterator[ClusterHit]:
    assert inputs.runners is not None
    for landing in inputs.single:
        yield from find_ephemeral_port(landing)
        yield from find_shared_port(landing, inputs.runners)
        yield from find_short_time(landing, inputs.policy.sweep.row_minutes)


def _check_agreement(inputs: LaunchInputs, runners: Runners, clusters: Clusters) -> Iterator[Problem]:
    if inputs.runners_document is not None:
        for finding in find_strays(inputs.configs, runners, clusters):
            yield state_problem(finding, inputs.runners_document)
    for name in find_idle_clusters(inputs.configs, runners, clusters):
        yield state_cluster_problem(
            name,
            clusters,
            "launch-cluster",
            "no runner belongs to this cluster",
            "Remove it, add an alias, or name its runners after it.",
        )
    for name, pairs in find_equal_digits(runners, clusters):
        shown = join_words([f"{first}/{second}" for first, second in pairs], limit=_SHOWN)
        yield state_cluster_problem(
            name,
            clusters,
            "launch-port",
            f"runners have the same port: {shown}; and PORT + 1 of a runner is the port of the next runner",
            "Use plus: job, or name the runners with different last digits.",
        )

"""How multi-node rows run: each route gets the row and its cluster, resolved, and returns a launch."""

from __future__ import annotations

from typing import Protocol

from infx.errors import InfxError
from infx.launch.srt import render_srt
from infx.launch.srt_cluster import SrtClusters
from infx.launch.steps import Launch
from infx.launch.texts import LaunchTask

# Frameworks with a program of their own in place of srt-slurm; infx does not launch them.
OTHER_ROUTES = {
    "tilert": "two containers on two nodes of an allocation",
    "llmd-vllm": "a batch job of llm-d",
    "sglang-disagg": "docker inside a batch job",
}


class Route(Protocol):
    """A way to run a multi-node row on a cluster."""

    def render(self, task: LaunchTask, cluster: str) -> Launch:
        """Return the launch. Raises InfxError if the row cannot run there."""


class SrtRoute:
    """Run rows through srt-slurm."""

    def __init__(self, clusters: SrtClusters) -> None:
        self._clusters = clusters

    def render(self, task: LaunchTask, cluster: str) -> Launch:
        return render_srt(task, self._clusters.resolve(cluster, task.row.recipe))


def choose_route(task: LaunchTask, srt: SrtClusters | None) -> Route:
    """Return the route of a multi-node row. Raises InfxError if there is none."""
    framework = task.row.recipe.framework
    if framework in OTHER_ROUTES:
        raise InfxError(
            f"infx does not launch rows of {framework}, which need {OTHER_ROUTES[framework]}.",
            hint="Let the policy's sweep.row-command run them.",
        )
    if srt is None:
        raise InfxError(
            f"Row {task.id} runs on several nodes, and no file describes srt-slurm's clusters.",
            hint="Name the file with --srt.",
        )
    return SrtRoute(srt)

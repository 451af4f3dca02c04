"""Render a planned row as the launch of one cluster."""

from __future__ import annotations

from infx.bench.row import Row
from infx.errors import InfxError
from infx.launch.cluster import Allocation, Cluster, ImageSource, PassedNames
from infx.launch.clusters import Clusters
from infx.launch.docker import label_container, render_docker
from infx.launch.model_path import decide_model_path
from infx.launch.slurm import compute_run_minutes, name_job, render_slurm
from infx.launch.steps import Driver, Launch, PathChoice, Step, StepName
from infx.launch.texts import LaunchTask, Texts, make_texts

_MACHINE_NAMES = ("RUNNER_NAME",)  # which the machine adds to a row's variables


def render_row_launch(task: LaunchTask, name: str, clusters: Clusters) -> Launch:
    """Return the launch of a single-node row on a cluster.

    Raises InfxError if the row cannot run there, and KeyError for an unknown cluster.
    """
    _ = task.gpus  # refuses rows on several nodes
    cluster = clusters.resolve(name, task.row)
    texts = make_texts(task, cluster)
    model = _decide_model(task.row, cluster, clusters.path)
    driver = find_driver(cluster)
    environment = _compose_environment(cluster, texts)
    names = _select_names(task, cluster)
    match driver:
        case Driver.SLURM:
            steps = tuple(render_slurm(task, cluster, texts, environment))
        case Driver.DOCKER:
            steps = tuple(render_docker(task, cluster, texts, environment, names))
        case Driver.LOCAL:
            steps = (_render_local(task, cluster, environment),)
    secrets = cluster.secrets
    is_limited = driver is Driver.DOCKER and cluster.container.passed is not None
    return Launch(
        cluster=name,
        driver=driver,
        job_name=name_job(cluster) if driver is Driver.SLURM else "",
        labels=label_container(task) if driver is Driver.DOCKER else {},
        secrets=tuple(secret for secret in secrets if not is_limited or secret in names),
        row_names=tuple(sorted({*names} - {*secrets})) if is_limited else None,
        choices=(_list_scripts(cluster, texts), *model),
        port=cluster.port,
        checkout="{workspace}" if driver is Driver.LOCAL else cluster.mount_at,
        steps=steps,
    )


def find_driver(cluster: Cluster) -> Driver:
    if cluster.allocation is not Allocation.NONE:
        return Driver.SLURM
    return Driver.DOCKER if cluster.image.source is ImageSource.DOCKER else Driver.LOCAL


def _decide_model(row: Row, cluster: Cluster, path: str) -> tuple[PathChoice, ...]:
    if cluster.model is None:
        return ()
    choice = decide_model_path(row.recipe, cluster.model)
    if choice is None:
        recipe = row.recipe
        raise InfxError(
            f'The cluster "{cluster.name}" does not have the model {recipe.model}; expected '
            f"{recipe.model_prefix}/{recipe.precision} under model.paths.",
            hint="Add the model's path, or choose another runner.",
            where=path,
        )
    return (choice,)


def _compose_environment(cluster: Cluster, texts: Texts) -> dict[str, str]:
    """Return the variables that a cluster sets over those of the row."""
    environment = {"PORT": "{port}", **texts.fill_map(cluster.env)}
    for name in cluster.model.variables if cluster.model else ():
        environment[name] = "{model-path}"
    return environment


def _list_scripts(cluster: Cluster, texts: Texts) -> PathChoice:
    scripts = dict.fromkeys(map(texts.fill, cluster.scripts))
    return PathChoice(name="script", paths=tuple(scripts))


def _select_names(task: LaunchTask, cluster: Cluster) -> tuple[str, ...]:
    """Return the names of the row's variables and secrets that docker passes."""
    available = tuple(dict.fromkeys((*task.environment, *_MACHINE_NAMES, *cluster.secrets)))
    passed = cluster.container.passed
    if passed is None:
        return available
    return tuple(name for name in available if _is_passed(name, passed))


def _is_passed(name: str, passed: PassedNames) -> bool:
    return (name in passed.names) is not passed.is_exclusion


def _render_local(task: LaunchTask, cluster: Cluster, environment: dict[str, str]) -> Step:
    return Step(
        name=StepName.RUN,
        argv=("bash", "{script}"),
        environment=environment,
        seconds=60 * compute_run_minutes(task, cluster),
    )

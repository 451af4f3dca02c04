"""Steps of a row on a Slurm cluster: an allocation and steps in it, or a single srun."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infx.launch.cluster import Allocation, Cluster, ContainerForm, ImageSource
from infx.launch.image import render_import
from infx.launch.steps import Step, StepName
from infx.launch.texts import LaunchTask, Texts, is_file
from infx.launch.transfer import render_bringing_back, render_sending

JOB_PREFIX = "infx-"  # other tools cancel jobs by the runner's name alone
MARGIN = 5  # minutes of an allocation that remain for bringing back results
_IN_JOB = ("srun", "--jobid={job}")
_STOP = 'for id in $(docker ps -q); do docker stop --time 30 "$id"; done'


def name_job(cluster: Cluster) -> str:
    return JOB_PREFIX + cluster.job_name


def render_slurm(
    task: LaunchTask, cluster: Cluster, texts: Texts, environment: Mapping[str, str]
) -> Iterator[Step]:
    """Yield the steps. environment: what the benchmark gets in addition to the row's variables."""
    imported = render_import(cluster, texts, _IN_JOB)
    if imported is not None and imported.image_import is not None and not imported.image_import.is_on_node:
        yield imported
        imported = None
    minutes = compute_run_minutes(task, cluster)
    if cluster.allocation is Allocation.SRUN:
        yield Step(
            name=StepName.RUN,
            argv=("srun", *_list_requests(cluster, texts, minutes), *_list_container(cluster, texts)),
            environment=environment,
            seconds=60 * (minutes + cluster.limits.allocate),
            release=_cancel_by_name(cluster),
        )
        return
    yield Step(
        name=StepName.ALLOCATE,
        argv=("salloc", *_list_requests(cluster, texts, minutes), "--no-shell"),
        environment={},
        seconds=60 * cluster.limits.allocate,
        grants_job=True,
        release=("scancel", "{job}"),
    )
    if "stop-containers" in cluster.before:
        argv = (*_IN_JOB, "bash", "-c", _STOP)
        yield Step(name=StepName.STOP_CONTAINERS, argv=argv, environment={}, seconds=300)
    if cluster.workspace is not None:
        yield from render_sending(cluster.workspace, texts, environment, _IN_JOB)
    if imported is not None:
        yield imported
    yield Step(
        name=StepName.RUN,
        argv=(*_IN_JOB, *_list_container(cluster, texts)),
        environment=environment,
        seconds=60 * minutes,
    )
    if cluster.workspace is not None:
        yield from render_bringing_back(cluster.workspace, texts, task.gathered, _IN_JOB)


def compute_run_minutes(task: LaunchTask, cluster: Cluster) -> int:
    """Return the minutes of the benchmark: the row's, or less if the cluster or the allocation ends earlier."""
    limits = [task.minutes]
    if cluster.limits.run is not None:
        limits.append(cluster.limits.run)
    if cluster.time is not None:
        limits.append(max(cluster.time - MARGIN, 1))
    return min(limits)


def _list_requests(cluster: Cluster, texts: Texts, minutes: int) -> Iterator[str]:
    """Yield the options that say what Slurm reserves. Every allocation has a time limit."""
    exclude = ",".join(cluster.exclude)
    time = cluster.time if cluster.time is not None else minutes + cluster.limits.image_import + MARGIN
    options = {
        "--partition": cluster.partition,
        "--account": cluster.account,
        "--exclude": exclude or None,
        "--nodes": cluster.nodes,
        "--gres": None if cluster.gres is None else texts.fill(cluster.gres),
        "--cpus-per-task": cluster.cpus_per_task,
        "--mem": cluster.mem,
        "--time": time,
        "--job-name": name_job(cluster),
    }
    yield from (f"{name}={value}" for name, value in options.items() if value is not None)
    if cluster.is_exclusive:
        yield "--exclusive"


def _list_container(cluster: Cluster, texts: Texts) -> Iterator[str]:
    """Yield the options of the container, and the command. Values of variables are never arguments."""
    container, image = cluster.container, cluster.image
    if container.mpi is not None:
        yield f"--mpi={container.mpi}"
    is_squash = image.source is ImageSource.SQUASH or is_file(texts.values["image"])
    reference = texts.values["squash"] if is_squash else texts.fill(image.reference)
    yield f"--container-image={reference}"
    if container.name is not None:
        yield f"--container-name={texts.fill(container.name)}"
    yield f"--container-mounts={','.join(list_mounts(cluster, texts))}"
    yield from _list_flags(container)
    yield f"--container-workdir={cluster.mount_at}"
    yield "--export=ALL"
    yield from ("bash", "{script}")


def _list_flags(container: ContainerForm) -> Iterator[str]:
    if container.home is not None:
        yield "--container-mount-home" if container.home else "--no-container-mount-home"
    if container.remap_root:
        yield "--container-remap-root"
    if container.writable:
        yield "--container-writable"
    if not container.has_entrypoint:
        yield "--no-container-entrypoint"


def list_mounts(cluster: Cluster, texts: Texts) -> Iterator[str]:
    """Yield the mounts: the checkout or its copy, and the cluster's."""
    workspace = "{workspace}" if cluster.workspace is None else texts.fill(cluster.workspace.path)
    yield f"{workspace}:{cluster.mount_at}"
    yield from map(texts.fill, cluster.mounts)


def _cancel_by_name(cluster: Cluster) -> tuple[str, ...]:
    """Return the release of a job without a known id: by own name and own user."""
    return ("scancel", "--user={user}", f"--name={name_job(cluster)}")

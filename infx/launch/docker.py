"""The steps of a row that docker runs on the machine itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infx.errors import InfxError
from infx.launch.cluster import Cluster, ContainerForm
from infx.launch.slurm import compute_run_minutes, list_mounts
from infx.launch.steps import Step, StepName
from infx.launch.texts import LaunchTask, Texts, is_file
from infx.rowfile.launch_programs import VARIABLES

_ID_FILE = "{scratch}/container.id"
# The container's id, and not its name, so that the container of another job with this name stays.
_REMOVE = """\
test -s "$1" || exit 0
id=$(cat -- "$1")
docker rm --force --volumes "$id" > /dev/null 2>&1 && exit 0
left=$(docker ps --all --quiet --filter "id=$id") && test -z "$left"
"""


def label_container(task: LaunchTask) -> dict[str, str]:
    """Return the labels by which a later job of the runner finds the container."""
    return {"infx.runner": "{runner}", "infx.row": task.id}


def render_docker(
    task: LaunchTask, cluster: Cluster, texts: Texts, environment: Mapping[str, str], names: tuple[str, ...]
) -> Iterator[Step]:
    """Yield the step. Raises InfxError if the image is a squash file.

    environment: what the benchmark gets in addition to the row's variables.
    names: of the row's variables and secrets that the benchmark gets.
    """
    container = cluster.container
    if is_file(texts.values["image"]):
        raise InfxError(f"docker cannot run the squash file {texts.values['image']} of row {task.id}.")
    arguments = [
        *("docker", "run", "--rm", f"--cidfile={_ID_FILE}"),
        *(f"--label={name}={value}" for name, value in label_container(task).items()),
        *_list_options(container, texts),
        *(f"--volume={mount}" for mount in list_mounts(cluster, texts)),
        f"--workdir={cluster.mount_at}",
        # Names only: docker reads the values from its own environment.
        *(f"--env={name}" for name in dict.fromkeys((*names, *environment, *VARIABLES.values()))),
    ]
    image = texts.fill(cluster.image.reference)
    command = ("{script}",) if not container.has_entrypoint else ("bash", "{script}")
    if not container.has_entrypoint:
        arguments.append("--entrypoint=/bin/bash")
    yield Step(
        name=StepName.RUN,
        argv=(*arguments, image, *command),
        environment=environment,
        seconds=60 * compute_run_minutes(task, cluster),
        release=("bash", "-c", _REMOVE, "remove", _ID_FILE),
    )
    yield _render_giving_back(task, image)


def _render_giving_back(task: LaunchTask, image: str) -> Step:
    """Return the step that makes this machine's user the owner of the workspace, so that the next job can remove it."""
    return Step(
        name=StepName.GIVE_BACK,
        argv=(
            *("docker", "run", "--rm", "--network=none"),
            *(f"--label={name}={value}" for name, value in label_container(task).items()),
            *("--volume={workspace}:/workspace", "--entrypoint=chown", image),
            *("--recursive", "--no-dereference", "{uid}", "/workspace"),
        ),
        environment={},
        seconds=300,
        is_always_run=True,
    )


def _list_options(container: ContainerForm, texts: Texts) -> Iterator[str]:
    options = {
        "--pull": container.pull,
        "--name": texts.fill(container.name or "infx-{runner}"),
        "--runtime": container.runtime,
        "--gpus": None if container.gpus is None else texts.fill(container.gpus),
        "--network": container.network,
        "--ipc": container.ipc,
        "--shm-size": container.shm_size,
    }
    yield from (f"{name}={value}" for name, value in options.items() if value is not None)
    if container.privileged:
        yield "--privileged"
    yield from (f"--ulimit={name}={value}" for name, value in container.ulimits.items())
    yield from (f"--device={device}" for device in container.devices)
    yield from (f"--group-add={group}" for group in container.groups)
    yield from (f"--security-opt={option}" for option in container.security)
    yield from (f"--cap-add={capability}" for capability in container.cap_add)

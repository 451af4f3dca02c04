"""A cluster as a row sees it: typed, with all families and changes merged."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from infx.launch.merging import Fields
from infx.launch.steps import PortForm
from infx.records import record

DEFAULT_SECRETS = ("HF_TOKEN", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET")


class Allocation(StrEnum):
    """How a row's GPUs are reserved."""

    SALLOC = "salloc"  # an allocation, and steps in it
    SRUN = "srun"  # a single step with an allocation of its own
    NONE = "none"  # the machine is the row's


class ImageSource(StrEnum):
    """Where a container comes from."""

    SQUASH = "squash"
    REGISTRY = "registry"
    DOCKER = "docker"
    NONE = "none"  # the row runs without a container


class ImportPlace(StrEnum):
    """Where an image is imported into a squash file."""

    NODE = "node"
    HOST = "host"
    PRE_STAGED = "pre-staged"


@record
class ImageForm:
    """The container image of a cluster's rows; texts have placeholders.

    Attributes:
        lock_timeout: seconds.
    """

    source: ImageSource
    squash: str | None
    uri: str
    place: ImportPlace
    env: Mapping[str, str]
    scratch: str | None
    lock_timeout: int
    reference: str


@record
class PassedNames:
    """The names of variables that docker passes: these, or all except these."""

    names: tuple[str, ...]
    is_exclusion: bool


@record
class ContainerForm:
    """How a container runs. home is None where pyxis's default applies."""

    has_entrypoint: bool
    home: bool | None
    remap_root: bool
    writable: bool
    mpi: str | None
    name: str | None
    network: str | None
    ipc: str | None
    privileged: bool
    ulimits: Mapping[str, int]
    shm_size: str | None
    devices: tuple[str, ...]
    groups: tuple[str, ...]
    security: tuple[str, ...]
    cap_add: tuple[str, ...]
    runtime: str | None
    gpus: str | None
    pull: str | None
    passed: PassedNames | None


@record
class PathSearch:
    """Candidates for a model's folder.

    Attributes:
        holds: pattern of a file that the folder must have.
        otherwise: the path if no candidate qualifies.
    """

    candidates: tuple[str, ...]
    holds: str | None
    otherwise: str
    is_created: bool


@record
class ModelTable:
    """Where a cluster has weights.

    Attributes:
        variables: get the path.
        paths: by `<prefix>/<precision>`, or with `/<pattern of the model>` after it.
        staged: the folder of the models in `names`.
        otherwise: the folder of other models; None: they are refused.
    """

    variables: tuple[str, ...]
    paths: Mapping[str, PathSearch]
    staged: str | None
    names: tuple[str, ...]
    otherwise: str | None


@record
class WorkspaceTransfer:
    """The copy of the checkout on a node that does not share it."""

    path: str
    brought_back: tuple[str, ...]


@record
class LaunchLimits:
    """Minutes. run is None where the row's own limit applies."""

    allocate: int = 120
    image_import: int = 120
    run: int | None = None


@record
class Cluster:
    """How a row runs on a cluster.

    Attributes:
        time: minutes of an allocation.
        mem: None: no request; 0: all of a node's memory.
    """

    name: str
    gpu: str
    allocation: Allocation
    scripts: tuple[str, ...]
    tags: Mapping[str, str]
    partition: str | None
    account: str | None
    gres: str | None
    nodes: int | None
    is_exclusive: bool
    mem: int | None
    cpus_per_task: int | None
    time: int | None
    exclude: tuple[str, ...]
    job_name: str
    port: PortForm
    mount_at: str
    mounts: tuple[str, ...]
    hf_cache: str | None
    aiperf_cache: str | None
    env: Mapping[str, str]
    secrets: tuple[str, ...]
    image: ImageForm
    container: ContainerForm
    model: ModelTable | None
    workspace: WorkspaceTransfer | None
    before: tuple[str, ...]
    limits: LaunchLimits


_Json: TypeAlias = Mapping[str, Any]


def build_cluster(name: str, fields: Fields) -> Cluster:
    """Return the typed cluster of merged fields that fit the schema.

    Raises KeyError with the name of a missing field; see `infx.launch.cluster_rules`.
    """
    return Cluster(
        name=name,
        gpu=fields["gpu"],
        allocation=Allocation(fields["allocate"]),
        scripts=tuple(fields["scripts"]),
        tags=fields.get("tags", {}),
        partition=fields.get("partition"),
        account=fields.get("account"),
        gres=fields.get("gres"),
        nodes=fields.get("nodes"),
        is_exclusive=fields.get("exclusive", False),
        mem=fields.get("mem"),
        cpus_per_task=fields.get("cpus-per-task"),
        time=fields.get("time"),
        exclude=tuple(fields.get("exclude", ())),
        job_name=fields.get("job-name", "{runner}"),
        port=_build_port(fields.get("port", 8888)),
        mount_at=fields.get("mount-at", "/workspace"),
        mounts=tuple(fields.get("mounts", ())),
        hf_cache=fields.get("hf-cache"),
        aiperf_cache=fields.get("aiperf-cache"),
        env=_render_values(fields.get("env", {})),
        secrets=tuple(fields.get("secrets", DEFAULT_SECRETS)),
        image=_build_image(fields.get("image", {})),
        container=_build_container(fields.get("container", {})),
        model=_build_model(fields["model"]) if "model" in fields else None,
        workspace=_build_workspace(fields["workspace"]) if "workspace" in fields else None,
        before=tuple(fields.get("before", ())),
        limits=_build_limits(fields.get("limits", {})),
    )


def _build_port(value: int | _Json) -> PortForm:
    if isinstance(value, int):
        return PortForm(base=value)
    return PortForm(base=value["base"], plus=value.get("plus"), modulo=value.get("modulo"))


def _render_values(values: _Json) -> dict[str, str]:
    """Return the values of variables as text. Without quotes, YAML reads a number as a number."""
    return {name: str(value) for name, value in values.items()}


def _build_image(values: _Json) -> ImageForm:
    return ImageForm(
        source=ImageSource(values.get("from", "squash")),
        squash=values.get("squash"),
        uri=values.get("uri", "docker://{image}"),
        place=ImportPlace(values.get("import", "node")),
        env=_render_values(values.get("env", {})),
        scratch=values.get("scratch"),
        lock_timeout=values.get("lock-timeout", 600),
        reference=values.get("reference", "{image}"),
    )


def _build_container(values: _Json) -> ContainerForm:
    return ContainerForm(
        has_entrypoint=values.get("entrypoint") != "none",
        home=values.get("home"),
        remap_root=values.get("remap-root", False),
        writable=values.get("writable", False),
        mpi=values.get("mpi"),
        name=values.get("name"),
        network=values.get("network"),
        ipc=values.get("ipc"),
        privileged=values.get("privileged", False),
        ulimits=values.get("ulimits", {}),
        shm_size=values.get("shm-size"),
        devices=tuple(values.get("devices", ())),
        groups=tuple(values.get("groups", ())),
        security=tuple(values.get("security", ())),
        cap_add=tuple(values.get("cap-add", ())),
        runtime=values.get("runtime"),
        gpus=values.get("gpus"),
        pull=values.get("pull"),
        passed=_build_passed(values.get("pass")),
    )


def _build_passed(value: list[str] | _Json | None) -> PassedNames | None:
    if value is None:
        return None
    if isinstance(value, list):
        return PassedNames(names=tuple(value), is_exclusion=False)
    return PassedNames(names=tuple(value["except"]), is_exclusion=True)


def _build_model(values: _Json) -> ModelTable:
    return ModelTable(
        variables=tuple(values["set"]),
        paths={key: _build_search(value) for key, value in values.get("paths", {}).items()},
        staged=values.get("staged"),
        names=tuple(values.get("names", ())),
        otherwise=values.get("else"),
    )


def _build_search(value: str | list[str] | _Json) -> PathSearch:
    if isinstance(value, str):
        return PathSearch(candidates=(), holds=None, otherwise=value, is_created=False)
    if isinstance(value, list):
        return PathSearch(candidates=tuple(value), holds=None, otherwise=value[0], is_created=False)
    return PathSearch(
        candidates=tuple(value["any"]),
        holds=value.get("holds"),
        otherwise=value.get("else", value["any"][0]),
        is_created=value.get("create", False),
    )


def _build_workspace(values: _Json) -> WorkspaceTransfer:
    return WorkspaceTransfer(path=values["to"], brought_back=tuple(values.get("bring-back", ())))


def _build_limits(values: _Json) -> LaunchLimits:
    default = LaunchLimits()
    return LaunchLimits(
        allocate=values.get("allocate", default.allocate),
        image_import=values.get("import", default.image_import),
        run=values.get("run"),
    )

"""Rules between the fields of a clusters file.

The rules about a cluster see its merged fields, without changes for rows and with each change on its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from infx.errors import Level, suggest
from infx.launch.cluster import DEFAULT_SECRETS
from infx.launch.merging import Fields, find_family_faults, merge_fields
from infx.launch.texts import ALL_NAMES, find_names
from infx.rules import Finding, Path, Rule, find_all

_PYXIS_ONLY = ("home", "remap-root", "writable", "mpi")
_DOCKER_ONLY = (
    "network", "ipc", "privileged", "ulimits", "shm-size", "devices", "groups", "security", "cap-add", "runtime", "gpus",
    "pull", "pass",
)  # fmt: skip
_SECRET_ENDS = ("TOKEN", "SECRET", "PASSWORD", "API_KEY")
_SLURM_ONLY = (
    "partition",
    "account",
    "gres",
    "nodes",
    "exclusive",
    "mem",
    "cpus-per-task",
    "time",
    "exclude",
)


def check_clusters_file(value: Fields) -> Iterator[Finding[Path]]:
    """Yield findings about families and aliases."""
    yield from find_all(FILE_RULES, value)


def check_cluster(name: str, fields: Fields) -> Iterator[Finding[Path]]:
    """Yield findings about one cluster. fields: merged with those of its families."""
    plain = {key: value for key, value in fields.items() if key != "when"}
    yield from find_all(CLUSTER_RULES, ("clusters", name), plain)
    known = {finding.message for finding in find_all(CLUSTER_RULES, (), plain)}
    for index, change in enumerate(fields.get("when", ())):
        at = ("clusters", name, "when", index)
        for finding in find_all(CLUSTER_RULES, at, merge_fields(plain, change["set"])):
            if finding.message not in known:
                yield finding


def _find_family_faults(value: Fields) -> Iterator[Finding[Path]]:
    families = value.get("families", {})
    for kind in ("families", "clusters"):
        for name, fields in value.get(kind, {}).items():
            for message in find_family_faults(fields, families, name if kind == "families" else None):
                yield Finding(at=(kind, name, "extends"), message=message, hint="Name a family of this file.")


def _find_wrong_aliases(value: Fields) -> Iterator[Finding[Path]]:
    clusters = value["clusters"]
    for alias, name in value.get("aliases", {}).items():
        if name not in clusters:
            hint = suggest(name, clusters) or "Name a cluster of this file."
            yield Finding(at=("aliases", alias), message=f'there is no cluster "{name}"', hint=hint)
        elif alias in clusters:
            yield Finding(
                at=("aliases", alias),
                message=f'"{alias}" is also a cluster, which wins',
                hint="Remove the alias, or the cluster.",
            )


def _find_missing_fields(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    for key in ("gpu", "allocate", "scripts"):
        if not fields.get(key):
            yield Finding(
                at=at,
                message=f"{key} is missing, here and in the families",
                hint=f"Add {key} to the cluster, to a family or to defaults.",
            )


def _find_wrong_source(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    image = fields.get("image", {})
    source, is_slurm = image.get("from", "squash"), _is_slurm(fields)
    if is_slurm and source == "docker":
        message = (
            "docker runs on the machine itself; expected allocate: none, or an image from squash or registry"
        )
        yield Finding(at=at, message=message, hint="Correct allocate, or image.from.")
    elif not is_slurm and source in {"squash", "registry"}:
        message = f"an image from {source} needs an allocation; expected allocate: salloc or srun, or image.from docker or none"
        yield Finding(at=at, message=message, hint="Correct allocate, or image.from.")
    elif source == "squash" and "squash" not in image:
        message = "image.squash is missing; an image from squash needs a path such as /data/images/{key}.sqsh"
        yield Finding(at=at, message=message, hint="Add image.squash, or say image.from.")
    elif source == "squash" and fields.get("allocate") == "srun" and image.get("import", "node") == "node":
        message = "a single srun cannot import an image on the node first"
        yield Finding(at=at, message=message, hint="Use allocate: salloc, or image.import: host.")


def _find_ineffective_fields(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    container = fields.get("container", {})
    is_slurm = _is_slurm(fields)
    unread = [f"container.{key}" for key in (_DOCKER_ONLY if is_slurm else _PYXIS_ONLY) if key in container]
    if not is_slurm:
        unread += [key for key in _SLURM_ONLY if key in fields]
    for key in unread:
        place = "Slurm" if is_slurm else "a cluster without Slurm"
        yield Finding(at=at, message=f"{key} has no effect on {place}", hint="Remove it.")


def _find_wrong_placeholders(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    for where, text in _iterate_texts(fields):
        for name in sorted(find_names(text)):
            if name not in ALL_NAMES:
                hint = suggest(name, ALL_NAMES) or "docs/launching.md lists the placeholders."
                yield Finding(at=at, message=f"{where}: unknown placeholder {{{name}}}", hint=hint)
            elif name in {"hf-cache", "aiperf-cache"} and name not in fields:
                message = f"{where} needs {name}, which is missing"
                yield Finding(at=at, message=message, hint=f"Add {name}.")
            elif name == "model-path" and "model" not in fields:
                yield Finding(at=at, message=f"{where} needs model, which is missing", hint="Add model.")
            elif name == "job" and fields.get("allocate") != "salloc":
                yield _deny_job(at, where)
    port = fields.get("port")
    if isinstance(port, Mapping) and port.get("plus") == "job" and fields.get("allocate") != "salloc":
        yield _deny_job(at, "port")


def _deny_job(at: Path, where: str) -> Finding[Path]:
    message = f"{where} needs the id of an allocation, which only allocate: salloc has"
    return Finding(at=at, message=message, hint="Use allocate: salloc, or another placeholder.")


def _find_wrong_mounts(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    for mount in fields.get("mounts", ()):
        if mount.count(":") not in {1, 2} or "," in mount:
            message = (
                f'mounts: found "{mount}"; expected <path here>:<path in the container>, without a comma'
            )
            yield Finding(at=at, message=message)


def _find_secret_values(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    secrets = fields.get("secrets", DEFAULT_SECRETS)
    for name in (*fields.get("env", {}), *fields.get("image", {}).get("env", {})):
        if name in secrets or name.endswith(_SECRET_ENDS):
            message = f"env: {name} is a secret, which a row gets from the machine's environment"
            yield Finding(at=at, message=message, hint="Remove its value from this file, and revoke it.")


def _find_unsafe_steps(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    if "stop-containers" in fields.get("before", ()) and not (fields.get("exclusive") and _is_salloc(fields)):
        message = "before: stop-containers would stop containers of other jobs; expected exclusive: true and allocate: salloc"
        yield Finding(at=at, message=message, hint="Reserve the whole node, or remove stop-containers.")
    if "workspace" in fields and not _is_salloc(fields):
        message = "workspace needs allocate: salloc, because several steps use the copy"
        yield Finding(at=at, message=message, hint="Use allocate: salloc, or remove workspace.")
    if "to" not in fields.get("workspace", {"to": ""}):
        yield Finding(at=at, message="workspace: to is missing, the folder of the copy")


def _find_shared_name(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    name = fields.get("container", {}).get("name", "{runner}")
    if not _is_slurm(fields) and "{runner}" not in name:
        message = f'container.name: found "{name}"; two runners of one machine would share the name'
        yield Finding(at=at, message=message, hint="Add {runner} to the name.")


def _find_incomplete_model(at: Path, fields: Fields) -> Iterator[Finding[Path]]:
    model = fields.get("model")
    if model is None:
        return
    if "set" not in model:
        yield Finding(at=at, message="model: set is missing, the variables that get the path")
    if not (model.get("paths") or model.get("else") or model.get("staged")):
        yield Finding(at=at, message="model: names no path", hint="Add paths, staged or else.")
    if model.get("names") and "staged" not in model:
        yield Finding(at=at, message="model: staged is missing, the folder of the models in names")


def _is_slurm(fields: Fields) -> bool:
    return fields.get("allocate") in {"salloc", "srun"}


def _is_salloc(fields: Fields) -> bool:
    return bool(fields.get("allocate") == "salloc")


def _iterate_texts(value: Any, where: str = "") -> Iterator[tuple[str, str]]:
    """Yield every text below a value with its place."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, child in value.items():
            yield from _iterate_texts(child, f"{where}.{key}" if where else key)
    elif isinstance(value, list):
        for child in value:
            yield from _iterate_texts(child, where)


FILE_RULES: tuple[Rule[[Fields], Path], ...] = (
    Rule(id="cluster-family", check=_find_family_faults),
    Rule(id="cluster-alias", check=_find_wrong_aliases),
)

CLUSTER_RULES: tuple[Rule[[Path, Fields], Path], ...] = (
    Rule(id="cluster-incomplete", check=_find_missing_fields),
    Rule(id="cluster-image", check=_find_wrong_source),
    Rule(id="cluster-field-unused", check=_find_ineffective_fields),
    Rule(id="cluster-placeholder", check=_find_wrong_placeholders),
    Rule(id="cluster-mount", check=_find_wrong_mounts),
    Rule(id="cluster-secret", check=_find_secret_values),
    Rule(id="cluster-unsafe-step", check=_find_unsafe_steps),
    Rule(id="cluster-container-name", check=_find_shared_name, level=Level.WARNING),
    Rule(id="cluster-model", check=_find_incomplete_model),
)

"""Rules about the rows of a configuration on a cluster that they may land on.

A rule is an error only where the row cannot run; elsewhere it runs, with a wrong result or only by luck.
"""

from __future__ import annotations

from collections.abc import Iterator

from infx.bench.config import AgenticScenario, Runners
from infx.bench.topology import find_hardware
from infx.errors import Level, suggest
from infx.launch.cluster import Allocation, Cluster, ImageSource, ImportPlace
from infx.launch.model_path import decide_model_path
from infx.launch.routes import OTHER_ROUTES
from infx.launch.srt_cluster import SrtClusters
from infx.launch.texts import Texts, is_file, name_image
from infx.matrix.import_forms import ENROOT, FormFault, find_docker_fault, find_enroot_fault
from infx.matrix.landing import Landing
from infx.matrix.launch_hits import ClusterHit, ConfigHit

# Linux gives outgoing connections ports of this range, unless the machine is set up otherwise.
EPHEMERAL = (32768, 60999)
_MAX_PORT = 65535


def find_wrong_image(landing: Landing, srt: SrtClusters | None) -> Iterator[ConfigHit]:
    """Yield images in a form that the cluster's importer does not take.

    Without a file of srt-slurm's clusters, rows on several nodes count as imported like those on one.
    """
    cluster, config = landing.cluster, landing.config
    if config.multinode and config.framework in OTHER_ROUTES:  # which fetch images in their own way
        return
    is_imported = cluster.image.source is ImageSource.SQUASH
    if config.multinode and srt is not None and cluster.name in srt.fields:
        fault = _find_srt_fault(landing, srt)
    else:
        fault = _find_form_fault(config.image, cluster)
    if fault is None:
        return
    # The squash file may be there from an earlier time, imported by hand or in a shared folder.
    yield ConfigHit(
        rule="launch-image",
        config=config,
        at=(config.key, "image"),
        message=f"{fault.message}{'; the row works only where the squash file is there' if is_imported else ''}",
        hint=fault.hint,
        jobs=landing.jobs,
        cluster=cluster.name,
        level=Level.WARNING if is_imported else Level.ERROR,
    )


def _find_form_fault(image: str, cluster: Cluster) -> FormFault | None:
    texts = Texts(values=name_image(image))
    match cluster.image.source:
        case ImageSource.DOCKER:
            return find_docker_fault(texts.fill(cluster.image.reference))
        case ImageSource.REGISTRY if not is_file(image):
            return find_enroot_fault(image, texts.fill(cluster.image.reference))
        case ImageSource.SQUASH if cluster.image.place is not ImportPlace.PRE_STAGED and not is_file(image):
            return find_enroot_fault(image, texts.fill(cluster.image.uri))
    return None


def _find_srt_fault(landing: Landing, srt: SrtClusters) -> FormFault | None:
    config = landing.config
    for place in landing.places:
        facts = {
            "framework": config.framework,
            "model-prefix": config.model_prefix,
            "precision": config.precision,
            "spec-decoding": place.row.spec_decoding.value,
            "scenario": "agentic" if isinstance(place.scenario, AgenticScenario) else "fixed",
        }
        imported = srt.find_import(landing.cluster.name, facts)
        if imported not in {None, ImportPlace.PRE_STAGED} and not is_file(config.image):
            return find_enroot_fault(config.image, ENROOT + config.image)
    return None


def find_wrong_model(landing: Landing) -> Iterator[ConfigHit]:
    """Yield models that are not where the cluster looks for them."""
    config, table = landing.config, landing.cluster.model
    if table is None:
        return
    choice = decide_model_path(config, table)
    if choice is None:
        message = f"the cluster has no path for {config.model} as {config.model_prefix}/{config.precision}"
        hint = "Add it to model.paths of the cluster, or choose another runner."
        level = Level.ERROR
    elif not table.names or choice.otherwise != f"{table.otherwise}/{_name(config.model)}":
        return
    else:
        message = f"{_name(config.model)} is not among the models in {table.staged}; the row looks in {choice.otherwise}"
        hint = (
            suggest(_name(config.model), table.names) or "Stage it, and add it to model.names of the cluster."
        )
        level = Level.WARNING
    yield ConfigHit(
        rule="launch-model",
        config=config,
        at=(config.key, "model"),
        message=message,
        hint=hint,
        jobs=landing.jobs,
        cluster=landing.cluster.name,
        level=level,
    )


def _name(model: str) -> str:
    return model.rpartition("/")[2]


def find_ephemeral_port(landing: Landing) -> Iterator[ClusterHit]:
    """Yield ports that an outgoing connection of any program may have taken."""
    port = landing.cluster.port
    added = {"digit": 9, "job": _MAX_PORT}.get(port.plus or "", 0) if port.modulo is None else port.modulo - 1
    last = min(port.base + added, _MAX_PORT)
    low, high = EPHEMERAL
    if last < low or port.base > high:
        return
    ports = f"ports {port.base} to {last}" if last > port.base else f"port {port.base}"
    yield ClusterHit(
        rule="launch-port",
        config=landing.config,
        cluster=landing.cluster.name,
        message=f"{{rows}} have {ports}; Linux takes ports from {low} to {high} for connections of any program",
        hint=f"Choose a base below {low}, such as 20000.",
        jobs=landing.jobs,
    )


def find_shared_port(landing: Landing, runners: Runners) -> Iterator[ClusterHit]:
    """Yield rows that may share a node with another row whose server has the same port, or the next one."""
    cluster = landing.cluster
    hardware = find_hardware(landing.config.runner, runners)
    if cluster.allocation is Allocation.NONE or cluster.is_exclusive or hardware is None:
        return
    jobs = sum(place.jobs for place in landing.places if place.gpus < hardware.gpus_per_node)
    if not jobs:
        return
    port = cluster.port
    fault = (
        f"all have port {port.base}" if port.plus is None else "PORT + 1 of a row may be PORT of the next row"
    )
    yield ClusterHit(
        rule="launch-port",
        config=landing.config,
        cluster=cluster.name,
        message=f"{{rows}} take a part of a shared node with {hardware.gpus_per_node} GPUs, and {fault}",
        hint="Set exclusive: true"
        + (", or a port with plus: job." if port.plus is None else ", or use PORT alone in the scripts."),
        jobs=jobs,
    )


def find_short_time(landing: Landing, row_minutes: int) -> Iterator[ClusterHit]:
    """Yield allocations that end before the row's time is over. row_minutes: how long a row may run."""
    cluster = landing.cluster
    limit = cluster.limits.run or row_minutes
    if cluster.allocation is Allocation.NONE or (cluster.time is not None and cluster.time >= limit):
        return
    state = "no time limit" if cluster.time is None else f"an allocation of {cluster.time} minutes"
    yield ClusterHit(
        rule="launch-time",
        config=landing.config,
        cluster=cluster.name,
        message=f"{{rows}} have {state}, and may run for {limit} minutes",
        hint=f"Set time to {limit} or more, or limits.run to less.",
        jobs=landing.jobs,
    )

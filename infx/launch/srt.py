"""Steps of a multi-node row that srt-slurm runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from infx.bench.row import FixedWorkload
from infx.errors import InfxError
from infx.launch.cluster import DEFAULT_SECRETS, ImportPlace
from infx.launch.image import make_import
from infx.launch.model_path import NAME as MODEL_PATH
from infx.launch.slurm import JOB_PREFIX
from infx.launch.srt_cluster import SrtCluster, SrtRule
from infx.launch.srt_scripts import CHECK, COLLECT, INSTALL, OVERLAY, SUBMIT, WAIT, WRITE
from infx.launch.steps import Driver, ImageImport, Launch, PathChoice, PortForm, Step, StepName
from infx.launch.texts import LaunchTask, Texts, find_squash, make_recipe_texts, name_image

_ROOT = "{workspace}/srt-slurm"
_OWN_RECIPES = "{workspace}/benchmarks/multi_node/srt-slurm-recipes"
_SHORT, _LONG = 600, 1800  # seconds
_NODE_IMPORT = ("srun", "--exclusive", "--time=180")
_PORT = PortForm(base=8888)
_QUEUE_MINUTES = 120
_RECIPE = re.compile(r"(?![/-])(?!(.*/)?\.\.(/|$))[A-Za-z0-9._/+=-]+")


def render_srt(task: LaunchTask, cluster: SrtCluster) -> Launch:
    """Return the launch of a multi-node row. Raises InfxError if the row names no recipe inside srt-slurm."""
    texts = make_recipe_texts(task)
    recipe = _find_recipe(task)
    rule = cluster.rule
    return Launch(
        cluster=cluster.name,
        driver=Driver.SLURM,
        job_name=JOB_PREFIX + "{runner}",
        labels={},
        secrets=DEFAULT_SECRETS,
        row_names=None,
        choices=(_choose_model(rule),),
        port=_PORT,
        checkout="{workspace}",
        steps=tuple(_render_steps(task, cluster, texts, recipe)),
    )


def _find_recipe(task: LaunchTask) -> str:
    for name in ("CONFIG_FILE", "SRT_RECIPE"):
        if path := task.environment.get(name):
            if not _RECIPE.fullmatch(path):  # the recipe is edited outside of a container
                raise InfxError(f"Row {task.id}: {name} is {path!r}; expected a path inside srt-slurm.")
            return path
    raise InfxError(
        f"Row {task.id} names no recipe of srt-slurm.",
        hint="Set srt-recipe in the configuration, or CONFIG_FILE in additional-settings.",
    )


def _choose_model(rule: SrtRule) -> PathChoice:
    """Return the model's path: the only one, or the first that exists, or else the last."""
    *candidates, last = rule.models
    return PathChoice(name=MODEL_PATH, paths=tuple(candidates), otherwise=last)


def _render_steps(task: LaunchTask, cluster: SrtCluster, texts: Texts, recipe: str) -> Iterator[Step]:
    rule = cluster.rule
    minutes = min(task.minutes, 60 * cluster.hours + _QUEUE_MINUTES)
    yield _plain(StepName.FETCH, ("git", "clone", rule.url, _ROOT))
    yield _plain(StepName.CHECKOUT, ("git", "-C", _ROOT, "checkout", rule.ref))
    folders = ("",) if cluster.recipe.get("copy-ours") else rule.overlay
    if folders:
        yield _script(StepName.OVERLAY, OVERLAY, _OWN_RECIPES, f"{_ROOT}/recipes", *folders)
    yield _script(StepName.INSTALL, INSTALL, _ROOT, seconds=_LONG)
    yield from _render_images(cluster, texts)
    settings = json.dumps(render_settings(cluster, texts), indent=2)  # JSON is YAML
    yield _script(StepName.CONFIGURE, WRITE, f"{_ROOT}/srtslurm.yaml", settings)
    edits = json.dumps(render_edits(cluster))
    source = files("infx.rowfile").joinpath("recipe_edit.py").read_text("utf-8")
    argv = ("python3", "-I", "-c", source, f"{_ROOT}/{recipe}", edits)
    yield _plain(StepName.EDIT_RECIPE, argv)
    yield Step(
        name=StepName.SUBMIT,
        argv=("bash", "-c", SUBMIT, "submit", _ROOT, *_list_options(task, cluster, recipe)),
        environment={
            "INFMAX_WORKSPACE": "{workspace}",
            "MODEL_PATH": f"{{{MODEL_PATH}}}",
            "SERVED_MODEL_NAME": rule.served or task.row.recipe.model,
        },
        seconds=_LONG,
        grants_job=True,
        release=("scancel", "{job}"),
    )
    log = f"{_ROOT}/outputs/{{job}}/logs/sweep_{{job}}.log"
    yield _script(StepName.RUN, WAIT, "{job}", log, seconds=60 * minutes)
    stem = task.environment.get("RESULT_FILENAME", task.id)
    collect = (f"{_ROOT}/outputs/{{job}}", "{workspace}", stem)
    yield _script(StepName.COLLECT, COLLECT, *collect, is_always_run=True)


def _plain(name: StepName, argv: tuple[str, ...]) -> Step:
    return Step(name=name, argv=argv, environment={}, seconds=_SHORT)


def _script(
    name: StepName, script: str, *arguments: str, seconds: int = _SHORT, is_always_run: bool = False
) -> Step:
    argv = ("bash", "-c", script, name.value, *arguments)
    return Step(name=name, argv=argv, environment={}, seconds=seconds, is_always_run=is_always_run)


def _list_options(task: LaunchTask, cluster: SrtCluster, recipe: str) -> Iterator[str]:
    yield from ("srtctl", "apply", "-f", recipe, "--tags", ",".join(list_tags(task, cluster)))
    if not cluster.rule.has_preflight:
        yield "--no-preflight"


def list_tags(task: LaunchTask, cluster: SrtCluster) -> Iterator[str]:
    """Yield the tags of a row's job."""
    workload = task.row.recipe.workload
    if isinstance(workload, FixedWorkload):
        size = f"{workload.isl}x{workload.osl}"
    else:
        size = cluster.agentic_tag or "0x0"
    values = {
        "sku": cluster.sku,
        "model-prefix": task.row.recipe.model_prefix,
        "precision": task.row.recipe.precision,
        "workload": size,
    }
    yield from (values.get(tag, tag) for tag in cluster.tags)
    yield "infmax-{date}"


def render_edits(cluster: SrtCluster) -> dict[str, Any]:
    """Return the edits of the recipe; see `infx.rowfile.recipe_edit`."""
    kept = ("set", "health_check", "after-line")
    return {
        "name": JOB_PREFIX + "{runner}",
        **{key: cluster.recipe[key] for key in kept if key in cluster.recipe},
    }


def render_settings(cluster: SrtCluster, texts: Texts) -> dict[str, Any]:
    """Return the content of srtslurm.yaml."""
    rule = cluster.rule
    squash, model = find_squash(texts.values["image"], rule.squash, texts), f"{{{MODEL_PATH}}}"
    names = (rule.alias, *((texts.fill(cluster.second_alias),) if cluster.second_alias else ()))
    containers = dict.fromkeys((*cluster.aliases, texts.fill(rule.image_name)), squash)
    settings = {
        "default_account": cluster.account,
        "default_partition": cluster.partition,
        "default_time_limit": cluster.time_limit,
        "gpus_per_node": cluster.gpus_per_node,
        "network_interface": cluster.network_interface,
        "srtctl_root": _ROOT,
        "model_paths": dict.fromkeys(names, model),
        "containers": {**containers, "nginx-sqsh": find_nginx(cluster)},
        **cluster.directives,
    }
    return {**settings, "default_mounts": dict(cluster.mounts)} if cluster.mounts else settings


def find_nginx(cluster: SrtCluster) -> str:
    """Return the squash file of nginx, which distributes requests."""
    if cluster.nginx_file is not None:
        return cluster.nginx_file
    return Texts(values=name_image(cluster.nginx)).fill(cluster.rule.squash)


def _render_images(cluster: SrtCluster, texts: Texts) -> Iterator[Step]:
    """Yield the imports of the row's image and of nginx, or a check that they are there."""
    rule = cluster.rule
    images = {
        find_squash(texts.values["image"], rule.squash, texts): texts.values["image"],
        find_nginx(cluster): cluster.nginx,
    }
    if rule.place is ImportPlace.PRE_STAGED:
        yield _script(StepName.CHECK_IMAGES, CHECK, *images)
        return
    is_on_node = rule.place is ImportPlace.NODE
    where = (*_NODE_IMPORT, f"--partition={cluster.partition}", f"--account={cluster.account}")
    for file, image in images.items():
        if file == image:
            continue
        facts = ImageImport(
            file=file,
            address=f"docker://{image}",
            is_on_node=is_on_node,
            lock_seconds=cluster.lock_timeout,
        )
        yield make_import(facts, where, _no_variables(), minutes=120)


def _no_variables() -> Mapping[str, str]:
    return {}

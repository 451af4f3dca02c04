"""Rules about the scripts and recipes that rows use, where they are in the checkout."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infx.bench.config import AgenticScenario, Config, SpecDecoding
from infx.errors import Level
from infx.launch.cluster import Cluster
from infx.launch.texts import Texts
from infx.matrix.checkout import FOLDER, RECIPES, SINGLE_NODE, UPSTREAM_RECIPES, Checkout
from infx.matrix.landing import Landing, SearchPlace, list_places
from infx.matrix.launch_hits import ConfigHit
from infx.matrix.row_rules import RECIPE_SETTINGS, iterate_settings
from infx.phrases import join_words
from infx.rules import Path


def find_missing_script(landing: Landing, checkout: Checkout) -> Iterator[ConfigHit]:
    """Yield rows for which the cluster finds no script."""
    for place in landing.places:
        names = list_scripts(landing.config, place, landing.cluster)
        if not checkout.paths.isdisjoint(names) or not all(map(_is_read, names)):
            continue
        yield ConfigHit(
            rule="launch-script",
            config=landing.config,
            at=(landing.config.key,),
            message=f"no script runs the rows: there is no {join_words(names, 'or')}",
            hint="Add the script, or remove the rows.",
            jobs=place.jobs,
            cluster=landing.cluster.name,
            level=Level.ERROR,
        )


def _is_read(name: str) -> bool:
    """Return whether a checkout's paths tell if there is this script: another folder or the machine may have it."""
    return name.startswith(f"{FOLDER}/") and "{" not in name


def list_scripts(config: Config, place: SearchPlace, cluster: Cluster) -> list[str]:
    """Return the paths of the scripts that a cluster tries for a row, in order."""
    kind = "agentic" if isinstance(place.scenario, AgenticScenario) else "fixed_seq_len"
    texts = Texts(
        values={
            "dir": f"{SINGLE_NODE}/{kind}",
            "code": config.model_prefix.partition("_")[0],
            "model-prefix": config.model_prefix,
            "precision": config.precision,
            "framework": config.framework,
            "spec": "_mtp" if place.row.spec_decoding is SpecDecoding.MTP else "",
            "gpu": cluster.gpu,
            "tag": cluster.tags.get(config.framework, ""),
        }
    )
    return list(dict.fromkeys(map(texts.fill, cluster.scripts)))


def choose_script(landing: Landing, place: SearchPlace, checkout: Checkout) -> str | None:
    """Return the script that a row runs on a cluster, or None."""
    names = list_scripts(landing.config, place, landing.cluster)
    return next((name for name in names if name in checkout.paths), None)


def find_missing_recipe(config: Config, checkout: Checkout) -> Iterator[ConfigHit]:
    """Yield recipes that are not in the checkout, though it has their folder."""
    for place in list_places(config):
        for at, path in _iterate_recipes(config, place):
            fault = _judge_recipe(path, checkout)
            if fault is not None:
                message, level = fault
                yield ConfigHit(
                    rule="launch-recipe",
                    config=config,
                    at=(*place.at, *at),
                    message=message,
                    hint="Correct the path, or add the recipe.",
                    jobs=place.jobs,
                    level=level,
                )


def _iterate_recipes(config: Config, place: SearchPlace) -> Iterator[tuple[Path, str]]:
    """Yield the path from the row to each recipe's name, and the recipe's path without its selector."""
    for at, name, value in iterate_settings(place.row):
        if name in RECIPE_SETTINGS:
            yield at, value.partition(":")[0]
    folder = f"{config.srt_recipe_dir.rstrip('/')}/" if config.srt_recipe_dir else ""
    for key, recipe in (("srt-recipe", place.row.srt_recipe), ("eval-srt-recipe", place.row.eval_srt_recipe)):
        if recipe is not None:
            yield (key,), folder + recipe.partition(":")[0]


def _judge_recipe(path: str, checkout: Checkout) -> tuple[str, Level] | None:
    own = f"{RECIPES}/{path.removeprefix(UPSTREAM_RECIPES)}" if path.startswith(UPSTREAM_RECIPES) else path
    if path in checkout.paths or own in checkout.paths:
        return None
    if own == path:
        return (f"there is no {path}", Level.ERROR) if path.startswith(f"{RECIPES}/") else None
    if own.rpartition("/")[0] not in checkout.folders:
        return None  # the pinned revision of srt-slurm has the whole folder
    return f"there is no {own}, so the pinned revision of srt-slurm must have {path}", Level.WARNING


def find_other_router(landing: Landing, checkout: Checkout) -> Iterator[ConfigHit]:
    """Yield rows whose script installs another version of the router than the row names."""
    for place in landing.places:
        router = place.row.router or landing.config.router
        script = choose_script(landing, place, checkout)
        if router is None or router.version is None or script is None:
            continue
        pins = find_pins(router.name, checkout.scripts.get(script, ""))
        if pins and _trim(router.version) not in map(_trim, pins):
            at = (*place.at, "router") if place.row.router else (landing.config.key, "router")
            yield ConfigHit(
                rule="launch-router",
                config=landing.config,
                at=(*at, "version"),
                message=f"{script} installs {router.name} {join_words(pins)}; the row says {router.version}",
                hint="Use one version in both places.",
                jobs=place.jobs,
                cluster=landing.cluster.name,
            )


def _trim(version: str) -> str:
    return version.removeprefix("v")


def find_pins(package: str, script: str) -> list[str]:
    """Return the versions of a package that a script installs; those of a variable by its assignment or default."""
    name = "[-_.]".join(map(re.escape, re.split(r"[-_.]", package)))
    pins: dict[str, None] = {}
    for match in re.finditer(rf"(?<![\w.-]){name}==[\"']?([\w.+!${{}}:-]+)", script):
        if version := _resolve(match[1], script):
            pins[version] = None
    return list(pins)


def _resolve(text: str, script: str) -> str | None:
    variable = re.fullmatch(r"\$(?:(\w+)|\{(\w+)(?::?-([\w.+!-]+))?\})", text)
    if variable is None:
        return None if "$" in text else text.strip("{}")
    name = variable[1] or variable[2]
    assigned = re.search(
        rf"(?m)^[ \t]*(?:export[ \t]+)?{name}=[\"']?([\w.+!-]+)[\"']?[ \t]*(?:$|#|;)", script
    )
    return assigned[1] if assigned else variable[3]

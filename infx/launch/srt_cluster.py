"""A cluster on which srt-slurm runs multi-node rows, as a row sees it: typed, with defaults and its rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from infx import schema, yaml12
from infx.bench.row import Recipe
from infx.errors import InfxError, ProblemsError
from infx.launch.cluster import ImportPlace
from infx.launch.merging import Fields, is_met, merge_fields
from infx.records import record

CONDITIONS = ("framework", "model-prefix", "precision", "spec-decoding", "scenario")


@record
class SrtRule:
    """Where a cluster has what a row needs.

    Attributes:
        models: candidates for the model's folder.
        alias: the model's name in recipes.
        served: the name that the server gives the model; None: the row's model.
        image_name: the image's name in recipes.
        overlay: folders of the repository's own recipes.
    """

    models: tuple[str, ...]
    alias: str
    served: str | None
    squash: str
    image_name: str
    url: str
    ref: str
    overlay: tuple[str, ...]
    has_preflight: bool
    place: ImportPlace


@record
class SrtCluster:
    """How srt-slurm runs a row on a cluster.

    Attributes:
        aliases: other names of the image in recipes.
        second_alias: a second name of the model in recipes.
        recipe: edits of the recipe; see `infx.rowfile.recipe_edit`.
        agentic_tag: the workload's tag of AgentX rows.
    """

    name: str
    sku: str
    account: str
    partition: str
    time_limit: str
    gpus_per_node: int
    network_interface: str
    aliases: tuple[str, ...]
    directives: Mapping[str, bool]
    mounts: Mapping[str, str]
    second_alias: str | None
    nginx: str
    nginx_file: str | None
    lock_timeout: int
    recipe: Mapping[str, Any]
    tags: tuple[str, ...]
    agentic_tag: str | None
    rule: SrtRule

    @property
    def hours(self) -> int:
        """Return the time limit in hours, rounded up."""
        hours, minutes, seconds = (int(part) for part in self.time_limit.split(":"))
        return hours + bool(minutes or seconds)


@record
class SrtClusters:
    """The clusters of a file, with the defaults below them."""

    fields: Mapping[str, Fields]
    path: str

    def resolve(self, name: str, recipe: Recipe) -> SrtCluster:
        """Return a cluster as a row sees it.

        name: of the cluster, as runners are named. Raises InfxError if srt-slurm does not run the row there.
        """
        fields = self.fields.get(name)
        if fields is None:
            raise InfxError(
                f'srt-slurm runs no rows on the cluster "{name}"; expected it under clusters.',
                hint="Describe the cluster, or choose another runner.",
                where=self.path,
            )
        facts = {
            "framework": recipe.framework,
            "model-prefix": recipe.model_prefix,
            "precision": recipe.precision,
            "spec-decoding": recipe.spec_decoding.value,
            "scenario": "agentic" if recipe.is_agentic else "fixed",
        }
        if (rule := _find_rule(fields, facts)) is not None:
            return _build(name, fields, rule, is_agentic=recipe.is_agentic)
        described = ", ".join(f"{key} {value}" for key, value in facts.items())
        raise InfxError(
            f'No rule of the cluster "{name}" fits the row; expected one for {described}.',
            hint="Add a rule with the places of the model and of the image.",
            where=self.path,
        )

    def find_import(self, name: str, facts: Fields) -> ImportPlace | None:
        """Return where a cluster imports the image of a row; None if srt-slurm does not run the row there.

        facts: the values of CONDITIONS.
        """
        fields = self.fields.get(name)
        rule = _find_rule(fields, facts) if fields is not None else None
        return None if fields is None or rule is None else _read_place(fields, rule)


def _find_rule(fields: Fields, facts: Fields) -> Fields | None:
    """Return the first rule of a cluster that a row fits."""
    rules: list[Fields] = fields["rules"]
    for rule in rules:
        if is_met({key: rule[key] for key in CONDITIONS if key in rule}, facts):
            return rule
    return None


def _read_place(fields: Fields, rule: Fields) -> ImportPlace:
    return ImportPlace(rule.get("import", fields.get("image", {}).get("import", "pre-staged")))


def load_srt_clusters(data: bytes, path: str) -> SrtClusters:
    """Parse a file of srt-slurm clusters. Raises ProblemsError."""
    document = yaml12.load_mapping(data, path)
    if problems := schema.check("srt", document):
        raise ProblemsError(problems)
    defaults = document.value.get("defaults", {})
    fields = {name: merge_fields(defaults, own) for name, own in document.value["clusters"].items()}
    lacking = [
        f"{name}: {key}"
        for name, merged in fields.items()
        for key in ("sku", "account", "partition", "rules", "tool", "time-limit", "gpus-per-node")
        if key not in merged
    ]
    if lacking:
        raise InfxError(
            f"Fields of clusters are missing: {', '.join(lacking)}.",
            hint="Add them to the clusters or to defaults.",
            where=path,
        )
    return SrtClusters(fields=fields, path=path)


def _build(name: str, fields: Fields, rule: Fields, *, is_agentic: bool) -> SrtCluster:
    image = fields.get("image", {})
    return SrtCluster(
        name=name,
        sku=fields["sku"],
        account=fields["account"],
        partition=fields["partition"],
        time_limit=fields["time-limit"],
        gpus_per_node=fields["gpus-per-node"],
        network_interface=fields.get("network-interface", ""),
        aliases=tuple(fields.get("aliases", ())),
        directives=fields.get("directives", {}),
        mounts={**fields.get("mounts", {}), **(fields.get("agentic-mounts", {}) if is_agentic else {})},
        second_alias=fields.get("alias-too"),
        nginx=fields.get("nginx", "nginx:1.27.4"),
        nginx_file=image.get("nginx"),
        lock_timeout=image.get("lock-timeout", 600),
        recipe=fields.get("recipe", {}),
        tags=tuple(fields.get("tags", ())),
        agentic_tag=fields.get("workload", {}).get("agentic"),
        rule=_build_rule(fields, rule),
    )


def _build_rule(fields: Fields, rule: Fields) -> SrtRule:
    image, model = fields.get("image", {}), rule["model"]
    return SrtRule(
        models=(model,) if isinstance(model, str) else tuple(model),
        alias=rule["alias"],
        served=rule.get("served"),
        squash=rule.get("squash", image.get("squash", "")),
        image_name=rule.get("key", "{image}"),
        url=rule.get("url", fields["tool"]["url"]),
        ref=rule["ref"],
        overlay=tuple(rule.get("overlay", ())),
        has_preflight=rule.get("preflight", True),
        place=_read_place(fields, rule),
    )

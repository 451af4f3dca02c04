"""Fill the placeholders of a cluster that a row and its cluster decide; the machine fills the others.

The machine's placeholders are in `infx.rowfile.launch_values`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from infx.bench.config import Parallelism, SpecDecoding
from infx.bench.row import Recipe, Row
from infx.errors import InfxError
from infx.launch.cluster import Cluster
from infx.records import record
from infx.rowfile.launch_values import NAMES as MACHINE_NAMES

DEFAULT_HF_HUB_CACHE = "/mnt/hf_hub_cache/"  # in the container
_PLACEHOLDER = re.compile(r"\{([a-z-]+)\}")
_SAFE = re.compile(r"[A-Za-z0-9._+@:/#=~-]+")  # no blanks, commas, quotes and braces
_NVCR = re.compile(r"^nvcr\.io[/#]")

ROW_NAMES = (
    "row", "image", "image-with-slash", "image-with-hash", "key", "key-plus", "key-plus-without-nvcr", "model",
    "model-prefix", "precision", "framework", "code", "spec", "tag", "dir", "gpus", "gpu-list", "gpu", "hf", "hf-cache",
    "aiperf-cache", "squash",
)  # fmt: skip
ALL_NAMES = frozenset((*ROW_NAMES, *MACHINE_NAMES))


@record
class LaunchTask:
    """A row that a machine runs.

    Attributes:
        environment: the row's variables.
        gathered: patterns of the files that are the row's results.
        minutes: how long the row may run.
    """

    id: str
    row: Row
    environment: Mapping[str, str]
    gathered: tuple[str, ...]
    minutes: int

    @property
    def gpus(self) -> int:
        """Return the GPUs of a single-node row. Raises InfxError for other rows."""
        layout = self.row.recipe.layout
        if not isinstance(layout, Parallelism):
            raise InfxError(f"Row {self.id} runs on several nodes; expected a row on one node.")
        return layout.gpus


@record
class Texts:
    """The values of a row's placeholders on a cluster."""

    values: Mapping[str, str]

    def fill(self, text: str) -> str:
        """Return the text without a row's placeholders. A value is not read again."""
        return _PLACEHOLDER.sub(lambda match: self.values.get(match[1], match[0]), text)

    def fill_map(self, texts: Mapping[str, str]) -> dict[str, str]:
        return {name: self.fill(text) for name, text in texts.items()}


def find_names(text: str) -> set[str]:
    """Return the names of placeholders in a text."""
    return set(_PLACEHOLDER.findall(text))


def make_texts(task: LaunchTask, cluster: Cluster) -> Texts:
    """Return a row's values on a cluster. Raises InfxError if a value is not safe in an argument of a process."""
    recipe = task.row.recipe
    values = {
        **make_recipe_texts(task).values,
        **_describe_layout(recipe),
        "tag": cluster.tags.get(recipe.framework, ""),
        "gpu": cluster.gpu,
        "hf-cache": cluster.hf_cache or "",
        "aiperf-cache": cluster.aiperf_cache or "",
    }
    squash = find_squash(recipe.image, cluster.image.squash, Texts(values=values))
    return Texts(values={**values, "squash": squash})


def make_recipe_texts(task: LaunchTask) -> Texts:
    """Return a row's values that no cluster changes. Raises InfxError as `make_texts`."""
    recipe = task.row.recipe
    values = {
        "row": task.id,
        "model": recipe.model,
        "model-prefix": recipe.model_prefix,
        "precision": recipe.precision,
        "framework": recipe.framework,
        "code": task.row.exp_name.partition("_")[0],
        "dir": f"benchmarks/single_node/{task.environment.get('SCENARIO_SUBDIR', '').strip('/')}",
        "hf": task.environment.get("HF_HUB_CACHE") or DEFAULT_HF_HUB_CACHE,
        **name_image(recipe.image),
    }
    for name, text in values.items():
        if not _SAFE.fullmatch(text) or (name == "hf" and ":" in text):
            raise InfxError(
                f"Row {task.id} cannot be launched: {name} is {text!r}; expected letters, digits and ._+@:/#=~- only."
            )
    return Texts(values={**values, "spec": "_mtp" if recipe.spec_decoding is SpecDecoding.MTP else ""})


def find_squash(image: str, template: str | None, texts: Texts) -> str:
    """Return the squash file of an image; an image may itself be the path of one."""
    return image if is_file(image) else texts.fill(template or "")


def is_file(image: str) -> bool:
    """Return whether an image is the path of a squash file, which is not imported."""
    return image.startswith("/")


def name_image(image: str) -> dict[str, str]:
    """Return the spellings of an image: as an importer reads it, and as the name of a file."""
    return {
        "image": image,
        "image-with-slash": image.replace("#", "/"),
        "image-with-hash": _NVCR.sub("nvcr.io#", image),
        "key": re.sub("[/:@#]", "_", image),
        "key-plus": re.sub("[/:@#]", "+", image),
        "key-plus-without-nvcr": re.sub("[/:@#]", "+", _NVCR.sub("", image)),
    }


def _describe_layout(recipe: Recipe) -> dict[str, str]:
    """Return the number and the list of GPUs of a single-node row."""
    if not isinstance(recipe.layout, Parallelism):
        return {}
    gpus = recipe.layout.gpus
    return {"gpus": str(gpus), "gpu-list": ",".join(map(str, range(gpus)))}

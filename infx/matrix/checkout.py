"""The scripts and recipes of a checkout, as far as `infx config check` needs them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from infx.records import record

FOLDER = "benchmarks"
SINGLE_NODE = f"{FOLDER}/single_node"
RECIPES = f"{FOLDER}/multi_node/srt-slurm-recipes"  # copied over the folder `recipes` of srt-slurm
UPSTREAM_RECIPES = "recipes/"


@record
class Checkout:
    """Files below `FOLDER`, by path from the top of the repository.

    Attributes:
        paths: of all files.
        scripts: texts of the single-node scripts, by path.
    """

    paths: frozenset[str]
    scripts: Mapping[str, str]

    @cached_property
    def folders(self) -> frozenset[str]:
        """The folders that directly hold a file."""
        return frozenset(path.rpartition("/")[0] for path in self.paths)

    @property
    def has_scripts(self) -> bool:
        return any(path.startswith(f"{SINGLE_NODE}/") for path in self.paths)

    @property
    def has_recipes(self) -> bool:
        return any(path.startswith(f"{RECIPES}/") for path in self.paths)

"""Decide where a cluster has the weights of a row."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Protocol

from infx.launch.cluster import ModelTable, PathSearch
from infx.launch.steps import PathChoice

NAME = "model-path"


class ServedModel(Protocol):
    """The model of a row, or of a configuration."""

    @property
    def model(self) -> str: ...
    @property
    def model_prefix(self) -> str: ...
    @property
    def precision(self) -> str: ...


def decide_model_path(served: ServedModel, table: ModelTable) -> PathChoice | None:
    """Return the path of a row's model, or its candidates; None if the cluster does not have the model."""
    search = _find_search(served, table)
    if search is not None:
        return PathChoice(
            name=NAME,
            paths=search.candidates,
            holds=search.holds,
            otherwise=search.otherwise,
            is_created=search.is_created,
        )
    name = served.model.rpartition("/")[2]
    if name in {"", ".", ".."}:  # a folder above
        return None
    if table.staged is not None and name in table.names:
        return PathChoice(name=NAME, paths=(), otherwise=f"{table.staged}/{name}")
    if table.otherwise is not None:
        return PathChoice(name=NAME, paths=(), otherwise=f"{table.otherwise}/{name}")
    return None


def _find_search(served: ServedModel, table: ModelTable) -> PathSearch | None:
    """Return the entry of a row's prefix and precision; an entry with a pattern of the model wins."""
    key = f"{served.model_prefix}/{served.precision}"
    for entry, search in table.paths.items():
        if entry.startswith(f"{key}/") and fnmatchcase(served.model, entry.removeprefix(f"{key}/")):
            return search
    return table.paths.get(key)

"""Select the configurations that a command uses, and their runners."""

from __future__ import annotations

from collections.abc import Iterable

from infx.bench.config import Config, Runners
from infx.errors import Problem, ProblemsError
from infx.matrix.inventory import UNKNOWN_RUNNER, suggest_label
from infx.records import record


@record
class Filter:
    """The configurations and runners that the options select; an empty tuple selects all."""

    key_prefixes: tuple[str, ...] = ()  # start of a configuration's key
    precisions: tuple[str, ...] = ()
    frameworks: tuple[str, ...] = ()
    runner_labels: tuple[str, ...] = ()  # exact labels
    single_node: bool = False  # neither this nor multi_node means both
    multi_node: bool = False
    node_part: str | None = None  # text within a runner's name

    def includes(self, config: Config) -> bool:
        return (
            (not self.key_prefixes or config.key.startswith(self.key_prefixes))
            and (not self.precisions or config.precision in self.precisions)
            and (not self.frameworks or config.framework in self.frameworks)
            and (not self.runner_labels or config.runner in self.runner_labels)
            and (self.multi_node if config.multinode else self.single_node)
            | (self.single_node is self.multi_node)
        )


def select_configs(configs: Iterable[Config], wanted: Filter, inventory: Runners) -> list[Config]:
    """Return the selected configurations. Raises ProblemsError for an unknown runner label."""
    unknown = [label for label in wanted.runner_labels if label not in inventory.labels]
    if unknown:
        raise ProblemsError(
            Problem(
                rule=UNKNOWN_RUNNER,
                message=f"{inventory.path} has no runner label {label!r}.",
                hint=suggest_label(label, inventory),
            )
            for label in unknown
        )
    return [config for config in configs if wanted.includes(config)]


def select_nodes(label: str, inventory: Runners, part: str | None) -> list[str] | None:
    """Return the label's runners whose name contains `part`, in the file's order; None without `part`."""
    if part is None:
        return None
    return [name for name in inventory.labels.get(label, ()) if part in name]


def select_label_or_nodes(label: str, inventory: Runners, part: str | None) -> list[str] | None:
    """Return the label or its runners whose name contains `part`, each once; None without `part`."""
    if part is None:
        return None
    names = dict.fromkeys((label, *inventory.labels.get(label, ())))
    return [name for name in names if part in name]

"""Parse a clusters file, and find the cluster of a runner and of a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import cached_property

from infx import schema, yaml12
from infx.bench.row import Row, render_row
from infx.errors import InfxError, Problem, ProblemsError, has_errors, suggest
from infx.launch.cluster import Cluster, build_cluster
from infx.launch.cluster_rules import check_cluster, check_clusters_file
from infx.launch.merging import Fields, apply_changes, resolve_fields
from infx.records import record
from infx.yaml12 import Document

SUFFIX = "-slurm"  # of runners' names, which a cluster may leave out


@record
class Clusters:
    """The clusters of a file, with the fields of their families.

    Attributes:
        fields: by name of a cluster.
        aliases: names of clusters by other names.
        lines: of the clusters in the file, by name.
    """

    fields: Mapping[str, Fields]
    aliases: Mapping[str, str]
    path: str
    lines: Mapping[str, int] = field(default_factory=dict)

    def find_name(self, runner: str) -> str | None:
        """Return the name of the cluster that a runner belongs to.

        It is the runner's name up to the first `_`, or what this is an alias of. A cluster may leave out the `-slurm`
        of its runners' names.
        """
        name = runner.partition("_")[0]
        for candidate in (name, self.aliases.get(name), name.removesuffix(SUFFIX)):
            if candidate in self.fields:
                return candidate
        return None

    def get_for_runner(self, runner: str) -> str:
        """Return the name of a runner's cluster. Raises InfxError."""
        name = self.find_name(runner)
        if name is None:
            raise InfxError(
                f'The runner "{runner}" belongs to no cluster; expected "{runner.partition("_")[0]}" under clusters.',
                hint=suggest(runner.partition("_")[0], self.fields)
                or "Describe the cluster, or add an alias.",
                where=self.path,
            )
        return name

    def resolve(self, name: str, row: Row) -> Cluster:
        """Return a cluster as a row sees it. Raises KeyError for an unknown name."""
        return build_cluster(name, apply_changes(self.fields[name], render_row(row)))

    @cached_property
    def plain(self) -> Mapping[str, Cluster]:
        """The clusters without changes for rows, by name."""
        return {name: build_cluster(name, apply_changes(fields, {})) for name, fields in self.fields.items()}


def parse_clusters(data: bytes, path: str) -> tuple[Clusters, list[Problem]]:
    """Parse a clusters file. Raises nothing.

    The result has no clusters if the file does not fit the schema, and only the usable clusters if it breaks rules.
    """
    try:
        document = yaml12.load_mapping(data, path)
    except ProblemsError as error:
        return Clusters(fields={}, aliases={}, path=path), error.problems
    if problems := schema.check("clusters", document):
        return Clusters(fields={}, aliases={}, path=path), problems
    return _build(document, path)


def load_clusters(data: bytes, path: str) -> Clusters:
    """Parse a clusters file. Raises ProblemsError if it has errors."""
    clusters, problems = parse_clusters(data, path)
    if has_errors(problems):
        raise ProblemsError(problems)
    return clusters


def _build(document: Document, path: str) -> tuple[Clusters, list[Problem]]:
    value = document.value
    problems = [schema.state_problem(finding, document) for finding in check_clusters_file(value)]
    if has_errors(problems):
        return Clusters(fields={}, aliases={}, path=path), problems
    families, defaults = value.get("families", {}), value.get("defaults", {})
    fields = {name: resolve_fields(own, families, defaults) for name, own in value["clusters"].items()}
    usable = {}
    for name, merged in fields.items():
        found = [schema.state_problem(finding, document) for finding in check_cluster(name, merged)]
        problems += found
        if not has_errors(found):
            usable[name] = merged
    lines = {name: document.line("clusters", name) for name in usable}
    return Clusters(fields=usable, aliases=value.get("aliases", {}), path=path, lines=lines), problems

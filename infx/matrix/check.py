"""Check configurations and the files next to them, and report all problems at once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from infx.bench.config import Config
from infx.bench.names import scenarios_of, spell_scenario
from infx.errors import Level, Problem, has_errors
from infx.launch.clusters import Clusters, parse_clusters
from infx.launch.srt_cluster import load_srt_clusters
from infx.matrix.acceptance import AcceptanceCell, list_cells
from infx.matrix.checkout import Checkout
from infx.matrix.image import find_moving_tag
from infx.matrix.inventory import check_inventory
from infx.matrix.landing import list_places
from infx.matrix.launch_check import LaunchInputs, check_launches
from infx.matrix.overlap import OVERLAP_RULES, check_overlaps
from infx.matrix.parse import MasterFile, find_repeated_keys, parse_master
from infx.matrix.rules import state_problem
from infx.matrix.runners import Inventory, parse_inventory
from infx.matrix.silences import Silenced, check_silences, is_silenced
from infx.matrix.tables import (
    check_models,
    check_priorities,
    check_thresholds,
    find_repeated_models,
    parse_golden_lengths,
)
from infx.policy.model import Policy
from infx.records import record
from infx.rules import Finding, Path
from infx.yaml12 import Document


@record
class File:
    """A file of the repository, as bytes."""

    path: str  # as problems show it
    data: bytes


@record
class Files:
    """The files of a repository; None for a runner inventory or table that it does not have."""

    masters: tuple[File, ...]
    runners: File | None = None
    clusters: File | None = None
    models: File | None = None
    thresholds: File | None = None
    priorities: File | None = None
    golden_lengths: tuple[File, ...] = ()
    srt: File | None = None
    checkout: Checkout | None = None


@record
class ConfigSummary:
    """A configuration in one line; a broken configuration shows the values of its text."""

    key: str
    path: str
    line: int
    model: str
    model_prefix: str
    runner: str
    framework: str
    precision: str
    scenarios: tuple[str, ...]  # 8k1k, agentic-coding, …
    rows: int | None  # jobs of a full sweep; None if they cannot be counted
    errors: int
    warnings: int


@record
class ConfigReport:
    configs: tuple[ConfigSummary, ...]
    problems: tuple[Problem, ...]


def check_files(files: Files, policy: Policy) -> ConfigReport:
    """Return a summary of every configuration and all problems. Raises ProblemsError for a broken srt-slurm file."""
    masters = [parse_master(file.data, file.path) for file in files.masters]
    configs = tuple(config for master in masters for config in master.configs.values())
    documents = {master.path: master.document for master in masters if master.document is not None}
    problems = [problem for master in masters for problem in master.problems]
    problems += find_repeated_keys(masters)
    inventory, inventory_problems = _check_runners(files.runners, configs, documents)
    problems += inventory_problems
    problems += _check_tables(files, policy.labels.names)
    lengths, length_problems = _check_lengths(files.golden_lengths)
    problems += length_problems
    clusters, cluster_problems = _check_clusters(files.clusters)
    problems += cluster_problems
    inputs = LaunchInputs(
        configs=configs,
        documents=documents,
        policy=policy,
        runners=inventory.runners if inventory else None,
        runners_document=inventory.document if inventory else None,
        clusters=clusters,
        has_all_clusters=not has_errors(cluster_problems),
        srt=load_srt_clusters(files.srt.data, files.srt.path) if files.srt else None,
        checkout=files.checkout,
        lengths=lengths,
    )
    problems += _judge_rows(inputs)
    summaries = [summary for master in masters for summary in _summarize(master, problems)]
    return ConfigReport(configs=tuple(summaries), problems=tuple(problems))


def _judge_rows(inputs: LaunchInputs) -> Iterator[Problem]:
    """Yield the problems of rules that a configuration can silence, and of its silenced rules."""
    used: set[Silenced] = set()
    found = chain(_find_moving_images(inputs.configs), _find_overlaps(inputs.configs))
    kept = [(config, finding) for config, finding in found if not is_silenced(config, finding.rule, used)]
    yield from check_launches(inputs, used)
    checked = {*inputs.checked, "image-moves", *OVERLAP_RULES}
    for config, finding in (*kept, *check_silences(inputs.configs, used, checked)):
        yield state_problem(finding, inputs.documents[config.path])


def _check_runners(
    file: File | None, configs: Sequence[Config], documents: Mapping[str, Document]
) -> tuple[Inventory | None, list[Problem]]:
    if file is None:
        return None, []
    inventory = parse_inventory(file.data, file.path)
    problems = list(inventory.problems)
    if (
        problems and not inventory.runners.labels
    ):  # the file is broken; every label would be reported as unknown
        return None, problems
    for config in configs:
        findings = check_inventory(config, inventory.runners)
        problems += [state_problem(finding, documents[config.path]) for finding in findings]
    return inventory, problems


def _check_clusters(file: File | None) -> tuple[Clusters | None, list[Problem]]:
    if file is None:
        return None, []
    clusters, problems = parse_clusters(file.data, file.path)
    return (clusters if clusters.fields else None), problems


def _check_lengths(files: Sequence[File]) -> tuple[tuple[AcceptanceCell, ...] | None, list[Problem]]:
    parsed = [parse_golden_lengths(file.data, file.path) for file in files]
    documents = [document for document, _ in parsed if document is not None]
    problems = [problem for _, found in parsed for problem in found]
    problems += find_repeated_models(documents)
    cells = tuple(cell for document in documents for cell in list_cells(document.value, document.path))
    return (cells or None), problems


def _check_tables(files: Files, known_labels: Collection[str]) -> Iterator[Problem]:
    if files.models:
        yield from check_models(files.models.data, files.models.path)
    if files.thresholds:
        yield from check_thresholds(files.thresholds.data, files.thresholds.path)
    if files.priorities:
        yield from check_priorities(files.priorities.data, files.priorities.path, known_labels)


def _find_moving_images(configs: Iterable[Config]) -> Iterator[tuple[Config, Finding[Path]]]:
    """Yield a warning for each image whose tag may later point to another image."""
    for config in configs:
        if reason := find_moving_tag(config.image):
            yield (
                config,
                Finding(
                    rule="image-moves",
                    at=(config.key, "image"),
                    message=f'found "{config.image}"; {reason}, so its results cannot be reproduced',
                    hint="Name a release, or add its digest (@sha256:…).",
                    level=Level.WARNING,
                ),
            )


def _find_overlaps(configs: Sequence[Config]) -> Iterator[tuple[Config, Finding[Path]]]:
    first = {config.key: config for config in reversed(configs)}
    # A repeated key is reported as a problem of its own.
    yield from check_overlaps(config for config in configs if first[config.key] is config)


def _summarize(master: MasterFile, problems: Sequence[Problem]) -> Iterator[ConfigSummary]:
    own = [(problem.line or 0, problem.level) for problem in problems if problem.path == master.path]
    starts = list(master.lines.items())
    ends = [line for _, line in starts[1:]]
    for (key, line), end in zip(starts, (*ends, sys.maxsize), strict=False):
        levels = [level for where, level in own if line <= where < end]
        config = master.configs.get(key)
        entry = master.entries[key] if isinstance(master.entries[key], Mapping) else {}
        yield ConfigSummary(
            key=key,
            path=master.path,
            line=line,
            model=_read_text(entry, "model"),
            model_prefix=_read_text(entry, "model-prefix"),
            runner=_read_text(entry, "runner"),
            framework=_read_text(entry, "framework"),
            precision=_read_text(entry, "precision"),
            scenarios=tuple(map(spell_scenario, scenarios_of(config))) if config else (),
            rows=_count_rows(config) if config else None,
            errors=levels.count(Level.ERROR),
            warnings=levels.count(Level.WARNING),
        )


def _read_text(entry: Mapping[str, Any], key: str) -> str:
    value = entry.get(key)
    return value if isinstance(value, str) else "?"


def _count_rows(config: Config) -> int:
    """Return the number of jobs of a full sweep."""
    return sum(place.jobs for place in list_places(config))

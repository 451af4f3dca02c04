"""Check configurations and the files next to them, and report all problems at once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from infx.bench.config import Config, SearchRow
from infx.bench.names import scenarios_of, spell_scenario
from infx.errors import Level, Problem
from infx.launch.clusters import parse_clusters
from infx.matrix.concurrency import expand_all
from infx.matrix.image import find_moving_tag
from infx.matrix.inventory import check_inventory
from infx.matrix.overlap import check_overlaps
from infx.matrix.parse import MasterFile, find_repeated_keys, parse_master
from infx.matrix.rules import state_problem
from infx.matrix.runners import parse_runners
from infx.matrix.tables import check_golden_lengths, check_models, check_priorities, check_thresholds
from infx.records import record
from infx.rules import Finding


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


def check_files(files: Files, known_labels: Collection[str]) -> ConfigReport:
    """Return a summary of every configuration and all problems. Raises nothing.

    known_labels: the pull request labels that the policy names.
    """
    masters = [parse_master(file.data, file.path) for file in files.masters]
    problems = [problem for master in masters for problem in master.problems]
    problems += find_repeated_keys(masters)
    problems += _check_runners(files.runners, masters)
    problems += parse_clusters(files.clusters.data, files.clusters.path)[1] if files.clusters else []
    problems += _check_tables(files, known_labels)
    problems += _find_moving_images(masters)
    problems += _find_overlaps(masters)
    summaries = [summary for master in masters for summary in _summarize(master, problems)]
    return ConfigReport(configs=tuple(summaries), problems=tuple(problems))


def _check_runners(file: File | None, masters: Sequence[MasterFile]) -> list[Problem]:
    if file is None:
        return []
    runners, problems = parse_runners(file.data, file.path)
    if problems and not runners.labels:  # the file is broken; every label would be reported as unknown
        return problems
    for master in masters:
        if master.document is not None:
            for config in master.configs.values():
                findings = check_inventory(config, runners)
                problems += [state_problem(finding, master.document) for finding in findings]
    return problems


def _check_tables(files: Files, known_labels: Collection[str]) -> Iterator[Problem]:
    if files.models:
        yield from check_models(files.models.data, files.models.path)
    if files.thresholds:
        yield from check_thresholds(files.thresholds.data, files.thresholds.path)
    if files.priorities:
        yield from check_priorities(files.priorities.data, files.priorities.path, known_labels)
    for file in files.golden_lengths:
        yield from check_golden_lengths(file.data, file.path)


def _find_moving_images(masters: Sequence[MasterFile]) -> Iterator[Problem]:
    """Yield a warning for each image whose tag may later point to another image."""
    for master in masters:
        for config in master.configs.values():
            if master.document is not None and (reason := find_moving_tag(config.image)):
                finding = Finding(
                    rule="image-moves",
                    at=(config.key, "image"),
                    message=f'found "{config.image}"; {reason}, so its results cannot be reproduced',
                    hint="Name a release, or add its digest (@sha256:…).",
                    level=Level.WARNING,
                )
                yield state_problem(finding, master.document)


def _find_overlaps(masters: Sequence[MasterFile]) -> Iterator[Problem]:
    documents = {master.path: master.document for master in masters}
    first = {key: config for master in reversed(masters) for key, config in master.configs.items()}
    configs = [config for master in masters for config in master.configs.values()]
    # A repeated key is reported as a problem of its own.
    for config, finding in check_overlaps(config for config in configs if first[config.key] is config):
        document = documents[config.path]
        if document is not None:
            yield state_problem(finding, document)


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
    fixed = [row for scenario in config.fixed for row in scenario.search_space]
    agentic = [row for scenario in config.agentic for row in scenario.search_space]
    # A fixed multi-node row measures its whole list of concurrencies in one job.
    jobs = len(fixed) if config.multinode else _count_points(fixed)
    return jobs + _count_points(agentic)


def _count_points(rows: Sequence[SearchRow]) -> int:
    return sum(len(expand_all(row.concurrency)) for row in rows)

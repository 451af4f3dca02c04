"""Recompute the plan of a pull request from git, for every kind of sweep that may have run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from infx.bench.identity import identify_rows
from infx.bench.keys import resolve_keys
from infx.bench.row import Row
from infx.errors import InfxError
from infx.evidence.rows import FULL, SweepKind
from infx.gather.plan import Planner
from infx.gather.signoff_clone import Revisions, find_serving, may_serve
from infx.matrix.expand import expand_config
from infx.matrix.load import PlanInputs
from infx.matrix.parse import MasterFile, parse_master
from infx.phrases import count
from infx.records import record
from infx.signoff.facts import PlanVariant, RecomputedPlan
from infx.signoff.planned import ConfigChange, KnownConfig, describe_config

# Name, what the labels ask for, and whether such a sweep measures everything. A merge needs the first one.
VARIANTS: tuple[tuple[str, SweepKind, bool], ...] = (
    ("full", FULL, True),
    ("all-evals", SweepKind(all_evals=True), True),
    ("trimmed", SweepKind(trim=True), False),
    ("fast", SweepKind(fast=True), False),
    ("evals-only", SweepKind(evals_only=True), False),
)


def read_plan(revisions: Revisions) -> RecomputedPlan:
    """Return the recomputed plan; a mistake in the pull request is returned as its `problem`, not raised."""
    policy = revisions.policy
    try:
        plan = Planner(revisions.git, policy).open(revisions.fork, revisions.head)
        delta, inputs, base_inputs = plan.delta, plan.inputs, plan.base_inputs
        if not delta.entries:
            return RecomputedPlan()
        entries = tuple(
            replace(entry, config_keys=tuple(resolve_keys(entry.config_keys, inputs.raw)[0]))
            for entry in delta.entries
        )
        variants = []
        for name, kind, is_complete in VARIANTS:
            try:
                rows = identify_rows(plan.rows(kind))
            except InfxError:
                if name == VARIANTS[0][0]:
                    raise
                continue  # an entry forbids this kind of sweep
            variants.append(PlanVariant(name=name, rows=rows, is_complete=is_complete))
    except InfxError as error:
        return RecomputedPlan(problem=_first_problem(error))
    keys = {key for entry in entries if entry.append_only for key in entry.config_keys}
    base_rows = _expand_base(base_inputs, keys) if base_inputs else ()
    return RecomputedPlan(entries=entries, variants=tuple(variants), base_rows=base_rows)


def _expand_base(inputs: PlanInputs, keys: set[str]) -> tuple[Row, ...]:
    """Return the rows that the merge base measures for some configurations."""
    return tuple(
        row
        for key, config in inputs.configs.items()
        if key in keys
        for row in expand_config(config, inputs.runners)
    )


def _first_problem(error: InfxError) -> str:
    problem = error.problems[0]
    others = len(error.problems) - 1
    note = f" ({count(others, 'more problem')}.)" if others else ""
    return f"{problem}{note}"


@record
class RevisionConfigs:
    """The configurations that a pull request concerns.

    Attributes:
        changes: configurations that the pull request changes or names, and those served by its changed files.
        known: all configurations of the target branch.
        problems: what cannot be parsed at the head, in sentences.
    """

    changes: tuple[ConfigChange, ...]
    known: tuple[KnownConfig, ...]
    problems: tuple[str, ...] = ()


def read_configs(revisions: Revisions, named: Sequence[str], paths: Sequence[str]) -> RevisionConfigs:
    """Return the configurations that a pull request concerns.

    Args:
        named: keys that its entries name.
        paths: the changed files.
    """
    shas = list(dict.fromkeys([revisions.fork, revisions.head, revisions.base]))
    raw = {sha: _raw(_read_masters(revisions, sha, ())) for sha in shas}
    old, new = raw[revisions.fork], raw[revisions.head]
    touched = [key for key in {**old, **new} if old.get(key) != new.get(key)]
    served = _find_served(revisions, [*named, *touched], paths)
    keys = tuple(dict.fromkeys([*named, *touched, *served]))
    files = [_read_masters(revisions, sha, keys) if keys else [] for sha in (revisions.fork, revisions.head)]
    before, after = (
        {key: describe_config(config) for file in side for key, config in file.configs.items()}
        for side in files
    )
    return RevisionConfigs(
        changes=tuple(
            ConfigChange(key=key, before=before.get(key), after=after.get(key))
            for key in keys
            if key in before or key in after
        ),
        known=tuple(
            _known(key, value) for key, value in raw[revisions.base].items() if isinstance(value, dict)
        ),
        problems=tuple(str(problem) for file in files[1] for problem in file.problems),
    )


def _find_served(revisions: Revisions, affected: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the keys served by changed scripts and recipes that serve no affected configuration.

    A shared script that serves an affected configuration is measured with that configuration.
    """
    masters = revisions.git.read_many([(revisions.head, path) for path in revisions.policy.master_configs])
    text = b"\n".join(data for data in masters if data is not None)
    paths = [path for path in paths if may_serve(path, text, revisions.policy.signoff)]
    if not paths:
        return []
    files = _read_masters(revisions, revisions.head, None)
    keys_of: dict[str, list[str]] = {}
    for key, config in ((key, config) for file in files for key, config in file.configs.items()):
        for path in find_serving(paths, describe_config(config), revisions.policy.signoff):
            keys_of.setdefault(path, []).append(key)
    return [key for keys in keys_of.values() if not set(keys) & set(affected) for key in keys]


def _read_masters(revisions: Revisions, sha: str, keys: Sequence[str] | None) -> list[MasterFile]:
    paths = revisions.policy.master_configs
    contents = revisions.git.read_many([(sha, path) for path in paths])
    return [
        parse_master(data, path, only=None if keys is None else set(keys))
        for path, data in zip(paths, contents, strict=True)
        if data is not None
    ]


def _raw(files: Sequence[MasterFile]) -> dict[str, Any]:
    return {key: value for file in files if file.document for key, value in file.document.value.items()}


def _known(key: str, value: dict[str, Any]) -> KnownConfig:
    return KnownConfig(
        key=str(key),
        model_prefix=str(value.get("model-prefix", "")),
        framework=str(value.get("framework", "")),
        runner=str(value.get("runner", "")),
    )

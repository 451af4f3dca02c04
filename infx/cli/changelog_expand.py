"""Whether the configurations that new entries name can be planned, by the strict rules of `infx plan`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from infx.errors import Level, Problem, ProblemsError
from infx.gather.changelog import ChangelogSources
from infx.gather.local import load_policy

if TYPE_CHECKING:
    from infx.bench.entry import Entry
    from infx.changelog.validate import ChangelogVerdict
    from infx.policy.model import Policy

_UNEXPANDED = "config-unexpanded"


def find_unplannable(sources: ChangelogSources, verdict: ChangelogVerdict) -> list[Problem]:
    """Return everything that would stop the plan of the new entries, with its lines in the configurations.

    Between two files that stand anywhere there may be no configurations; then a warning says what was not looked at.
    """
    is_repository = sources.read_base is not None
    if not is_repository and sources.context.configs is None:
        return []  # keys were not looked up either, which has a warning of its own
    from infx.gather.plan import list_paths

    policy = load_policy(sources.policy_source)
    paths = list_paths(policy)
    files = sources.read_head(paths)
    level = Level.ERROR if is_repository else Level.WARNING
    absent = [_absent(path, level) for path, data in zip(paths, files, strict=True) if data is None]
    if absent:
        return absent
    entries = _readable(sources, verdict)
    if not is_repository and any(entry.append_only for entry in entries):
        message = "Without a base revision, append-only entries were not expanded."
        return [Problem(rule=_UNEXPANDED, message=message, path=sources.context.path, level=Level.WARNING)]
    try:
        return _plan(entries, files, sources, policy, is_valid=verdict.ok) if entries else []
    except ProblemsError as error:
        return error.problems


def _plan(
    entries: Sequence[Entry],
    files: Sequence[bytes | None],
    sources: ChangelogSources,
    policy: Policy,
    *,
    is_valid: bool,
) -> list[Problem]:
    from infx.bench.delta import Delta
    from infx.gather.plan import load_named_inputs
    from infx.matrix.evals import find_profile
    from infx.matrix.load import check_runners
    from infx.matrix.plan import Options, plan_delta

    read_base = sources.read_base or sources.read_head  # asked only for append-only entries
    inputs, base = load_named_inputs(
        entries, files, read_base, sources.context.base_name or "the base", policy
    )
    problems = check_runners(inputs)
    if problems or not is_valid:  # entries that contradict themselves have no plan
        return problems
    options = Options(profile=find_profile("default", policy.evals))
    return list(plan_delta(Delta(entries=tuple(entries)), inputs, base, options, policy.changelog).warnings)


def _readable(sources: ChangelogSources, verdict: ChangelogVerdict) -> list[Entry]:
    """The new entries that can be read and whose keys are all known; the others have problems of their own."""
    from infx.changelog.entries import read_fields

    configs = sources.context.configs
    found = [read_fields(block.value, line=block.line()) for block in verdict.blocks]
    if sources.context.is_final:
        # Perhaps of several pull requests, each of which added its points to what was there before it.
        found = [entry and replace(entry, append_only=False) for entry in found]
    return [
        entry
        for entry in found
        if entry is not None and configs and not any(map(configs.find_unknown, entry.config_keys))
    ]


def _absent(path: str, level: Level) -> Problem:
    return Problem(
        rule=_UNEXPANDED,
        message="There is no such file, so the new entries could not be expanded.",
        path=path,
        hint="Add it, or name another in the policy (`master-configs`, `runners`).",
        level=level,
    )

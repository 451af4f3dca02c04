"""Check that the configurations of new entries can be planned, by the strict rules of `infx plan`."""

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
    """Return the problems that would stop the plan of the new entries, with their lines in the configurations.

    Two plain files may come without configurations; then a warning names what was not checked.
    """
    is_repository = sources.read_base is not None
    if not is_repository and sources.context.configs is None:
        return []  # another warning already says that keys were not looked up
    from infx.gather.plan import list_paths

    policy = load_policy(sources.policy_source)
    paths = list_paths(policy)
    files = sources.read_head(paths)
    level = Level.ERROR if is_repository else Level.WARNING
    absent = [_report_absent(path, level) for path, data in zip(paths, files, strict=True) if data is None]
    if absent:
        return absent
    entries = _find_readable(sources, verdict)
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
    if problems or not is_valid:  # invalid entries cannot be planned
        return problems
    options = Options(profile=find_profile("default", policy.evals))
    return list(plan_delta(Delta(entries=tuple(entries)), inputs, base, options, policy.changelog).warnings)


def _find_readable(sources: ChangelogSources, verdict: ChangelogVerdict) -> list[Entry]:
    """Return the new entries that can be read and whose keys are all known; validate reports the others."""
    from infx.changelog.entries import read_fields

    configs = sources.context.configs
    entries = [read_fields(block.value, line=block.line()) for block in verdict.blocks]
    if sources.context.is_final:
        # The entries may belong to several pull requests, and each of those added points to its own base.
        entries = [entry and replace(entry, append_only=False) for entry in entries]
    return [
        entry
        for entry in entries
        if entry is not None and configs and not any(map(configs.find_unknown, entry.config_keys))
    ]


def _report_absent(path: str, level: Level) -> Problem:
    return Problem(
        rule=_UNEXPANDED,
        message="There is no such file, so the new entries could not be expanded.",
        path=path,
        hint="Add the file, or name another one in the policy (`master-configs`, `runners`).",
        level=level,
    )

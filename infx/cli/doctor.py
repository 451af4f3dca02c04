"""infx doctor: list what a repository still lacks."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.options import examples, find_policy_path, format_option, tolerant_policy_option
from infx.errors import ProblemsError
from infx.gather.local import find_root
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.doctor.lines import ReportLine


@examples("infx doctor --offline", "infx doctor --format json")
@click.command()
@click.option("--offline", is_flag=True, help="Look at this checkout only.")
@tolerant_policy_option
@format_option
def doctor(policy: Policy | ProblemsError, *, offline: bool, as_json: bool) -> int:
    """List what a repository still lacks, here and on GitHub, and how to fix it.

    Each line has a state: ok, missing, wrong, or unknown for what cannot be seen. Exit code 0 only if every line is ok.
    """
    from infx.cli.doctor_table import show
    from infx.doctor.checkout import judge_broken_policy

    if isinstance(policy, ProblemsError):
        return show(judge_broken_policy(find_policy_path(), policy.problems), as_json=as_json)
    lines = _look_here(policy, None)
    return show(lines, as_json=as_json)


def _look_here(policy: Policy, repo: str | None) -> list[ReportLine]:
    from infx.doctor.checkout import judge_checkout
    from infx.gather.doctor_checkout import gather_checkout

    source = click.get_current_context().params.get("policy_source")
    return judge_checkout(gather_checkout(find_root(Path.cwd()), policy, source=source, repo=repo), policy)

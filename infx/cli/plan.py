"""infx plan: print the rows that new changelog entries ask for."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from infx import actions
from infx.cli.decision import read_decision
from infx.cli.options import examples, format_option, policy_option
from infx.errors import InfxError, ProblemsError, UsageError
from infx.gather.plan import read_plan_inputs
from infx.git import Git
from infx.policy.model import Effect, Policy, SweepScope

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infx.gate.decision import Decision
    from infx.matrix.load import PlanInputs
    from infx.matrix.plan import Options, Plan
    from infx.matrix.summary import PlanSummary


@examples("infx plan --base-ref origin/main --head-ref HEAD")
@click.command()
@click.option("--base-ref", required=True, metavar="REV", help="Revision that the head will be merged into.")
@click.option("--head-ref", required=True, metavar="REV", help="Revision to measure.")
@click.option(
    "--trim-conc", is_flag=True, help="Plan throughput only at the lowest concurrency of every recipe."
)
@click.option("--all-evals", is_flag=True, help="Plan every possible accuracy run.")
@click.option("--evals-only", is_flag=True, help="Plan no throughput rows.")
@click.option("--fast", is_flag=True, help="Plan shortened AgentX replays (effect fast of a modifier).")
@click.option(
    "--decision",
    "decision_file",
    type=click.Path(),
    metavar="FILE",
    help="Output of infx gate; it sets the scope and the modifiers, in addition to the flags.",
)
@click.option("--strict", is_flag=True, help="Refuse configurations in which infx config check finds errors.")
@click.option(
    "--eval-profile",
    default="default",
    show_default=True,
    metavar="NAME",
    help="Profile from the policy that selects accuracy runs.",
)
@policy_option
@format_option
def plan(base_ref: str, head_ref: str, policy: Policy, as_json: bool, **options: Any) -> None:
    """Plan the sweep that new changelog entries ask for."""
    from infx.cli.report import print_problems
    from infx.matrix.load import find_unserved
    from infx.matrix.summary import find_long_queues, summarize

    decision = read_decision(options["decision_file"]) if options["decision_file"] else None
    git = Git(Path.cwd())
    tip, head = git.commit(base_ref), git.commit(head_ref)
    base = git.merge_base(tip, head)
    if decision and decision.command:
        planned, inputs = _plan_command(git, head, decision.command, policy, strict=options["strict"])
    else:
        planned, inputs = _plan_delta(
            git, base, head, policy, _read_options(policy, options, decision), strict=options["strict"]
        )
    summary = summarize(planned, inputs.runners, policy)
    unserved = find_unserved(inputs, inputs.configs.values())
    queues = find_long_queues(summary, policy.limits.queue_hours)
    print_problems((*inputs.warnings, *planned.warnings, *unserved, *queues), os.environ)
    _print(planned, summary, base, head, as_json=as_json)


def _plan_delta(
    git: Git, base: str, head: str, policy: Policy, options: Options, *, strict: bool
) -> tuple[Plan, PlanInputs]:
    from infx.matrix.load import check_runners
    from infx.matrix.plan import plan_delta

    if base == head:
        raise UsageError(
            f"The base already contains the head {head[:12]}, so there is nothing to compare.",
            hint="Commit your changes first, or name an earlier revision as --base-ref.",
        )
    delta, inputs, base_inputs = read_plan_inputs(git, base, head, policy)
    if strict and (problems := check_runners(inputs)):
        raise ProblemsError(problems)
    return plan_delta(delta, inputs, base_inputs, options, policy.changelog), inputs


def _plan_command(
    git: Git, head: str, words: Sequence[str], policy: Policy, *, strict: bool
) -> tuple[Plan, PlanInputs]:
    """Return the plan of a dispatch's command, which is a command line of `infx matrix`."""
    from infx.cli.matrix import select_by_words
    from infx.matrix.load import check_runners
    from infx.matrix.plan import plan_rows

    if git.commit("HEAD") != head:
        raise UsageError(
            "A command reads the working tree, which is not at --head-ref.",
            hint="Check out that revision first.",
        )
    selection = select_by_words(words, policy)
    if not selection.rows:
        raise InfxError(
            "No row matches the command.", hint="Try it with infx matrix, and leave out one option at a time."
        )
    if strict and (problems := check_runners(selection.inputs)):
        raise ProblemsError(problems)
    return plan_rows(selection.rows), selection.inputs


def _print(planned: Plan, summary: PlanSummary, base: str, head: str, *, as_json: bool) -> None:
    if actions.is_actions(os.environ):
        from infx.matrix.summary import render_markdown

        actions.write_summary(os.environ, render_markdown(summary))
    if as_json:
        from infx.matrix.render import render_plan

        pieces = render_plan(planned, base_ref=base, head_ref=head)
        sys.stdout.writelines(map(actions.neutralize_json, pieces))
        click.echo()
    else:
        from infx.cli.plan_table import print_summary

        print_summary(summary)


def _read_options(policy: Policy, options: dict[str, Any], decision: Decision | None) -> Options:
    """Return the options of the flags, plus those that a decision of the gate adds."""
    from infx.matrix.evals import find_profile
    from infx.matrix.plan import Options

    effects = decision.effects if decision else ()
    return Options(
        profile=find_profile(options["eval_profile"], policy.evals),
        trim=options["trim_conc"] or bool(decision and decision.scope is SweepScope.TRIMMED),
        all_evals=options["all_evals"] or Effect.ALL_EVALS in effects,
        evals_only=options["evals_only"] or Effect.EVALS_ONLY in effects,
        fast=options["fast"] or Effect.FAST in effects,
    )

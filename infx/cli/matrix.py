"""infx matrix: print rows that options select, without a changelog."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from infx import actions
from infx.cli.options import examples, policy_option
from infx.errors import UsageError
from infx.files import read_file
from infx.gather.local import find_root
from infx.policy.model import Policy
from infx.records import record

if TYPE_CHECKING:
    from infx.bench.row import Row
    from infx.matrix.evals import EvalMode
    from infx.matrix.expand import ExpansionLimits
    from infx.matrix.load import PlanInputs
    from infx.matrix.sweep import SweepRequest

_F = TypeVar("_F", bound=Callable[..., Any])

_SHARED = (
    click.option(
        "--config-file",
        multiple=True,
        type=click.Path(),
        metavar="FILE",
        help="File with configurations. May repeat. Default: the policy's.",
    ),
    click.option(
        "--runner-config", type=click.Path(), metavar="FILE", help="Runner inventory. Default: the policy's."
    ),
    click.option(
        "--seq-len",
        multiple=True,
        type=click.Choice(["1k1k", "8k1k"]),
        help="Only fixed-length scenarios of this length.",
    ),
    click.option(
        "--scenario-type",
        multiple=True,
        type=click.Choice(["fixed-seq-len", "agentic-coding"]),
        help="Only scenarios of this type.",
    ),
    click.option("--single-node", is_flag=True, help="Only single-node configurations."),
    click.option("--multi-node", is_flag=True, help="Only multi-node configurations."),
    click.option(
        "--runner-node-filter", metavar="TEXT", help="One row for each runner whose name contains TEXT."
    ),
    click.option("--no-evals", is_flag=True, help="Only throughput rows."),
    click.option("--evals-only", is_flag=True, help="Only the selected accuracy runs."),
    click.option("--all-evals", is_flag=True, help="Only accuracy runs, every possible one."),
    click.option(
        "--smoke", is_flag=True, help="The lowest concurrency of every recipe, and its usual accuracy run."
    ),
    click.option("--trim-conc", is_flag=True, help="Only the lowest concurrency of every recipe."),
    click.option(
        "--eval-profile",
        default="default",
        show_default=True,
        metavar="NAME",
        help="Profile from the policy that selects accuracy runs.",
    ),
    policy_option,
)


def _add_shared_options(function: _F) -> _F:
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_SHARED), function)


@click.group()
def matrix() -> None:
    """Print the rows that configurations expand to."""


@examples("infx matrix full-sweep --model-prefix dsr1 --single-node")
@matrix.command("full-sweep")
@_add_shared_options
@click.option("--model-prefix", multiple=True, help="Only configuration keys that start with this text.")
@click.option("--precision", multiple=True, metavar="NAME", help="Only this precision.")
@click.option("--framework", multiple=True, metavar="NAME", help="Only this framework.")
@click.option("--runner-type", multiple=True, metavar="LABEL", help="Only this runner label.")
@click.option(
    "--step-size",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    metavar="N",
    help="Factor between the concurrencies of a range.",
)
@click.option("--min-conc", type=int, metavar="N", help="Smallest concurrency.")
@click.option("--max-conc", type=int, metavar="N", help="Largest concurrency.")
@click.option("--max-tp", type=int, metavar="N", help="Largest tp of single-node fixed rows.")
@click.option(
    "--max-ep",
    type=int,
    metavar="N",
    help="Largest ep of single-node fixed rows; a larger ep is lowered to N.",
)
def full_sweep(policy: Policy, **options: Any) -> None:
    """Print every row of every configuration that passes the filters."""
    _print(select_all(policy, options))


@examples("infx matrix test-config --config-key 'dsv41flash-*' --conc 64")
@matrix.command("test-config")
@_add_shared_options
@click.option(
    "--config-key",
    multiple=True,
    required=True,
    metavar="KEY",
    help="A configuration key; * and ? are wildcards.",
)
@click.option("--conc", multiple=True, type=int, metavar="N", help="Only this concurrency.")
@click.option("--exp-name", multiple=True, metavar="NAME", help="Only the row with this experiment name.")
def test_config(policy: Policy, **options: Any) -> None:
    """Print the rows of named configurations."""
    _print(select_named(policy, options))


def select_by_words(words: Sequence[str], policy: Policy) -> Selection:
    """Return the rows of a command line of `infx matrix`. Raises UsageError, also if it names a policy.

    words: the command line after `infx matrix`. policy: the base branch's.
    """
    select = {"full-sweep": select_all, "test-config": select_named}
    name, *arguments = words
    if name not in select:
        raise UsageError(f"The command {name!r} prints no rows; expected {' or '.join(select)}.")
    context = matrix.commands[name].make_context(name, arguments, help_option_names=[])
    options = dict(context.params)
    if context.get_parameter_source("policy_source") is ParameterSource.COMMANDLINE:
        raise UsageError(
            "The command names a policy, but the base branch's policy applies.", hint="Leave out --policy."
        )
    del options["policy_source"]
    return select[name](policy, options)


@record(eq=False)
class Selection:
    """Rows, and the inputs that they were made from."""

    rows: Sequence[Row]
    inputs: PlanInputs  # with the configurations on the rows' runners only


def select_all(policy: Policy, options: dict[str, Any]) -> Selection:
    """Return the rows of `full-sweep`."""
    from infx.matrix.sweep import sweep_all

    request = _make_request(policy, options)
    inputs = _read_inputs(policy, options)
    return _make_selection(sweep_all(inputs.configs, inputs.runners, request), inputs)


def select_named(policy: Policy, options: dict[str, Any]) -> Selection:
    """Return the rows of `test-config`."""
    from infx.matrix.sweep import sweep_keys

    request = _make_request(policy, options)
    inputs = _read_inputs(policy, options)
    return _make_selection(sweep_keys(inputs.configs, inputs.runners, options["config_key"], request), inputs)


def _make_selection(rows: Sequence[Row], inputs: PlanInputs) -> Selection:
    used = {row.recipe.runner for row in rows}
    configs = {key: config for key, config in inputs.configs.items() if config.runner in used}
    return Selection(rows=rows, inputs=replace(inputs, configs=configs))


def _make_request(policy: Policy, options: dict[str, Any]) -> SweepRequest:
    from infx.matrix.evals import find_profile
    from infx.matrix.filters import Filter
    from infx.matrix.sweep import SweepRequest

    wanted = Filter(
        key_prefixes=options.get("model_prefix", ()),
        precisions=options.get("precision", ()),
        frameworks=options.get("framework", ()),
        runner_labels=options.get("runner_type", ()),
        single_node=options["single_node"],
        multi_node=options["multi_node"],
        node_part=options["runner_node_filter"],
    )
    return SweepRequest(
        profile=find_profile(options["eval_profile"], policy.evals),
        wanted=wanted,
        limits=_make_limits(options),
        mode=_choose_mode(options),
        trim=options["trim_conc"],
        smoke=options["smoke"],
        exp_names=options.get("exp_name", ()),
    )


def _make_limits(options: dict[str, Any]) -> ExpansionLimits:
    from infx.bench.config import ScenarioType
    from infx.bench.names import SEQUENCES
    from infx.matrix.concurrency import DEFAULT_STEP, Bounds
    from infx.matrix.expand import ExpansionLimits

    low, high, conc = options.get("min_conc"), options.get("max_conc"), options.get("conc")
    if low is not None and high is not None and low > high:
        raise UsageError(f"--min-conc {low} is larger than --max-conc {high}.", hint="Swap the two numbers.")
    step = options.get("step_size", DEFAULT_STEP)
    return ExpansionLimits(
        bounds=Bounds(step=step, minimum=low, maximum=high, only=frozenset(conc) if conc else None),
        max_tp=options.get("max_tp"),
        max_ep=options.get("max_ep"),
        sequences=frozenset(SEQUENCES[name] for name in options["seq_len"]),
        scenario_types=frozenset(ScenarioType(name) for name in options["scenario_type"]),
    )


def _choose_mode(options: dict[str, Any]) -> EvalMode:
    from infx.matrix.evals import EvalMode

    _refuse_together(options, ("no_evals",), ("evals_only", "all_evals"))
    _refuse_together(options, ("smoke",), ("trim_conc", "no_evals", "evals_only", "all_evals"))
    if options["no_evals"]:
        return EvalMode.NONE
    if options["all_evals"]:
        return EvalMode.ALL
    return EvalMode.SUBSET if options["evals_only"] else EvalMode.MARKED


def _refuse_together(options: dict[str, Any], names: Sequence[str], conflicting: Sequence[str]) -> None:
    for name in names:
        for other in conflicting:
            if options[name] and options[other]:
                flags = [f"--{flag.replace('_', '-')}" for flag in (name, other)]
                raise UsageError(
                    f"{flags[0]} and {flags[1]} contradict each other.", hint="Give only one of them."
                )


def _read_inputs(policy: Policy, options: dict[str, Any]) -> PlanInputs:
    from infx.matrix.load import load_inputs

    root = find_root(Path.cwd())
    paths = options["config_file"] or tuple(os.path.relpath(root / name) for name in policy.master_configs)
    runners = options["runner_config"] or os.path.relpath(root / policy.runners)
    hint = "Run this in the repository, or name the files with --config-file and --runner-config."
    contents = {path: read_file(path, "file", hint=hint) for path in (*paths, runners)}
    return load_inputs([(path, contents[path]) for path in paths], (runners, contents[runners]))


def _print(selection: Selection) -> None:
    """Print rows as a JSON array, one row per line, on stdout, and warnings on stderr."""
    from infx.cli.report import print_problems, print_text
    from infx.matrix.load import find_unserved
    from infx.matrix.render import render_rows

    inputs = selection.inputs
    print_problems((*inputs.warnings, *find_unserved(inputs, inputs.configs.values())), os.environ)
    if not selection.rows:
        print_text(
            "No row of the configurations matches these options. Check their spelling, or give fewer options.",
            os.environ,
        )
    click.echo(actions.neutralize_json(render_rows(selection.rows)))

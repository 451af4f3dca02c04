"""infx matrix: rows for options, without a changelog."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
        help="Configurations. Default: those of the policy.",
    ),
    click.option(
        "--runner-config", type=click.Path(), metavar="FILE", help="Runner inventory. Default: the policy's."
    ),
    click.option("--seq-len", multiple=True, type=click.Choice(["1k1k", "8k1k"]), help="Of fixed scenarios."),
    click.option(
        "--scenario-type",
        multiple=True,
        type=click.Choice(["fixed-seq-len", "agentic-coding"]),
        help="Only scenarios of this type.",
    ),
    click.option("--single-node", is_flag=True, help="Single-node configurations."),
    click.option("--multi-node", is_flag=True, help="Multi-node configurations. Neither flag means both."),
    click.option("--runner-node-filter", metavar="TEXT", help="One row for each runner with this text."),
    click.option("--no-evals", is_flag=True, help="Throughput alone."),
    click.option("--evals-only", is_flag=True, help="The accuracy runs alone."),
    click.option("--all-evals", is_flag=True, help="Every possible accuracy run, alone."),
    click.option("--smoke", is_flag=True, help="The lightest point of everything, and its accuracy run."),
    click.option("--trim-conc", is_flag=True, help="The lightest point of everything."),
    click.option(
        "--eval-profile", default="default", show_default=True, metavar="NAME", help="Of the policy."
    ),
    policy_option,
)


def _shared_options(function: _F) -> _F:
    return functools.reduce(lambda decorated, option: option(decorated), reversed(_SHARED), function)


@click.group()
def matrix() -> None:
    """Print the rows that configurations expand to."""


@examples("infx matrix full-sweep --model-prefix dsr1 --single-node")
@matrix.command("full-sweep")
@_shared_options
@click.option("--model-prefix", multiple=True, help="How configuration keys start.")
@click.option("--precision", multiple=True, metavar="NAME", help="Only this precision.")
@click.option("--framework", multiple=True, metavar="NAME", help="Only this framework.")
@click.option("--runner-type", multiple=True, metavar="LABEL", help="Runner label.")
@click.option(
    "--step-size",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    metavar="N",
    help="Factor in a range.",
)
@click.option("--min-conc", type=int, metavar="N", help="Smallest concurrency.")
@click.option("--max-conc", type=int, metavar="N", help="Largest concurrency.")
@click.option("--max-tp", type=int, metavar="N", help="Largest tp of single-node fixed rows.")
@click.option(
    "--max-ep", type=int, metavar="N", help="Largest ep of single-node fixed rows; a larger one becomes it."
)
def full_sweep(policy: Policy, **options: Any) -> None:
    """Every row of every configuration that the filters leave."""
    _print(select_all(policy, options))


@examples("infx matrix test-config --config-key 'dsv41flash-*' --conc 64")
@matrix.command("test-config")
@_shared_options
@click.option("--config-key", multiple=True, required=True, metavar="KEY", help="May hold * and ?.")
@click.option("--conc", multiple=True, type=int, metavar="N", help="Only this concurrency.")
@click.option("--exp-name", multiple=True, metavar="NAME", help="Only the row of this experiment name.")
def test_config(policy: Policy, **options: Any) -> None:
    """The rows of named configurations."""
    _print(select_named(policy, options))


def select_by_words(words: Sequence[str], policy: Policy) -> Selection:
    """The rows of a command line after `infx matrix`, by a policy that it cannot choose. Raises UsageError."""
    select = {"full-sweep": select_all, "test-config": select_named}
    name, *rest = words
    if name not in select:
        raise UsageError(f"The command {name!r} prints no rows; expected {' or '.join(select)}.")
    context = matrix.commands[name].make_context(name, rest, help_option_names=[])
    options = dict(context.params)
    if context.get_parameter_source("policy_source") is ParameterSource.COMMANDLINE:
        raise UsageError("The command names a policy; it is judged by the base branch's.")
    del options["policy_source"]
    return select[name](policy, options)


@dataclass(frozen=True, kw_only=True, eq=False)
class Selection:
    """Rows, and the inputs that they were made of; of configurations only those on the rows' runners."""

    rows: Sequence[Row]
    inputs: PlanInputs


def select_all(policy: Policy, options: dict[str, Any]) -> Selection:
    """The rows of `full-sweep`."""
    from infx.matrix.sweep import sweep_all

    request = _request(policy, options)
    inputs = _read_inputs(policy, options)
    return _selection(sweep_all(inputs.configs, inputs.runners, request), inputs)


def select_named(policy: Policy, options: dict[str, Any]) -> Selection:
    """The rows of `test-config`."""
    from infx.matrix.sweep import sweep_keys

    request = _request(policy, options)
    inputs = _read_inputs(policy, options)
    return _selection(sweep_keys(inputs.configs, inputs.runners, options["config_key"], request), inputs)


def _selection(rows: Sequence[Row], inputs: PlanInputs) -> Selection:
    used = {row.recipe.runner for row in rows}
    configs = {key: config for key, config in inputs.configs.items() if config.runner in used}
    return Selection(rows=rows, inputs=replace(inputs, configs=configs))


def _request(policy: Policy, options: dict[str, Any]) -> SweepRequest:
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
        limits=_limits(options),
        mode=_mode(options),
        trim=options["trim_conc"],
        smoke=options["smoke"],
        exp_names=options.get("exp_name", ()),
    )


def _limits(options: dict[str, Any]) -> ExpansionLimits:
    from infx.bench.config import ScenarioType
    from infx.bench.names import SEQUENCES
    from infx.matrix.concurrency import DEFAULT_STEP, Bounds
    from infx.matrix.expand import ExpansionLimits

    low, high, conc = options.get("min_conc"), options.get("max_conc"), options.get("conc")
    if low is not None and high is not None and low > high:
        raise UsageError(f"--min-conc {low} is larger than --max-conc {high}.")
    step = options.get("step_size", DEFAULT_STEP)
    return ExpansionLimits(
        bounds=Bounds(step=step, minimum=low, maximum=high, only=frozenset(conc) if conc else None),
        max_tp=options.get("max_tp"),
        max_ep=options.get("max_ep"),
        sequences=frozenset(SEQUENCES[name] for name in options["seq_len"]),
        scenario_types=frozenset(ScenarioType(name) for name in options["scenario_type"]),
    )


def _mode(options: dict[str, Any]) -> EvalMode:
    from infx.matrix.evals import EvalMode

    _refuse_together(options, ("no_evals",), ("evals_only", "all_evals"))
    _refuse_together(options, ("smoke",), ("trim_conc", "no_evals", "evals_only", "all_evals"))
    if options["no_evals"]:
        return EvalMode.NONE
    if options["all_evals"]:
        return EvalMode.ALL
    return EvalMode.SUBSET if options["evals_only"] else EvalMode.MARKED


def _refuse_together(options: dict[str, Any], one: Sequence[str], others: Sequence[str]) -> None:
    for name in one:
        for other in others:
            if options[name] and options[other]:
                flags = [f"--{flag.replace('_', '-')}" for flag in (name, other)]
                raise UsageError(f"{flags[0]} and {flags[1]} contradict each other.")


def _read_inputs(policy: Policy, options: dict[str, Any]) -> PlanInputs:
    from infx.matrix.load import load_inputs

    root = find_root(Path.cwd())
    paths = options["config_file"] or tuple(os.path.relpath(root / name) for name in policy.master_configs)
    runners = options["runner_config"] or os.path.relpath(root / policy.runners)
    hint = "Run it in the repository, or name the files with --config-file and --runner-config."
    found = {path: read_file(path, "file", hint=hint) for path in (*paths, runners)}
    return load_inputs([(path, found[path]) for path in paths], (runners, found[runners]))


def _print(selection: Selection) -> None:
    """Rows as a JSON array, one a line, on stdout; warnings on stderr."""
    from infx.cli.report import print_problems, print_text
    from infx.matrix.load import find_unserved
    from infx.matrix.render import render_rows

    inputs = selection.inputs
    print_problems((*inputs.warnings, *find_unserved(inputs, inputs.configs.values())), os.environ)
    if not selection.rows:
        print_text("No row of the configurations matches these options.", os.environ)
    click.echo(actions.neutralize_json(render_rows(selection.rows)))

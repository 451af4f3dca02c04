"""infx policy: show the settings of a repository."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from infx.cli.options import effective_policy_option, examples
from infx.cli.report import print_json, print_text

if TYPE_CHECKING:
    from infx.policy.show import EffectivePolicy


@click.group()
def policy() -> None:
    """Show the policy that applies, and where each value comes from."""


@examples("infx policy show", "infx policy show sweep.row-minutes --origin")
@policy.command()
@click.argument("key", required=False, metavar="[KEY]")
@click.option("--origin", is_flag=True, help="Show the file and the line of each value.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["json", "yaml"]),
    help="Output format. Default: YAML on a terminal, else JSON.",
)
@effective_policy_option
def show(key: str | None, origin: bool, form: str | None, policy: EffectivePolicy) -> None:
    """Print the policy that applies: the repository's values over the packaged default.

    KEY selects a part, such as sweep.row-minutes.
    """
    from infx.policy.show import find_part, render_yaml

    keys, value = find_part(policy.values, key) if key else ((), policy.values)
    if form == "yaml" or (form is None and sys.stdout.isatty()):
        print_text(render_yaml(policy, value, keys, with_origin=origin), os.environ, err=False)
    elif origin:
        values = policy.find_values(value, keys)
        print_json([{"keys": v.keys, "value": v.value, "path": v.path, "line": v.line} for v in values])
    else:
        print_json(value)

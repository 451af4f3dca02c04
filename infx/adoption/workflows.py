"""Workflows for another repository: infx's own files, with its actions pinned and the policy's names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from infx.adoption.answers import Pin
from infx.adoption.text import render_scalar
from infx.policy.load import default_policy
from infx.policy.model import Policy

_DATA = Path(__file__).with_name("data")  # links to the project's own files
_FOLDER = ".github/workflows"
_ACTION = re.compile(r"\./\.infx(/\.github/actions/[\w-]+)$", re.MULTILINE)
_ALWAYS = ("approve-fork", "benchmark", "changelog", "publish", "reconcile", "run-sweep", "sweep")
_FOR_SIGNOFFS = ("signoff", "signoff-relay")
_FOR_AN_APP = ("merge",)


def read_workflow(name: str) -> str:
    """Return the text of one of infx's own workflows."""
    return _DATA.joinpath("workflows", f"{name}.yml").read_text(encoding="utf-8")


def read_own(name: str) -> str:
    """Return the text of another file that infx itself uses, such as a checklist."""
    return _DATA.joinpath(name).read_text(encoding="utf-8")


def render_workflows(policy: Policy, pin: Pin, *, has_signoffs: bool, has_app: bool) -> Mapping[str, str]:
    """Return path → text of the workflows that a repository needs.

    Steps that use an App's token are in all of them. GitHub skips these steps while the variable INFX_APP_ID is not set.
    """
    names = [*_ALWAYS, *(_FOR_SIGNOFFS if has_signoffs else ()), *(_FOR_AN_APP if has_app else ())]
    return {**_render_all(names, policy, pin), ".github/zizmor.yml": read_own("zizmor.yml")}


def render_shadow(policy: Policy, pin: Pin) -> Mapping[str, str]:
    """Return path → text of the workflow of shadow mode, which only reads (docs/shadow.md)."""
    return _render_all(["shadow"], policy, pin)


def _render_all(names: Iterable[str], policy: Policy, pin: Pin) -> dict[str, str]:
    return {f"{_FOLDER}/{name}.yml": adapt_workflow(read_workflow(name), policy, pin) for name in names}


def adapt_workflow(text: str, policy: Policy, pin: Pin) -> str:
    """Return one of infx's own workflows with pinned actions, and with the names that the policy has."""
    default = default_policy()
    text = _ACTION.sub(lambda match: f"{pin.repository}{match[1]}@{pin.sha}{pin.comment}", text)
    branch = render_scalar(policy.base_branch)
    text = text.replace(f"branches: [{default.base_branch}]", f"branches: [{branch}]")
    paths = {
        default.changelog: policy.changelog,
        default.runners: policy.runners,
        default.clusters: policy.clusters,
        default.priorities: policy.priorities,
        default.eval_thresholds: policy.eval_thresholds,
    }
    known = re.compile("|".join(rf"(?<![\w-]){re.escape(path)}\b" for path in paths))
    return known.sub(lambda match: paths[match[0]], text)

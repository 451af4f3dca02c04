"""The policy of a new repository: only what differs from infx's default."""

from __future__ import annotations

from collections.abc import Iterator

from infx.adoption.answers import Answers
from infx.adoption.text import render_list, render_scalar
from infx.policy.load import default_policy

_HEAD = """\
# yaml-language-server: $schema=https://raw.githubusercontent.com/{pin.repository}/{pin.sha}/infx/schemas/policy.json
# The rules of this repository. Workflows read this file from the default branch, so a pull request cannot change its own
# rules. Only differences are here; all values: {default}
"""
_WORKFLOWS = """\
workflows:
  required-checks: [changelog] # also require the status infx/sweep in the settings of the branch
  # A pull request can edit its own workflows. The next line states what protects the runners from it.
  {boundary}
"""


def render_policy(answers: Answers) -> str:
    """Return the text of the policy."""
    default = answers.pin.make_link("infx/policy/default.yaml")
    return "".join(
        [
            _HEAD.format(pin=answers.pin, default=default),
            *_render_differences(answers),
            "\n" + _WORKFLOWS.format(boundary=_render_boundary(answers)),
        ]
    )


def _render_boundary(answers: Answers) -> str:
    """Return the line that states the protection, or a comment with an example of it."""
    if answers.runner_boundary is None:
        return f"# runner-boundary: Runner group gpu admits only benchmark.yml of {answers.base_branch}."
    return f"runner-boundary: {render_scalar(answers.runner_boundary)}"


def _render_differences(answers: Answers) -> Iterator[str]:
    default = default_policy()
    yield f"repository: {render_scalar(answers.repository)}\n"
    if answers.base_branch != default.base_branch:
        yield f"base-branch: {render_scalar(answers.base_branch)}\n"
    if answers.changelog != default.changelog:
        yield f"changelog: {render_scalar(answers.changelog)}\n"
    if answers.master_configs != default.master_configs:
        yield f"master-configs: {render_list(answers.master_configs)}\n"
    for key, path, usual in (
        ("runners", answers.runners_file, default.runners),
        ("clusters", answers.clusters, default.clusters),
        ("models", answers.models, default.models),
    ):
        if path != usual:
            yield f"{key}: {render_scalar(path)}\n"
    if answers.app:
        yield (
            f"identities: {render_list((*default.identities, answers.app))} "
            "# the first one publishes; the App pushes and merges\n"
        )
    if not answers.has_signoffs:
        yield "signoff: {status: null} # no sign-offs, so a merge needs none; delete the line after infx init --signoffs\n"

"""Check when a sign-off is required: an unreadable line of CODEOWNERS requires it, and the status names the line."""

from __future__ import annotations

from dataclasses import replace

import pytest

from infx.model import StatusState
from infx.signoff.facts import TextFile
from infx.signoff.publish import make_status
from infx.signoff.scope import decide_scope
from tests.signoff.facts import POLICY, facts

SIGNOFF = replace(POLICY.signoff, core_owners=("@acme/core",))


def status(text: str) -> tuple[StatusState, str]:
    """Return state and description for this CODEOWNERS file, without a sign-off.

    The pull request changes configs/nvidia.yaml and the changelog.
    """
    signoff_facts = facts(codeowners=TextFile(path=".github/CODEOWNERS", text=text))
    desired = make_status(decide_scope(signoff_facts, SIGNOFF), (), POLICY)
    assert desired is not None
    return desired.state, desired.description


@pytest.mark.parametrize("text", ["@noor\n", "# owners\n@acme/core\n", "*\n", "# none yet\n", "configs/\n"])
def test_a_file_without_owners_requires_a_signoff(text: str) -> None:
    state, words = status(text)
    assert state is StatusState.PENDING
    assert "names no owner for any path" in words


@pytest.mark.parametrize(
    "line",
    [
        "configs/nvidia.yaml @noor, @amy",
        "configs/nvidia.yaml noor",
        "configs/nvidia.yaml\u00a0@noor",
        "!configs/nvidia.yaml @noor",
        "configs/[n]vidia.yaml @noor",
        "./configs/nvidia.yaml @noor",
        "/ @noor",
        "@noor",
        "configs/nvidia.yaml, @noor",
        "configs/{amd,nvidia}.yaml @noor",
        "docs/elsewhere @noor, @amy",  # it is unknown what its author intended
    ],
)
def test_an_unreadable_line_requires_a_signoff_and_is_named(line: str) -> None:
    state, words = status(f"* @acme/core\n{line}\n")
    assert state is StatusState.PENDING
    assert words.startswith("Waiting for a sign-off. .github/CODEOWNERS:2: This line cannot be read: ")


def test_several_unreadable_lines_are_named() -> None:
    signoff_facts = facts(codeowners=TextFile(path="CODEOWNERS", text="* @acme/core\n" + "x noor\n" * 8))
    assert decide_scope(signoff_facts, SIGNOFF).reason.endswith(
        "The same holds for lines 3, 4, 5, 6, 7 and 2 more."
    )


@pytest.mark.parametrize("text", ["* @acme/core\n", "* @acme/core\nconfigs/nvidia.yaml\n", "docs/ @noor\n"])
def test_a_readable_file_without_outside_owners_requires_none(text: str) -> None:
    # The core team owns the file, a line removes its owners, and no line matches it.
    state, words = status(text)
    assert state is StatusState.SUCCESS
    assert words.startswith("No sign-off is required. ")

"""Must somebody sign? What cannot be read of CODEOWNERS is a reason to, and the status names it."""

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
    """With this file of owners, without a sign-off: state and description. Changed are a script and configs/nvidia.yaml."""
    given = facts(codeowners=TextFile(path=".github/CODEOWNERS", text=text))
    made = make_status(decide_scope(given, SIGNOFF), (), POLICY)
    assert made is not None
    return made.state, made.description


@pytest.mark.parametrize("text", ["@noor\n", "# owners\n@acme/core\n", "*\n", "# nobody yet\n", "configs/\n"])
def test_a_file_that_names_nobody_is_a_reason_to_sign(text: str) -> None:
    state, words = status(text)
    assert state is StatusState.PENDING
    assert "names nobody for anything" in words


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
        "docs/elsewhere @noor, @amy",  # nobody knows what it was meant to say
    ],
)
def test_a_line_that_cannot_be_read_is_a_reason_to_sign_and_named(line: str) -> None:
    state, words = status(f"* @acme/core\n{line}\n")
    assert state is StatusState.PENDING
    assert words.startswith("Waiting for a sign-off. .github/CODEOWNERS:2: This line cannot be read: ")


def test_several_lines_are_named() -> None:
    given = facts(codeowners=TextFile(path="CODEOWNERS", text="* @acme/core\n" + "x noor\n" * 8))
    assert decide_scope(given, SIGNOFF).reason.endswith("Nor can lines 3, 4, 5, 6, 7 and 2 more.")


@pytest.mark.parametrize("text", ["* @acme/core\n", "* @acme/core\nconfigs/nvidia.yaml\n", "docs/ @noor\n"])
def test_who_is_named_in_words_that_can_be_read_decides(text: str) -> None:
    """Core's, expressly nobody's, and without any line."""
    state, words = status(text)
    assert state is StatusState.SUCCESS
    assert words.startswith("Nobody has to sign. ")

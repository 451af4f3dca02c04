"""Run the workflow that releases infx; short programs replace `make release` and gh, which needs GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.hub import Hub
from tests.act.bench import make_payload
from tests.act.harness import Act, Outcome

MAKEFILE = "release:\n\tmkdir dist && echo one > dist/wheel && echo words > dist/notes.md\n"
GH = """\
#!/bin/sh
echo "$@" >> "{ledger}"
if [ "$2" = view ]; then {view}; fi
"""


def release(hub: Hub, folder: Path, view: str, tag: str = "v1.2.3") -> tuple[Outcome, list[str]]:
    """Run the workflow for a tag. Return its outcome, and the calls of gh; view: the shell's answer to its question."""
    hub.push("main", {"Makefile": MAKEFILE}, by="mia")
    act, ledger = Act(hub, folder), folder / "gh"
    program = folder / "shell/gh"
    program.parent.mkdir()
    program.write_text(GH.format(ledger=ledger, view=view))
    program.chmod(0o755)
    event = make_payload(hub, ref=f"refs/tags/{tag}", after=hub.git.resolve("refs/heads/main"))
    return act.run("release.yml", "push", event), ledger.read_text().splitlines()


def test_a_published_release_is_not_replaced(hub: Hub, tmp_path: Path) -> None:
    """The tag may have been moved to another commit."""
    outcome, calls = release(hub, tmp_path, "echo false; exit 0")
    assert outcome.jobs == {"build": ["success"], "publish": ["failure"]}, outcome.log[-3000:]
    assert [call.split()[:2] for call in calls] == [["release", "view"]]


@pytest.mark.parametrize("is_draft", [False, True], ids=["first", "again"])
def test_a_tag_is_released(hub: Hub, tmp_path: Path, *, is_draft: bool) -> None:
    """The release is published last, when it has all files; a second run continues with the draft of the first."""
    outcome, calls = release(hub, tmp_path, "echo true; exit 0" if is_draft else "exit 1")
    assert outcome.jobs == {"build": ["success"], "publish": ["success"]}, outcome.log[-3000:]
    commands = [call.split()[:3] for call in calls]
    created = [] if is_draft else [["release", "create", "v1.2.3"]]
    assert commands == [
        ["release", "view", "v1.2.3"],
        *created,
        ["release", "upload", "v1.2.3"],
        ["release", "edit", "v1.2.3"],
    ]
    assert "--draft=false" in calls[-1]
    assert "notes.md" not in calls[-2]
    assert "--prerelease" not in " ".join(calls)


def test_a_release_candidate_is_not_the_latest_release(hub: Hub, tmp_path: Path) -> None:
    outcome, calls = release(hub, tmp_path, "exit 1", "v1.2.3rc1")
    assert outcome.jobs["publish"] == ["success"], outcome.log[-3000:]
    assert [call.split()[:3] for call in calls if "--prerelease" in call] == [
        ["release", "create", "v1.2.3rc1"]
    ]

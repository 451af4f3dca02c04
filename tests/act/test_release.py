"""Run the workflow that releases infx; short programs replace `make release` and gh, which needs GitHub."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.hub import Hub
from tests.act.bench import make_payload
from tests.act.harness import Act

MAKEFILE = "release:\n\tmkdir dist && echo one > dist/wheel && echo words > dist/notes.md\n"
GH = """\
#!/bin/sh
echo "$@" >> "{ledger}"
if [ "$2" = view ]; then exit "{view}"; fi
"""


@pytest.mark.parametrize("is_draft", [False, True], ids=["first", "again"])
def test_a_tag_is_released(hub: Hub, tmp_path: Path, *, is_draft: bool) -> None:
    """The release is published last, when it has all files; a second run continues with the draft of the first."""
    hub.push("main", {"Makefile": MAKEFILE}, by="mia")
    act, ledger = Act(hub, tmp_path), tmp_path / "gh"
    program = tmp_path / "shell/gh"
    program.parent.mkdir()
    program.write_text(GH.format(ledger=ledger, view=0 if is_draft else 1))
    program.chmod(0o755)
    event = make_payload(hub, ref="refs/tags/v1.2.3", after=hub.git.resolve("refs/heads/main"))
    outcome = act.run("release.yml", "push", event)
    assert outcome.jobs == {"build": ["success"], "publish": ["success"]}, outcome.log[-3000:]
    commands = [line.split()[:3] for line in ledger.read_text().splitlines()]
    created = [] if is_draft else [["release", "create", "v1.2.3"]]
    assert commands == [
        ["release", "view", "v1.2.3"],
        *created,
        ["release", "upload", "v1.2.3"],
        ["release", "edit", "v1.2.3"],
    ]
    assert "--draft=false" in ledger.read_text().splitlines()[-1]
    assert "notes.md" not in ledger.read_text().splitlines()[-2]

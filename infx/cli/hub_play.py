"""Play a pull request on a hub that another process serves."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from infx.cli.console import make_console
from infx.cli.inside import call
from infx.errors import UsageError
from infx.git import Git
from infx.phrases import join_words
from infx.play.fanout import Show
from infx.play.machines import Machines
from infx.play.pull import PullPlay
from infx.play.remote import RemoteHub
from infx.play.stage import PlayStage
from infx.policy import POLICY_PATH
from infx.policy.load import parse_policy

_WORKFLOWS = ".github/workflows"


def play_pull(number: int, url: str, folder: Path | None) -> int:
    """Play a pull request, and return 1 if something failed or was refused."""
    from infx.play.tell import RowProgress, Teller

    console = make_console("infx hub play")
    hub = RemoteHub(url)
    if number not in (numbers := hub.find_pulls()):
        known = join_words([str(each) for each in numbers]) or "none"
        raise UsageError(f"The hub has no pull request {number}. It has: {known}.")
    with _folder(folder) as place:
        _claim(place, hub)
        stage = PlayStage(hub=hub, folder=place, call=call, tell=Teller(console).tell, branch=hub.branch)
        machines = make_machines(stage, RowProgress(console))
        return 0 if PullPlay(machines, number).play() else 1


def make_machines(stage: PlayStage, show: Show) -> Machines:
    """Return machines that follow the policy and the workflows of the base branch."""
    git, branch = Git(stage.hub.git_path), f"refs/heads/{stage.branch}"
    data = git.read(branch, POLICY_PATH)
    if data is None:
        raise UsageError(
            f"{stage.branch} has no {POLICY_PATH}, which the workflows read.",
            hint="Commit one on that branch, and start the hub again.",
        )
    names = [name for name in git.list_files(branch, _WORKFLOWS) if name.endswith((".yml", ".yaml"))]
    files = git.read_many([(branch, name) for name in names])
    workflows = {name: file for name, file in zip(names, files, strict=True) if file is not None}
    return Machines(stage, show, parse_policy(data, POLICY_PATH), workers=1, workflows=workflows)


def _claim(place: Path, hub: RemoteHub) -> None:
    """Note the hub in the folder. Raises UsageError if it was another one, whose repository the checkouts there share."""
    note, name = place / "hub", f"{hub.git_path}\n"
    if note.exists() and note.read_text(encoding="utf-8") != name:
        raise UsageError(
            "The folder has the play of another hub.",
            hint="Name another one, or remove it.",
            where=str(place),
        )
    note.write_text(name, encoding="utf-8")


@contextmanager
def _folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="infx-play-") as place:
        yield Path(place)

"""Read what is known about this machine as the machine of a launch."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from infx.launch.bind import HostFacts, list_candidates
from infx.launch.steps import Launch


def read_host(
    launch: Launch, runner: str, workspace: Path, user_id: int, environ: Mapping[str, str]
) -> HostFacts:
    """Return the facts about this machine: the user, the checkout, and which candidates of the launch exist.

    Files of the scratch folder and of the allocation do not exist yet, so their placeholders stay.
    """
    values = {"uid": str(user_id), "workspace": str(workspace.absolute())}
    for name, variable in (("user", "USER"), ("home", "HOME")):
        if environ.get(variable):
            values[name] = environ[variable]
    paths: set[str] = set()
    for path, holds in list_candidates(launch.choices):
        place = workspace / path  # an absolute path stays as it is
        if place.exists():
            paths.add(path)
        if holds:
            paths.update(f"{path}/{file.name}" for file in place.glob(holds))
    return HostFacts(runner=runner, values=values, paths=frozenset(paths))

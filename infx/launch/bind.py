"""Fill a launch with what is known about a machine, as the machine itself does before it runs the steps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from infx.errors import InfxError, UsageError
from infx.launch.steps import Launch, PathChoice, Step, render_launch
from infx.records import record, replace
from infx.rowfile.errors import RowError
from infx.rowfile.launch_values import NAMES, choose_path, compute_port, fill_text

_FIELDS = ("user", "uid", "home", "workspace", "scratch", "job")


@record
class HostFacts:
    """What is known about the machine of a runner.

    Attributes:
        values: by name of a placeholder; a placeholder without a value stays in the text.
        paths: those that exist; a path in the workspace is relative to it.
    """

    runner: str
    values: Mapping[str, str]
    paths: frozenset[str]


def parse_host(data: bytes, path: str, runner: str) -> HostFacts:
    """Parse facts about a machine: JSON with user, uid, home, workspace, scratch, job, and paths that exist.

    Raises UsageError.
    """
    try:
        document = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The host facts are not JSON: {error}.", where=path) from None
    known = {*_FIELDS, "paths"}
    if not isinstance(document, dict) or not document.keys() <= known:
        raise UsageError(
            f"The host facts are not valid; expected a mapping of {', '.join(sorted(known))}.", where=path
        )
    paths = document.pop("paths", [])
    if not isinstance(paths, list) or not all(isinstance(item, str) for item in (*paths, *document.values())):
        raise UsageError("The host facts are not valid; expected text, and a list of paths.", where=path)
    return HostFacts(runner=runner, values=document, paths=frozenset(paths))


def bind_launch(launch: Launch, host: HostFacts) -> Launch:
    """Return the launch with the values of a machine, and without choices.

    Raises InfxError if none of the candidates for a script or a model exists.
    """
    values = _find_values(launch, host)
    return replace(
        launch,
        job_name=fill_text(launch.job_name, values),
        labels=_fill_map(launch.labels, values),
        choices=(),
        checkout=fill_text(launch.checkout, values),
        steps=tuple(_bind_step(step, values) for step in launch.steps),
    )


def _find_values(launch: Launch, host: HostFacts) -> dict[str, str]:
    values = {
        **{name: f"{{{name}}}" for name in NAMES},
        **host.values,
        "runner": host.runner,
        "digit": host.runner[-1:],
    }
    form = render_launch(launch)
    try:
        for choice in form["choices"]:
            values[choice["name"]] = choose_path(choice, lambda path, holds: _exists(host, path, holds))
        if launch.port.plus != "job" or "job" in host.values:
            values["port"] = compute_port(form["port"], values)
    except RowError as error:
        raise InfxError(str(error), hint="Add the file, or correct the cluster's fields.") from None
    return values


def _exists(host: HostFacts, path: str, holds: str) -> bool:
    if not holds:
        return path in host.paths
    return any(
        known.startswith(f"{path}/") and fnmatchcase(known.removeprefix(f"{path}/"), holds)
        for known in host.paths
    )


def _bind_step(step: Step, values: dict[str, str]) -> Step:
    return replace(
        step,
        argv=tuple(fill_text(text, values) for text in step.argv),
        environment=_fill_map(step.environment, values),
        output=None if step.output is None else fill_text(step.output, values),
        release=tuple(fill_text(text, values) for text in step.release),
        image_import=step.image_import
        and replace(
            step.image_import,
            file=fill_text(step.image_import.file, values),
            address=fill_text(step.image_import.address, values),
        ),
    )


def _fill_map(texts: Mapping[str, str], values: dict[str, str]) -> dict[str, str]:
    return {name: fill_text(text, values) for name, text in texts.items()}


def list_candidates(choices: tuple[PathChoice, ...]) -> Iterator[tuple[str, str | None]]:
    """Yield every path whose existence matters, with the pattern of a file that it must hold."""
    for choice in choices:
        for path in choice.paths:
            yield path, choice.holds


def render_bound(launch: Launch) -> dict[str, Any]:
    """Return the JSON form of a launch that was bound to a machine."""
    form = render_launch(launch)
    del form["choices"]
    return form

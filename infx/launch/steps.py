"""The steps of a launch as values, with the JSON form that travels in a plan.

Texts of a launch contain placeholders for values that only the row's machine knows, such as `{job}` and `{workspace}`.
`infx.rowfile.launch_values` lists them and replaces them, on the machine and in `infx launch render`.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from infx.records import record


class Driver(StrEnum):
    """What starts the benchmark, and what is left to remove after it."""

    SLURM = "slurm"
    DOCKER = "docker"
    LOCAL = "local"


class StepName(StrEnum):
    """What a step does. Only a failure of RUN is a failure of the benchmark."""

    ALLOCATE = "allocate"
    PACK = "pack"  # the workspace, for a node that does not share it
    SEND = "send"
    UNPACK = "unpack"
    STOP_CONTAINERS = "stop-containers"
    IMPORT = "import"
    RUN = "run"
    BRING_BACK = "bring-back"
    UNPACK_RESULTS = "unpack-results"
    REMOVE = "remove"  # the workspace of the node
    GIVE_BACK = "give-back"  # files of the workspace that the container wrote as root
    # Of rows on several nodes:
    FETCH = "fetch"
    CHECKOUT = "checkout"
    OVERLAY = "overlay"
    INSTALL = "install"
    CHECK_IMAGES = "check-images"
    CONFIGURE = "configure"
    EDIT_RECIPE = "edit-recipe"
    SUBMIT = "submit"
    COLLECT = "collect"


@record
class ImageImport:
    """What an import step does, for people and comparisons; its argv does it.

    Attributes:
        file: the squash file.
        address: where the importer fetches the image.
        is_on_node: whether a node of the allocation imports it, or this machine.
        lock_seconds: how long the step waits for the lock of the file.
    """

    file: str
    address: str
    is_on_node: bool
    lock_seconds: int


@record
class Step:
    """A process of a launch.

    Attributes:
        environment: variables that the step sets, over the row's and the machine's. The steps' argv never has values
            of variables.
        seconds: the step's time limit.
        is_always_run: whether the step also runs after an earlier step has failed.
        grants_job: whether the step's output names the granted allocation, as `{job}`.
        output: the file that gets the process's stdout.
        release: argv of the process that gives back what the step took; it runs on every path, and it may run twice.
    """

    name: StepName
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    seconds: int
    is_always_run: bool = False
    grants_job: bool = False
    output: str | None = None
    release: tuple[str, ...] = ()
    image_import: ImageImport | None = None


@record
class PathChoice:
    """A value that is the first existing path of some.

    Attributes:
        name: of the placeholder.
        paths: candidates; relative ones are in the workspace.
        holds: a pattern of file names, of which the folder must have one.
        otherwise: the value if no candidate qualifies; None: the launch fails.
        is_created: whether `otherwise` is made if it does not exist.
    """

    name: str
    paths: tuple[str, ...]
    holds: str | None = None
    otherwise: str | None = None
    is_created: bool = False


@record
class PortForm:
    """The port of a row's server: `base`, plus a number of the machine or of the allocation.

    Attributes:
        plus: `digit` (the last character of the runner's name), `job`, or None.
        modulo: of what is added.
    """

    base: int
    plus: str | None = None
    modulo: int | None = None


@record
class Launch:
    """Everything that a machine of one cluster needs to run a row.

    Attributes:
        job_name: of all Slurm jobs of this runner. A later job of the runner finds leftovers by it.
        labels: of the container that docker runs, in which a later job of the runner finds leftovers.
        secrets: names of variables that the benchmark gets from the machine's environment.
        row_names: names of variables that the benchmark gets from the row's environment; None: all.
        checkout: path of the checkout where the benchmark runs. The machine sets the variables with the paths of the
            programs in it.
    """

    cluster: str
    driver: Driver
    job_name: str
    labels: Mapping[str, str]
    secrets: tuple[str, ...]
    row_names: tuple[str, ...] | None
    choices: tuple[PathChoice, ...]
    port: PortForm
    checkout: str
    steps: tuple[Step, ...]


def render_launch(launch: Launch) -> dict[str, Any]:
    """Return the JSON form: kebab-case keys, and no key for an absent value."""
    return {
        "cluster": launch.cluster,
        "driver": launch.driver.value,
        "job-name": launch.job_name,
        "labels": dict(launch.labels),
        "secrets": list(launch.secrets),
        **({} if launch.row_names is None else {"row-names": list(launch.row_names)}),
        "choices": [_render_choice(choice) for choice in launch.choices],
        "port": {
            key: value
            for key, value in (
                ("base", launch.port.base), ("plus", launch.port.plus), ("modulo", launch.port.modulo)
            )
            if value is not None
        },
        "checkout": launch.checkout,
        "steps": [_render_step(step) for step in launch.steps],
    }  # fmt: skip


def _render_choice(choice: PathChoice) -> dict[str, Any]:
    values: dict[str, Any] = {"name": choice.name, "paths": list(choice.paths)}
    if choice.holds is not None:
        values["holds"] = choice.holds
    if choice.otherwise is not None:
        values["otherwise"] = choice.otherwise
    if choice.is_created:
        values["create"] = True
    return values


def _render_step(step: Step) -> dict[str, Any]:
    values: dict[str, Any] = {"name": step.name.value, "argv": list(step.argv), "seconds": step.seconds}
    if step.environment:
        values["environment"] = dict(step.environment)
    if step.is_always_run:
        values["always"] = True
    if step.grants_job:
        values["grants"] = "job"
    if step.output is not None:
        values["output"] = step.output
    if step.release:
        values["release"] = list(step.release)
    if step.image_import is not None:
        values["import"] = {
            "file": step.image_import.file,
            "address": step.image_import.address,
            "on": "node" if step.image_import.is_on_node else "host",
            "lock-seconds": step.image_import.lock_seconds,
        }
    return values

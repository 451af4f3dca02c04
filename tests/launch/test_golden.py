"""Compare launches with the commands that upstream's launchers were seen to run for the same rows."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infx.bench.row import RowReader
from infx.errors import InfxError
from infx.launch.bind import HostFacts, bind_launch
from infx.launch.clusters import Clusters, load_clusters
from infx.launch.render import render_row_launch
from infx.launch.steps import Launch, Step, StepName
from infx.launch.texts import LaunchTask
from tests.golden import ROOT, require_data

pytestmark = pytest.mark.golden

FOLDER = ROOT / "launch"
CASES = [
    case
    for path in sorted((FOLDER / "golden").glob("*.json"))
    if (case := json.loads(path.read_bytes()))["kind"] == "single-node"
]
JOB, UID, HOME, WORKSPACE = "1234567", "1001", "/home/gharunner", "/srv/checkout"
VALUES = {
    "job": JOB,
    "uid": UID,
    "home": HOME,
    "workspace": WORKSPACE,
    "user": "gharunner",
    "scratch": "/tmp/scratch",
}
# What golden files write for a value of the machine. The port's formula comes last: it contains JOB_ID.
PLACEHOLDERS = {
    "${JOB_ID}": JOB,
    "${UID}": UID,
    "${HOME}": HOME,
    "$HOME": HOME,
    "${WORKSPACE}": WORKSPACE,
    "$((40000+JOB_ID%10000))": str(40000 + int(JOB) % 10000),
}
# Variables of the machine itself, which a launch neither sets nor withholds.
MACHINE = {
    "GITHUB_ACTIONS", "GITHUB_RUN_ATTEMPT", "GITHUB_RUN_ID", "GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "HOME", "LANG",
    "USER",
}  # fmt: skip
SECRETS = {"HF_TOKEN", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET"}

# Deliberate differences: the name of a variable or an option, and the reason.
UNREAD = {
    "SALLOC_EXCLUDE": "neither a launcher nor Slurm reads it",
    "HF_HUB_CACHE_MOUNT": "leaks from a launcher; no script reads it",
    "AIPERF_MMAP_CACHE_HOST_PATH": "leaks from a launcher; no script reads it",
    "SRT_SLURM_MODEL_PREFIX": "leaks from a launcher; no script reads it",
    "PORT_OFFSET": "leaks from a launcher; no script reads it",
}
OWN_OPTIONS = {
    "--label": "a later job of the runner finds the container by its labels",
    "--cidfile": "the container is removed by its id, because another job may have its name",
    "--env": "values are compared with the environment; names without a value pass nothing",
    "--export": "values of variables are not arguments, where every user of the machine sees them",
    "--jobid": "the grant decides it",
}
TIME_ADDED = "an allocation without a time limit could outlive its job"
SHORT = {
    "-N": "--nodes",
    "-v": "--volume",
    "-w": "--workdir",
    "-e": "--env",
}


@pytest.fixture(scope="module")
def clusters() -> Clusters:
    require_data()
    path = FOLDER / "clusters.yaml"
    return load_clusters(path.read_bytes(), str(path))


def test_there_are_golden_rows() -> None:
    require_data()
    assert len(CASES) >= 1


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["golden"])
def test_a_launch_does_what_the_launcher_did(case: dict[str, Any], clusters: Clusters) -> None:
    if not case["script"]["exists"] or find_command(case, "container") is None:
        with pytest.raises(InfxError):  # refused before a GPU is reserved
            bind(render(case, clusters), case)
        return
    launch = bind(render(case, clusters), case)
    assert describe_launch(launch) == describe_case(case)
    assert find_environment(launch, case) == find_golden_environment(case)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["golden"])
def test_a_launch_looks_for_the_same_scripts(case: dict[str, Any], clusters: Clusters) -> None:
    """A launcher may look for a name twice."""
    if find_command(case, "container") is None:
        return
    (scripts,) = (choice for choice in render(case, clusters).choices if choice.name == "script")
    assert scripts.paths == tuple(dict.fromkeys(case["script"]["candidates"]))


def render(case: dict[str, Any], clusters: Clusters) -> Launch:
    row = RowReader().read(case["row"])
    environment = {
        name: value for name, value in case["job-env"].items() if name not in MACHINE | SECRETS | {*UNREAD}
    }
    task = LaunchTask(id="0" * 12, row=row, environment=environment, gathered=(), minutes=720)
    return render_row_launch(task, clusters.get_for_runner(case["runner"]), clusters)


def bind(launch: Launch, case: dict[str, Any]) -> Launch:
    paths = {case["script"]["chosen"]} if case["script"]["exists"] else set()
    host = HostFacts(runner=case["runner"], values=VALUES, paths=frozenset(paths))
    return bind_launch(launch, host)


def describe_launch(launch: Launch) -> dict[str, Any]:
    steps = {step.name: step for step in launch.steps}
    run = steps[StepName.RUN]
    allocation = steps.get(StepName.ALLOCATE, run)
    return {
        "allocation": read_allocation(allocation.argv, prefix="infx-"),
        "container": read_container(run.argv),
        "import": describe_import(steps.get(StepName.IMPORT)),
        "order": [name for name in steps if name in {StepName.IMPORT, StepName.ALLOCATE}],
    }


def describe_case(case: dict[str, Any]) -> dict[str, Any]:
    container = find_command(case, "container")
    assert container is not None
    allocation = find_command(case, "allocate") or container
    return {
        "allocation": read_allocation(allocation["argv"]),
        "container": read_container(container["argv"]),
        "import": describe_golden_import(case),
        "order": list_order(case),
    }


def find_command(case: dict[str, Any], role: str) -> dict[str, Any] | None:
    return next((command for command in case["commands"] if command["role"] == role), None)


def fill(text: str) -> str:
    for placeholder, value in PLACEHOLDERS.items():
        text = text.replace(placeholder, value)
    return text


def read_options(argv: tuple[str, ...] | list[str]) -> tuple[dict[str, set[str]], list[str]]:
    """Return the values of each option, and the arguments after the options."""
    options: dict[str, set[str]] = {}
    rest = [fill(part) for part in argv]
    while rest and rest[0] in {"srun", "salloc", "docker", "run"}:
        rest.pop(0)
    while rest and rest[0].startswith("-"):
        name, mark, value = rest.pop(0).partition("=")
        if (
            not mark
            and rest
            and name in {*SHORT, "--ulimit", "--group-add", "--volume", "--env", "--security-opt"}
        ):
            value = rest.pop(0)
        options.setdefault(SHORT.get(name, name), set()).add(value.rstrip("/"))
    return options, rest


ALLOCATION = {
    "--partition", "--account", "--gres", "--nodes", "--exclusive", "--mem", "--cpus-per-task", "--time", "--exclude",
    "--job-name",
}  # fmt: skip


def read_allocation(argv: tuple[str, ...] | list[str], prefix: str = "") -> dict[str, set[str]] | None:
    """Return what is asked of Slurm; None for docker. prefix: of the job's name."""
    if argv[0] == "docker":
        return None
    options, _ = read_options(argv)
    asked = {name: values for name, values in options.items() if name in ALLOCATION}
    asked["--job-name"] = {name.removeprefix(prefix) for name in asked["--job-name"]}
    if argv[0] == "srun":
        asked.pop("--time", None)  # TIME_ADDED
    return asked


def read_container(argv: tuple[str, ...] | list[str]) -> dict[str, Any]:
    """Return the container's options, image, mounts, folder and command."""
    options, command = read_options(argv)
    read = {
        name: values for name, values in options.items() if name not in ALLOCATION and name not in OWN_OPTIONS
    }
    mounts = read.pop("--container-mounts", None) or read.pop("--volume")
    split = [mount.split(":") for text in mounts for mount in text.split(",")]
    read["mounts"] = {":".join(path.rstrip("/") for path in paths) for paths in split}
    return {"options": read, "command": command}


def describe_import(step: Step | None) -> tuple[Any, ...] | None:
    if step is None:
        return None
    done = step.image_import
    assert done is not None
    place = "node" if step.argv[0] == "srun" else "host"
    assert done.is_on_node == (place == "node")
    environment = dict(step.environment)
    return (done.file, done.address, place, done.lock_seconds, environment, done.file in step.argv)


def describe_golden_import(case: dict[str, Any]) -> tuple[Any, ...] | None:
    """Return file, address, place, time limit of the lock, and variables of the import."""
    for command in case["commands"]:
        facts = command.get("step", {})
        if "squash" in facts:
            assert facts["lock"] == facts["squash"] + ".lock"
            environment = {name: fill(value) for name, value in facts.get("step-env", {}).items()}
            return (facts["squash"], facts["uri"], "node", facts["lock-timeout-s"], environment, True)
    imported, lock = find_command(case, "import image"), find_command(case, "lock")
    if imported is None or lock is None:
        return None
    _, _, _, file, address = imported["argv"]
    assert all("<random>" in value for value in imported["env-set"].values())  # scratch folders of the import
    return (file, address, "host", int(lock["argv"][2]), {}, True)


def list_order(case: dict[str, Any]) -> list[StepName]:
    order: list[StepName] = []
    for command in case["commands"]:
        if command["role"] == "allocate":
            order.append(StepName.ALLOCATE)
        elif command["role"] == "import image" or "squash" in command.get("step", {}):
            order.append(StepName.IMPORT)
    return order


def find_environment(launch: Launch, case: dict[str, Any]) -> dict[str, str]:
    """Return what the benchmark gets: the row's variables, those of the cluster over them, and secrets."""
    (run,) = (step for step in launch.steps if step.name is StepName.RUN)
    own = {
        name: value for name, value in case["job-env"].items() if name not in MACHINE | SECRETS | {*UNREAD}
    }
    if launch.row_names is not None:
        own = {name: value for name, value in own.items() if name in launch.row_names}
    secrets = {name: case["job-env"][name] for name in launch.secrets}
    found = {**own, **secrets, **run.environment}
    if run.argv[0] == "docker":  # only what is named gets into the container
        named = {part.removeprefix("--env=") for part in run.argv if part.startswith("--env=")}
        assert found.keys() <= named
        assert not any("=" in name for name in named)
    return found


def find_golden_environment(case: dict[str, Any]) -> dict[str, str]:
    container = find_command(case, "container")
    assert container is not None
    job = {
        name: value
        for name, value in case["job-env"].items()
        if name not in MACHINE and name not in container["env-not-passed"]
    }
    values = {**job, **container["env-set"]}
    return {name: fill(value) for name, value in values.items() if name not in UNREAD}


def test_a_formula_of_the_port_is_the_only_one() -> None:
    """A new formula in the data needs a line in PLACEHOLDERS."""
    texts = [json.dumps(case["commands"]) for case in CASES]
    assert {formula for text in texts for formula in re.findall(r"\$\(\(.*?\)\)", text)} <= {*PLACEHOLDERS}

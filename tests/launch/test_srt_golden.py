"""Compare launches through srt-slurm with the commands and files that upstream's launchers were seen to make."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.bench.row import RowReader
from infx.errors import InfxError
from infx.launch.bind import HostFacts, bind_launch
from infx.launch.routes import choose_route
from infx.launch.srt_cluster import SrtClusters, load_srt_clusters
from infx.launch.steps import Launch, Step, StepName
from infx.launch.texts import LaunchTask
from tests.golden import ROOT, require_data

pytestmark = pytest.mark.golden

FOLDER = ROOT / "launch"
CASES = [
    case
    for path in sorted((FOLDER / "golden").glob("*.json"))
    if (case := json.loads(path.read_bytes()))["kind"] == "multi-node"
]
VALUES = {"workspace": "${WORKSPACE}", "date": "<yyyymmdd>", "job": "17"}
# The environment of the submission that a recipe or srtctl reads; the others are folders of uv, and leaks.
READ = ("INFMAX_WORKSPACE", "MODEL_PATH", "SERVED_MODEL_NAME")
PREFIX = "infx-"  # deliberate: other tools cancel jobs by the runner's name alone


@pytest.fixture(scope="module")
def clusters() -> SrtClusters:
    require_data()
    path = FOLDER / "srt.yaml"
    return load_srt_clusters(path.read_bytes(), str(path))


def test_the_data_has_rows_for_srt_slurm(clusters: SrtClusters) -> None:
    assert any(name_cluster(case) in clusters.fields for case in CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["golden"])
def test_a_launch_submits_what_the_launcher_submitted(case: dict[str, Any], clusters: SrtClusters) -> None:
    """Rows of clusters that the file does not describe are refused, because their routes are not built."""
    if name_cluster(case) not in clusters.fields:
        with pytest.raises(InfxError):
            render(case, clusters)
        return
    steps = {step.name: step for step in render(case, clusters).steps}
    (fetch, checkout) = (command["argv"] for command in find_commands(case, "fetch srt-slurm"))
    assert steps[StepName.FETCH].argv == ("git", "clone", fetch[2], "${WORKSPACE}/srt-slurm")
    assert steps[StepName.CHECKOUT].argv[-1] == checkout[-1]
    (submit,) = find_commands(case, "submit")
    written = steps[StepName.SUBMIT].argv
    assert sorted(written[written.index("srtctl") :]) == sorted(submit["argv"])
    passed = steps[StepName.SUBMIT].environment
    assert {name: passed[name] for name in READ} == {name: submit["env-set"][name] for name in READ}
    (files,) = find_commands(case, "srtslurm.yaml and recipe as submitted")
    assert json.loads(steps[StepName.CONFIGURE].argv[-1]) == files["srtslurm"]
    check_edits(json.loads(steps[StepName.EDIT_RECIPE].argv[-1]), files["recipe-fields-set-by-the-launcher"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["golden"])
def test_a_launch_imports_what_the_launcher_imported(case: dict[str, Any], clusters: SrtClusters) -> None:
    if name_cluster(case) not in clusters.fields:
        return
    imported = [
        (step.image_import.file, step.image_import.address, str(step.image_import.lock_seconds))
        for step in render(case, clusters).steps
        if step.image_import is not None
    ]
    locks = [command["argv"][2] for command in find_commands(case, "lock")]
    files = [tuple(command["argv"][3:]) for command in find_commands(case, "import image")]
    assert imported == [(*file, lock) for file, lock in zip(files, locks, strict=True)]


def check_edits(edits: dict[str, Any], fields: dict[str, Any]) -> None:
    """Check that the edits make the fields. What the launcher left alone is the recipe's own."""
    assert edits.pop("name").removeprefix(PREFIX) == fields["name"]
    health = fields.get("health_check", {})
    assert edits.pop("health_check", health) == health
    for key, value in edits.pop("set", {}).items():
        assert health[key] == value
    edits.pop("after-line", None)  # recipes without the key stay as they are
    assert not edits


def name_cluster(case: dict[str, Any]) -> str:
    return str(case["runner"].partition("_")[0])


def find_commands(case: dict[str, Any], role: str) -> list[dict[str, Any]]:
    return [command for command in case["commands"] if command["role"] == role]


def render(case: dict[str, Any], clusters: SrtClusters) -> Launch:
    row = RowReader().read(case["row"])
    task = LaunchTask(id="0" * 12, row=row, environment=case["job-env"], gathered=(), minutes=720)
    launch = choose_route(task, clusters).render(task, name_cluster(case))
    return bind_launch(launch, HostFacts(runner=case["runner"], values=VALUES, paths=frozenset()))


def test_no_step_has_a_value_of_a_secret(clusters: SrtClusters) -> None:
    for case in CASES:
        if name_cluster(case) in clusters.fields:
            assert not [step for step in render(case, clusters).steps if has_secret(step, case)]


def has_secret(step: Step, case: dict[str, Any]) -> bool:
    texts = (*step.argv, *step.environment.values(), *step.release)
    values = [case["job-env"][name] for name in ("HF_TOKEN", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET")]
    return any(value in text for text in texts for value in values)

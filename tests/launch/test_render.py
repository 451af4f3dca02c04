"""The steps of a row on each kind of cluster."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.errors import InfxError
from infx.launch.render import render_row_launch
from infx.launch.steps import Driver, Launch, Step, StepName, render_launch
from tests.launch.samples import CLUSTERS, change, clusters, task

CANARY = "hf_canary_token_that_nothing_may_show"


def render(name: str, text: str = CLUSTERS, **fields: Any) -> Launch:
    return render_row_launch(task(**fields), name, clusters(text))


def extend(name: str, fields: str) -> str:
    """Return the clusters with more fields for one of them."""
    start = f"  {name}: {{"
    return change(CLUSTERS, start, f"{start}{fields}, ")


def find(launch: Launch, name: StepName) -> Step:
    (step,) = (step for step in launch.steps if step.name is name)
    return step


@pytest.mark.parametrize(
    ("cluster", "driver", "steps"),
    [
        ("h200-a", Driver.SLURM, ["allocate", "import", "run"]),
        ("h200-once", Driver.SLURM, ["run"]),
        ("h200-docker", Driver.DOCKER, ["run", "give-back"]),
        ("h200-bare", Driver.LOCAL, ["run"]),
    ],
)
def test_each_kind_of_cluster_has_its_steps(cluster: str, driver: Driver, steps: list[str]) -> None:
    launch = render(cluster)
    assert launch.driver is driver
    assert [step.name.value for step in launch.steps] == steps


def test_an_allocation_is_released_by_its_id() -> None:
    allocate = find(render("h200-a"), StepName.ALLOCATE)
    assert allocate.grants_job
    assert allocate.release == ("scancel", "{job}")
    assert set(allocate.argv) == {
        "salloc", "--partition=batch", "--gres=gpu:4", "--time=480", "--job-name=infx-{runner}", "--no-shell",
        "--exclusive",
    }  # fmt: skip


def test_a_single_srun_is_released_by_own_name_and_user() -> None:
    run = find(render("h200-once"), StepName.RUN)
    assert run.release == ("scancel", "--user={user}", "--name=infx-{runner}")


def test_every_allocation_has_a_time_limit() -> None:
    """Without one it could outlive its job: 500 minutes of the row, 120 of the import, 5 as a margin."""
    allocate = find(render("h200-a", change(CLUSTERS, "time: 480, ", "")), StepName.ALLOCATE)
    assert "--time=625" in allocate.argv


@pytest.mark.parametrize(
    ("fields", "minutes"),
    [("mem: 0", 475), ("time: 9000", 500), ("time: 180", 175), ("limits: {run: 30}", 30), ("time: 3", 1)],
)
def test_the_benchmark_ends_before_its_allocation_and_its_row(fields: str, minutes: int) -> None:
    """The row may take 500 minutes, and the allocation 480 unless the cluster says otherwise."""
    assert find(render("h200-a", extend("h200-a", fields)), StepName.RUN).seconds == minutes * 60


def test_every_step_has_a_time_limit() -> None:
    text = extend("h200-a", "workspace: {send: sbcast, to: '/tmp/w-{job}'}, before: [stop-containers]")
    launch = render("h200-a", text)
    assert len(launch.steps) == 10
    assert all(0 < step.seconds <= 500 * 60 for step in launch.steps)


def test_the_import_may_wait_for_the_lock_and_then_import() -> None:
    text = extend("h200-a", "image: {lock-timeout: 900}, limits: {import: 30}")
    assert find(render("h200-a", text), StepName.IMPORT).seconds == 900 + 30 * 60


def test_an_import_on_the_machine_comes_before_the_allocation() -> None:
    launch = render("h200-a", extend("h200-a", "image: {import: host}"))
    assert [step.name.value for step in launch.steps] == ["import", "allocate", "run"]
    assert launch.steps[0].argv[0] == "bash"


@pytest.mark.parametrize("fields", ["image: {import: pre-staged}", "image: {from: registry}"])
def test_some_images_are_not_imported(fields: str) -> None:
    launch = render("h200-a", extend("h200-a", fields))
    assert [step.name.value for step in launch.steps] == ["allocate", "run"]


def test_an_image_that_is_a_file_is_taken_as_it_is() -> None:
    launch = render("h200-a", image="/shared/m1.sqsh")
    assert [step.name.value for step in launch.steps] == ["allocate", "run"]
    assert "--container-image=/shared/m1.sqsh" in find(launch, StepName.RUN).argv
    with pytest.raises(InfxError, match="docker cannot run the squash file"):
        render("h200-docker", image="/shared/m1.sqsh")


def test_docker_labels_its_container_and_removes_it_by_id() -> None:
    launch = render("h200-docker")
    run = find(launch, StepName.RUN)
    assert launch.labels == {"infx.runner": "{runner}", "infx.row": "350d77624985"}
    assert {"--label=infx.runner={runner}", "--label=infx.row=350d77624985"} < set(run.argv)
    assert "--cidfile={scratch}/container.id" in run.argv
    assert run.release[-1] == "{scratch}/container.id"
    assert not any("bench-" in part for part in run.release)  # another job's container may have the name


@pytest.mark.parametrize(
    ("passed", "expected"),
    [
        ("", {"SCENARIO_SUBDIR", "CONC", "RUNNER_NAME", "HF_TOKEN", "MODAL_TOKEN_ID", "MODAL_TOKEN_SECRET", "PORT"}),
        (", pass: [CONC, HF_TOKEN, ABSENT]", {"CONC", "HF_TOKEN", "PORT"}),
        (", pass: {except: [CONC, MODAL_TOKEN_ID]}", {"SCENARIO_SUBDIR", "RUNNER_NAME", "HF_TOKEN", "MODAL_TOKEN_SECRET", "PORT"}),
    ],
)  # fmt: skip
def test_docker_passes_names_only(passed: str, expected: set[str]) -> None:
    text = change(CLUSTERS, 'gpus: "{gpus}"}', f'gpus: "{{gpus}}"{passed}}}')
    run = find(render("h200-docker", text), StepName.RUN)
    passed_names = {part.removeprefix("--env=") for part in run.argv if part.startswith("--env")}
    assert passed_names == expected | {"INFX_ROW_FILE", "INFX_SUPERVISE"}


@pytest.mark.parametrize("cluster", ["h200-a", "h200-once", "h200-docker", "h200-bare"])
def test_no_step_has_a_value_of_a_secret(cluster: str) -> None:
    """The row's environment must not have it, but a launch would not show it either."""
    launch = render(cluster, environment={"HF_TOKEN": CANARY, "CONC": CANARY})
    assert CANARY not in json.dumps(render_launch(launch))
    assert "HF_TOKEN" in launch.secrets


def test_values_of_variables_are_never_arguments() -> None:
    text = extend("h200-a", "env: {A: secret-looking, B: '1,2'}")
    run = find(render("h200-a", text), StepName.RUN)
    assert run.environment == {"PORT": "{port}", "A": "secret-looking", "B": "1,2"}
    assert "--export=ALL" in run.argv
    assert not any("secret-looking" in part for part in run.argv)


def test_a_row_on_several_nodes_is_refused() -> None:
    worker = {"num-worker": 1, "tp": 8, "pp": 1, "dcp-size": 1, "pcp-size": 1}
    with pytest.raises(InfxError, match="runs on several nodes"):
        render("h200-a", prefill=worker, decode=worker, conc=[4])


def test_results_come_back_after_a_failure_too() -> None:
    text = extend("h200-a", "workspace: {send: sbcast, to: '/tmp/w-{job}', bring-back: [LOGS]}")
    launch = render("h200-a", text)
    names = [step.name.value for step in launch.steps]
    assert names[1:4] == ["pack", "send", "unpack"]
    assert names[-3:] == ["bring-back", "unpack-results", "remove"]
    assert all(step.is_always_run for step in launch.steps[-3:])
    assert find(launch, StepName.BRING_BACK).argv[-2:] == ("LOGS", "agg_*.json")  # the row's results always
    assert any(
        part.startswith("--container-mounts=/tmp/w-{job}:/workspace")
        for part in find(launch, StepName.RUN).argv
    )


def test_the_json_form_has_everything_the_machine_needs() -> None:
    form = render_launch(render("h200-a"))
    assert form["choices"] == [
        {
            "name": "script",
            "paths": [
                "benchmarks/single_node/fixed_seq_len/m1_fp8_h200_vllm.sh",
                "benchmarks/single_node/fixed_seq_len/m1_fp8_h200.sh",
            ],
        }
    ]
    assert form["job-name"] == "infx-{runner}"
    assert form["port"] == {"base": 8888}
    assert form["steps"][1]["import"] == {
        "file": "/images/acme_vllm_1.sqsh", "address": "docker://acme/vllm:1", "on": "node", "lock-seconds": 600,
    }  # fmt: skip
    assert form["steps"][0]["grants"] == "job"
    assert "row-names" not in form

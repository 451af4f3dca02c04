"""Multi-node rows: which route they take, and the scripts around srt-slurm."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infx.errors import InfxError, ProblemsError
from infx.launch import srt_scripts
from infx.launch.routes import choose_route
from infx.launch.srt_cluster import load_srt_clusters
from infx.launch.steps import Launch, StepName
from tests.launch.samples import change, task
from tests.launch.srt_samples import MULTI_FIELDS, SRT

RECIPE = {"CONFIG_FILE": "recipes/vllm/m1.yaml", "RESULT_FILENAME": "m1_8k1k_0"}


def render(text: str = SRT, environment: dict[str, str] | None = None, **fields: Any) -> Launch:
    row_task = task(RECIPE if environment is None else environment, **{**MULTI_FIELDS, **fields})
    srt = load_srt_clusters(text.encode(), "srt.yaml")
    return choose_route(row_task, srt).render(row_task, "h200-a")


def test_a_row_takes_the_first_rule_that_fits() -> None:
    launch = render()
    steps = {step.name: step for step in launch.steps}
    assert steps[StepName.CHECKOUT].argv[-1] == "v2"
    submit = steps[StepName.SUBMIT]
    assert submit.argv[-6:] == (
        "apply", "-f", "recipes/vllm/m1.yaml", "--tags", "h200,m1,fp8,8192x1024,own,infmax-{date}", "--no-preflight",
    )  # fmt: skip
    assert submit.environment["SERVED_MODEL_NAME"] == "m-served"
    assert submit.release == ("scancel", "{job}")
    (choice,) = launch.choices
    assert (choice.paths, choice.otherwise) == (("/m1",), "hf:acme/m1")


def test_a_row_without_a_rule_is_refused() -> None:
    with pytest.raises(InfxError) as refused:
        render(precision="fp4")
    assert str(refused.value) == (
        'srt.yaml: No rule of the cluster "h200-a" fits the row; expected one for framework dynamo-vllm, model-prefix m1, '
        "precision fp4, spec-decoding none, scenario fixed. Add a rule with the places of the model and of the image."
    )


@pytest.mark.parametrize("framework", ["tilert", "llmd-vllm", "sglang-disagg"])
def test_routes_that_are_not_built_are_refused(framework: str) -> None:
    with pytest.raises(InfxError, match=f"infx does not launch rows of {framework}"):
        render(framework=framework)


def test_a_row_on_several_nodes_needs_a_file() -> None:
    row_task = task(RECIPE, **MULTI_FIELDS)
    with pytest.raises(InfxError, match="Name the file with --srt"):
        choose_route(row_task, None)


@pytest.mark.parametrize(
    "environment",
    [
        {},
        {"CONFIG_FILE": ""},
        {"CONFIG_FILE": "/etc/recipe.yaml"},
        {"CONFIG_FILE": "recipes/../../measured/x.yaml"},
        {"CONFIG_FILE": "-x"},
        {"CONFIG_FILE": "a b"},
    ],
)
def test_a_recipe_outside_of_srt_slurm_is_refused(environment: dict[str, str]) -> None:
    """Its text is edited on the machine itself, outside of any container."""
    with pytest.raises(InfxError, match=r"names no recipe|expected a path inside srt-slurm"):
        render(environment=environment)


def test_the_wait_is_bounded_by_the_job_and_by_the_row() -> None:
    """Four hours of the job and two of the queue; the row may take 500 minutes."""
    (run,) = (step for step in render().steps if step.name is StepName.RUN)
    assert run.seconds == 6 * 3600
    (run,) = (step for step in render(change(SRT, "4:00:00", "12:00:00")).steps if step.name is StepName.RUN)
    assert run.seconds == 500 * 60


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("    sku: h200\n", "", "Fields of clusters are missing: h200-a: sku"),
        ('time-limit: "4:00:00"', 'time-limit: "4h"', "expected hours:minutes:seconds"),
        ("alias: m, ref: v1", "alias: m", 'the key "ref" is missing'),
    ],
)
def test_a_file_of_another_form_is_refused(old: str, new: str, message: str) -> None:
    with pytest.raises((InfxError, ProblemsError), match=message):
        load_srt_clusters(change(SRT, old, new).encode(), "srt.yaml")


def bash(script: str, *arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    programs = f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]
    return subprocess.run(
        ["bash", "-c", script, "test", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": programs},
    )


def write_program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{text}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(
    ("squeue", "code", "calls"),
    [
        ("exit 0", 0, 1),  # the job has left the queue
        ('test "$(wc -l < $0.calls)" -ge 3 || echo RUNNING', 0, 3),
        ("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1", 0, 1),
        ("echo 'Unable to contact slurm controller' >&2; exit 1", 70, 10),  # not an empty queue
        ('test "$(wc -l < $0.calls)" -gt 9 || exit 1', 0, 10),  # fewer than ten failures in a row
    ],
)
def test_a_job_ends_when_the_queue_says_so(tmp_path: Path, squeue: str, code: int, calls: int) -> None:
    programs = tmp_path / "bin"
    write_program(programs, "squeue", f"echo >> $0.calls; {squeue}")
    write_program(programs, "sleep", "exit 0")
    done = bash(srt_scripts.WAIT, "17", str(tmp_path / "sweep.log"), path=programs)
    assert done.returncode == code, done.stderr
    assert len((programs / "squeue.calls").read_text().splitlines()) == calls


def test_results_get_the_name_of_the_row(tmp_path: Path) -> None:
    outputs, workspace = tmp_path / "outputs", tmp_path / "workspace"
    folder = outputs / "logs" / "sa-bench_isl_8192_osl_1024"
    folder.mkdir(parents=True)
    workspace.mkdir()
    (folder / "results_concurrency_4_gpus_16_ctx_8_gen_8.json").write_text("{}")
    (outputs / "eval_results").mkdir()
    (outputs / "eval_results/results_1.json").write_text("{}")
    done = bash(srt_scripts.COLLECT, str(outputs), str(workspace), "m1_8k1k_0")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in workspace.iterdir()} == {
        "m1_8k1k_0_sa-bench_isl_8192_osl_1024_conc4_gpus_16_ctx_8_gen_8.json",
        "results_1.json",
    }


def test_a_job_without_results_has_failed(tmp_path: Path) -> None:
    """The exit code of an srt job says nothing."""
    done = bash(srt_scripts.COLLECT, str(tmp_path), str(tmp_path), "m1")
    assert done.returncode == 1
    assert done.stderr == f"infx: srt-slurm left no results in {tmp_path}\n"


def test_an_image_that_an_operator_forgot_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.sqsh").write_text("x")
    done = bash(srt_scripts.CHECK, str(tmp_path / "a.sqsh"), str(tmp_path / "b.sqsh"))
    assert done.returncode == 66
    assert done.stderr == f"infx: the image {tmp_path}/b.sqsh is not there; an operator puts it there\n"


def test_own_recipes_are_copied_over_those_of_srt_slurm(tmp_path: Path) -> None:
    for name in ("own/vllm/m1", "srt/recipes/vllm/m1"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "own/vllm/m1/a.yaml").write_text("ours")
    (tmp_path / "srt/recipes/vllm/m1/a.yaml").write_text("theirs")
    (tmp_path / "srt/recipes/vllm/m1/b.yaml").write_text("theirs")
    done = bash(srt_scripts.OVERLAY, str(tmp_path / "own"), str(tmp_path / "srt/recipes"), "vllm/m1")
    assert done.returncode == 0, done.stderr
    copied = tmp_path / "srt/recipes/vllm/m1"
    assert [(copied / name).read_text() for name in ("a.yaml", "b.yaml")] == ["ours", "theirs"]

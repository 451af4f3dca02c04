"""A launch with the facts of a machine."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infx.errors import InfxError, UsageError
from infx.launch.bind import HostFacts, bind_launch, parse_host, render_bound
from infx.launch.render import render_row_launch
from infx.launch.steps import Launch, StepName
from tests.launch.samples import CLUSTERS, SCRIPT, change, clusters, task

VALUES = {
    "user": "ci",
    "uid": "1001",
    "home": "/home/ci",
    "workspace": "/srv/checkout",
    "scratch": "/tmp/s",
    "job": "70123",
}


def bind(
    fields: str = "mem: 0", *paths: str, values: dict[str, str] | None = None, runner: str = "h200-a_07"
) -> Launch:
    text = change(CLUSTERS, "h200-a: {", f"h200-a: {{{fields}, ")
    host = HostFacts(
        runner=runner, values=VALUES if values is None else values, paths=frozenset(paths or {SCRIPT})
    )
    return bind_launch(render_row_launch(task(), "h200-a", clusters(text)), host)


def environment_of(launch: Launch) -> dict[str, str]:
    (run,) = (step for step in launch.steps if step.name is StepName.RUN)
    return dict(run.environment)


def test_nothing_is_left_to_fill() -> None:
    text = json.dumps(render_bound(bind("env: {A: '{home} {user} {uid} {runner} {digit}'}")))
    assert not [name for name in (*VALUES, "runner", "digit", "script", "port") if f"{{{name}}}" in text]
    assert "infx-h200-a_07" in text
    assert "/home/ci ci 1001 h200-a_07 7" in text


def test_the_first_script_that_exists_runs() -> None:
    tagged = SCRIPT.replace("_h200", "_h200_vllm")
    (run,) = (step for step in bind("mem: 0", SCRIPT, tagged).steps if step.name is StepName.RUN)
    assert run.argv[-1] == tagged


def test_a_row_without_a_script_is_refused_before_a_gpu_is_reserved() -> None:
    with pytest.raises(InfxError, match="None of the candidates for script exists"):
        bind("mem: 0", "benchmarks/single_node/agentic/m1_fp8_h200.sh")


@pytest.mark.parametrize(
    ("port", "expected"),
    [
        ("7000", "7000"),
        ("{base: 8888, plus: digit}", "8895"),  # the runner's name ends with 7
        ("{base: 40000, plus: job, modulo: 10000}", "40123"),
        ("{base: 100, plus: job}", "70223"),
    ],
)
def test_a_port_has_three_forms(port: str, expected: str) -> None:
    assert environment_of(bind(f"port: {port}"))["PORT"] == expected


def test_a_port_that_needs_a_digit_refuses_a_runner_without_one() -> None:
    with pytest.raises(InfxError, match="The port needs a number for digit, which is 'a'"):
        bind("port: {base: 8888, plus: digit}", runner="h200-a_a")


def test_values_that_are_not_known_yet_stay() -> None:
    """Before the allocation there is no job; a person sees where its id will be."""
    launch = bind("port: {base: 1, plus: job}, env: {A: '{job}'}", values={})
    assert environment_of(launch) == {"PORT": "{port}", "A": "{job}"}
    assert launch.steps[0].release == ("scancel", "{job}")


MODEL = 'model: {set: [M], paths: {m1/fp8: {any: [/a, /b], holds: "*.safetensors", else: /c}}}'


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ((), "/c"),
        (("/a", "/b"), "/c"),  # empty folders
        (("/b/x.safetensors",), "/b"),
        (("/a/x.txt", "/b/x.safetensors"), "/b"),
        (("/a/x.safetensors", "/b/x.safetensors"), "/a"),
        (("/ab/x.safetensors",), "/c"),
    ],
)
def test_the_first_folder_with_weights_is_the_models(paths: tuple[str, ...], expected: str) -> None:
    assert environment_of(bind(MODEL, SCRIPT, *paths))["M"] == expected


def test_a_value_is_not_read_again() -> None:
    assert environment_of(bind("env: {A: '{home}'}", values={**VALUES, "home": "{user}"}))["A"] == "{user}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "The host facts are not JSON"),
        ("[]", "expected a mapping of home, job, paths, scratch, uid, user, workspace"),
        ('{"token": "x"}', "expected a mapping of"),
        ('{"uid": 1}', "expected text, and a list of paths"),
        ('{"paths": "a"}', "expected text, and a list of paths"),
        ('{"paths": [1]}', "expected text, and a list of paths"),
    ],
)
def test_facts_of_another_form_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_host(text.encode(), "host.json", "h200-a_0")


def test_facts_come_from_a_file() -> None:
    facts: dict[str, Any] = {"user": "ci", "paths": ["/a"]}
    assert parse_host(json.dumps(facts).encode(), "host.json", "r_0") == HostFacts(
        runner="r_0", values={"user": "ci"}, paths=frozenset({"/a"})
    )

"""The workflow's file on the branch decides about a dispatch, with GitHub's messages."""

from __future__ import annotations

from typing import Any

import pytest

from infx import yaml12
from infx.github.api import GitHub
from infx.github.errors import ValidationError
from infx.hub import Hub
from infx.hub.refusal import Refused
from infx.hub.seed import WORKFLOW_FILES
from tests.conftest import ROOT

PATH = ".github/workflows/x.yml"
WITH_INPUTS = """\
on:
  push:
  workflow_dispatch:
    inputs:
      pr: {required: true}
      mode: {type: choice, options: [fast, full], default: fast}
      trim: {type: boolean, default: false}
      note: {description: What it is for}
"""
NO_TRIGGER = "Workflow does not have 'workflow_dispatch' trigger"


def inputs_of(hub: Hub) -> Any:
    return next(e for e in reversed(hub.state.events) if e.name == "workflow_dispatch").payload["inputs"]


@pytest.mark.parametrize(
    "text",
    [
        "on: workflow_dispatch\n",
        "on: [push, workflow_dispatch]\n",
        "on: {workflow_dispatch: }\n",
        "on: {workflow_dispatch: {}, pull_request: {}}\n",
        "on: {workflow_dispatch: {inputs: }}\n",
    ],
)
def test_every_way_to_write_the_trigger_starts_a_run(hub: Hub, github: GitHub, text: str) -> None:
    hub.push("main", {PATH: text}, by="mia")
    run = github.dispatch_workflow("x.yml", ref="main", inputs={})
    assert hub.state.runs[run.id].event == "workflow_dispatch"
    assert inputs_of(hub) == {}


@pytest.mark.parametrize(
    "text",
    ["on: push\n", "on: [push, workflow_call]\n", "on: {workflow_call: {}}\n", "on: [\n", "", "- on\n", "name: workflow_dispatch\n",
     "on: {workflow_dispatch: now}\n", "on: {workflow_dispatch: {inputs: [pr]}}\n"],
)  # fmt: skip
def test_without_the_trigger_a_dispatch_is_refused(hub: Hub, github: GitHub, text: str) -> None:
    hub.push("main", {PATH: text}, by="mia")
    with pytest.raises(ValidationError, match=NO_TRIGGER):
        github.dispatch_workflow("x.yml", ref="main", inputs={})
    assert not hub.state.runs


def test_the_file_on_the_dispatched_branch_counts(hub: Hub, github: GitHub) -> None:
    hub.push("feat-x", {PATH: "on: push\n"})
    hub.push("main", {PATH: "on: workflow_dispatch\n"}, by="mia")
    with pytest.raises(ValidationError, match=NO_TRIGGER):
        github.dispatch_workflow("x.yml", ref="feat-x", inputs={})
    hub.push("old", {"a": "b"}, start="feat-x")
    hub.push("old", {PATH: None})
    with pytest.raises(ValidationError, match=NO_TRIGGER):
        github.dispatch_workflow("x.yml", ref="old", inputs={})
    github.dispatch_workflow("x.yml", ref="main", inputs={})


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"pr": "7", "foo": "x"}, 'Unexpected inputs provided: ["foo"]'),
        ({"pr": "7", "Trim": "true", "x": ""}, 'Unexpected inputs provided: ["Trim", "x"]'),
        ({}, "Required input 'pr' not provided"),
        ({"pr": ""}, "Required input 'pr' not provided"),
        ({"pr": "7", "mode": "slow"}, "Provided value 'slow' for input 'mode' not in the list"),
        ({"pr": "7", "trim": "yes"}, "Provided value 'yes' for input 'trim' not in the list"),
    ],
)
def test_undeclared_missing_and_invalid_inputs_are_refused(
    hub: Hub, github: GitHub, inputs: dict[str, str], words: str
) -> None:
    hub.push("main", {PATH: WITH_INPUTS}, by="mia")
    with pytest.raises(ValidationError) as caught:
        github.dispatch_workflow("x.yml", ref="main", inputs=inputs)
    assert words in str(caught.value)
    with pytest.raises(Refused) as refused:  # the method that the route calls
        hub.dispatch("x.yml", ref="main", inputs=inputs)
    assert words in refused.value.message
    assert not hub.state.runs


def test_the_event_has_the_defaults_and_the_run_only_the_given_inputs(hub: Hub, github: GitHub) -> None:
    hub.push("main", {PATH: WITH_INPUTS}, by="mia")
    run = github.dispatch_workflow("x.yml", ref="main", inputs={"pr": "7", "mode": "full"})
    assert hub.state.runs[run.id].inputs == {"pr": "7", "mode": "full"}
    assert inputs_of(hub) == {"pr": "7", "mode": "full", "trim": "false"}


@pytest.mark.parametrize(
    ("sent", "text"), [({"trim": True}, "true"), ({"size": 2}, "2"), ({"trim": None}, "")]
)
def test_inputs_of_other_types_become_text(hub: Hub, github: GitHub, sent: dict[str, Any], text: str) -> None:
    """A client may send true, numbers and null; a choice may have numbers as options."""
    size = "      size: {type: choice, options: [1, 2]}\n"
    hub.push("main", {PATH: WITH_INPUTS.replace(", default: false", "") + size}, by="mia")
    run = hub.state.runs[github.dispatch_workflow("x.yml", ref="main", inputs={"pr": "7", **sent}).id]
    assert run.inputs == {"pr": "7", **(dict.fromkeys(sent, text) if text else {})}
    assert run.title == f"7 {text}".strip()


def test_the_seeded_workflow_has_the_inputs_of_the_projects_workflow() -> None:
    (path,) = WORKFLOW_FILES
    seeded, own = (
        yaml12.load(data, path).value["on"]["workflow_dispatch"]["inputs"]
        for data in (WORKFLOW_FILES[path].encode(), (ROOT / path).read_bytes())
    )
    seeded_types, own_types = (
        {name: about.get("type", "string") for name, about in inputs.items()} for inputs in (seeded, own)
    )
    assert seeded_types == own_types

"""Edits of a recipe by its lines; every result is read as YAML."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from infx import yaml12
from infx.rowfile.recipe_edit import edit_lines

PLAIN = """\
name: "old"  # of the job
model: {path: m1}
health_check:
  max_attempts: 180
  interval_seconds: 10

backend:
  # name: not this
  name: engine
  watchdog-timeout: 1000
  nested: {}
"""
BASED = "base:\n  backend:\n    name: engine\n  name: old\n  health_check:\n    max_attempts: 1\nother:\n  name: kept\n"


def edit(text: str, **edits: Any) -> Any:
    lines = edit_lines(
        text.splitlines(), {key.replace("after_line", "after-line"): value for key, value in edits.items()}
    )
    return yaml12.load("\n".join(lines).encode(), "recipe.yaml").value


def test_the_job_gets_another_name() -> None:
    edited = edit(PLAIN, name="infx-h200-a_0")
    assert edited["name"] == "infx-h200-a_0"
    assert edited["backend"]["name"] == "engine"


def test_the_job_s_name_may_be_below_base() -> None:
    """12 rows have recipes of this form, which a search at the beginning of lines leaves unchanged."""
    edited = edit(BASED, name="new")
    assert edited["base"]["name"] == "new"
    assert edited["base"]["backend"]["name"] == "engine"
    assert edited["other"]["name"] == "kept"


def test_a_value_is_replaced_on_every_line_of_its_key() -> None:
    assert edit(PLAIN, set={"max_attempts": 720})["health_check"] == {
        "max_attempts": 720,
        "interval_seconds": 10,
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [(PLAIN, lambda value: value), (BASED, lambda value: value["base"]), ("name: a\n", lambda value: value)],
)
def test_a_block_is_replaced_as_a_whole_or_added(text: str, found: Any) -> None:
    wanted = {"max_attempts": 720, "interval_seconds": 5}
    edited = edit(text, health_check=wanted)
    assert found(edited)["health_check"] == wanted
    assert edited.keys() >= yaml12.load(text.encode(), "r").value.keys()


def test_a_line_is_added_at_the_depth_of_its_key() -> None:
    edited = edit(PLAIN, after_line={"watchdog-timeout": "dist-timeout: 1800"})
    assert edited["backend"]["watchdog-timeout"] == 1000
    assert edited["backend"]["dist-timeout"] == 1800


def test_a_recipe_without_the_key_gets_no_line() -> None:
    assert edit("name: a\n", after_line={"watchdog-timeout": "dist-timeout: 1800"}) == {"name": "a"}


@pytest.mark.parametrize(
    ("text", "edits", "missing"),
    [("model: m1\n", {"name": "a"}, "name"), ("name: a\n", {"set": {"max_attempts": 1}}, "max_attempts")],
)
def test_an_edit_without_effect_is_an_error(text: str, edits: dict[str, Any], missing: str) -> None:
    with pytest.raises(LookupError, match=missing):
        edit_lines(text.splitlines(), edits)


def test_the_text_runs_as_a_program(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(PLAIN)
    source = files("infx.rowfile").joinpath("recipe_edit.py").read_text("utf-8")
    argv = [sys.executable, "-I", "-c", source, str(recipe)]
    subprocess.run([*argv, json.dumps({"name": 'a "quoted" name'})], check=True)
    assert yaml12.load(recipe.read_bytes(), "r").value["name"] == 'a "quoted" name'
    refused = subprocess.run(
        [*argv, json.dumps({"set": {"x": 1}})], check=False, capture_output=True, text=True
    )
    assert (refused.returncode, refused.stderr) == (1, f"infx: {recipe}: the recipe has no x.\n")

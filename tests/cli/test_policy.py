"""`infx policy show`: formats, parts, and the policy of a commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx import yaml12
from tests.calling import call
from tests.repository import Repository


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    repository = Repository.init(tmp_path)
    repository.commit({"configs/policy.yaml": "sweep:\n  row-minutes: 30\n"})
    monkeypatch.chdir(tmp_path)
    return repository


def test_json_is_the_whole_policy_and_a_part_of_it(repository: Repository) -> None:
    whole = call("policy", "show").json
    assert (whole["sweep"]["row-minutes"], whole["base-branch"]) == (30, "main")
    assert call("policy", "show", "sweep.row-minutes").json == 30
    assert yaml12.load(call("policy", "show", "--format", "yaml").out.encode(), "x").value == whole


def test_the_origin_is_a_file_or_a_commit_with_its_line(repository: Repository) -> None:
    (value,) = call("policy", "show", "sweep.row-minutes", "--origin").json
    expected = {"keys": ["sweep", "row-minutes"], "value": 30, "path": "configs/policy.yaml", "line": 2}
    assert value == expected
    (value,) = call(
        "policy", "show", "sweep.row-minutes", "--origin", "--policy", "HEAD:configs/policy.yaml"
    ).json
    assert value["path"] == "HEAD:configs/policy.yaml"
    shown = call("policy", "show", "sweep", "--origin", "--format", "yaml").out
    lines = {line.split(":")[0]: line.split("# ")[1] for line in shown.splitlines() if "# " in line}
    assert lines["row-minutes"] == "configs/policy.yaml:2"
    assert lines["row-command"].startswith("infx/policy/default.yaml:")


def test_on_actions_the_policy_must_be_named(repository: Repository) -> None:
    called = call("policy", "show", environ={"GITHUB_ACTIONS": "true"})
    assert called.code == 2
    assert "policy must be named" in called.err

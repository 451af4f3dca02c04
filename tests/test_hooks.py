"""The hooks that other repositories run by pre-commit: nothing that a policy names goes by unseen."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from infx import yaml12
from tests.calling import call
from tests.changelog.samples import BASE, RUNNERS, config, new
from tests.conftest import ROOT
from tests.repository import Repository

HOOKS: list[dict[str, Any]] = yaml12.load((ROOT / ".pre-commit-hooks.yaml").read_bytes(), "hooks").value
POLICY = """\
repository: acme/bench
changelog: record/measured.yml
master-configs: [bench/one.yml]
runners: bench/machines.yml
"""


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_a_hook_runs_whatever_a_commit_touches(hook: dict[str, Any]) -> None:
    """`files`, `exclude` and `types` are patterns that cannot know the policy, and leave out what a commit deletes."""
    assert hook["always_run"] is True
    assert hook["pass_filenames"] is False
    assert not hook.keys() & {"files", "exclude", "types", "types_or", "exclude_types", "stages"}


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, int]]:
    """Writes files of a repository with names of its own, and returns what each hook about data says of it."""
    repository = Repository.init(tmp_path / "own")
    files: dict[str, str | bytes] = {
        "record/measured.yml": BASE,
        "bench/one.yml": config("a"),
        "bench/machines.yml": RUNNERS,
    }
    repository.commit({**files, "configs/policy.yaml": POLICY})
    repository.branch("feat")
    monkeypatch.chdir(repository.path)

    def hooks(changes: dict[str, str | bytes | None]) -> dict[str, int]:
        for name, content in changes.items():
            if content is None:
                (repository.path / name).unlink()
            else:
                repository.write({name: content})
        found = {hook["id"]: shlex.split(hook["entry"])[1:] for hook in HOOKS}
        return {name: call(*words).code for name, words in found.items() if words[0] != "workflows"}

    return hooks


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"README": "x"}, (0, 0)),
        ({"bench/one.yml": config("a").replace("vllm/vllm-openai:v0.20.0", "''")}, (1, 0)),
        ({"bench/one.yml": None}, (2, 0)),
        ({"bench/machines.yml": "labels: 3\n"}, (1, 0)),
        ({"record/measured.yml": BASE + new("TBD", key="a")}, (0, 1)),
        ({"record/measured.yml": None}, (1, 1)),
        ({"record/measured.yml": BASE + new(key="a"), "bench/machines.yml": None}, (1, 1)),
    ],
)
def test_own_file_names_are_looked_at(
    commit: Callable[..., dict[str, int]], changes: dict[str, Any], codes: tuple[int, int]
) -> None:
    assert commit(changes) == dict(zip(("infx-config-check", "infx-changelog-validate"), codes, strict=True))

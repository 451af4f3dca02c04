"""The pre-commit hooks for other repositories: they check every file that a policy names."""

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
def test_a_hook_runs_at_every_commit(hook: dict[str, Any]) -> None:
    """Allow no filter: patterns such as `files` or `types` do not know the policy and ignore deleted files."""
    assert hook["always_run"] is True
    assert hook["pass_filenames"] is False
    assert not hook.keys() & {"files", "exclude", "types", "types_or", "exclude_types", "stages"}


@pytest.fixture
def commit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, int]]:
    """Return a function that changes files with custom names and returns each data hook's exit code."""
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
        commands = {hook["id"]: shlex.split(hook["entry"])[1:] for hook in HOOKS}
        return {name: call(*words).code for name, words in commands.items() if words[0] != "workflows"}

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
def test_hooks_check_files_with_custom_names(
    commit: Callable[..., dict[str, int]], changes: dict[str, Any], codes: tuple[int, int]
) -> None:
    assert commit(changes) == dict(zip(("infx-config-check", "infx-changelog-validate"), codes, strict=True))

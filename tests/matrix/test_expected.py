"""Real configurations and pull requests, compared with the rows that another generator printed for them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from infx import schema
from tests.calling import call

MATRICES = (
    "full-sweep", "all-no-evals", "evals-only", "all-evals", "single-node-8k1k", "multi-node-max-conc", "agentic",
    "runner-nodes", "limits", "wildcard-b200", "conc-pick",
)  # fmt: skip
PULLS = (
    2206, 2475, 2488, 2498, 2550, 2562, 2568, 2571, 2579, 2590, 2601, 2611, 2620, 2636, 2637, 2642, 2643, 2663, 2676,
    2686,
)  # fmt: skip
PROFILE = ("--eval-profile", "inferencex-2026-08")


@pytest.mark.shared
@pytest.mark.parametrize("name", MATRICES)
def test_matrix(name: str, shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = shared / "inferencex"
    expected = folder / "expected" / "matrix"
    options = {item["name"]: item["argv"] for item in json.loads((expected / "index.json").read_text())}
    monkeypatch.chdir(folder)
    called = call("matrix", *options[name], *PROFILE)
    assert called.code == 0, called.err
    assert called.json == json.loads((expected / f"{name}.json").read_text())
    assert all(schema.is_valid("matrix-row", row) for row in called.json)


@pytest.mark.shared
def test_unknown_runner_labels_are_warnings(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of the 8 configurations (of 208) with an unknown label are printed."""
    monkeypatch.chdir(shared / "inferencex")
    called = call("matrix", "full-sweep")
    assert called.code == 0, called.err
    lines = called.err.splitlines()
    assert len(lines) == 8
    assert all(line.startswith("warning: ") and "has no runner label" in line for line in lines)


@pytest.fixture(scope="module")
def history(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    clone = tmp_path_factory.mktemp("history") / "clone"
    bundle = shared / "inferencex" / "history.bundle"
    subprocess.run(["git", "clone", "--quiet", str(bundle), str(clone)], check=True)
    return clone


@pytest.mark.shared
@pytest.mark.parametrize("pull", PULLS)
def test_plan(
    pull: int,
    history: Path,
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(history)
    called = call("plan", "--base-ref", f"pr-{pull}-base", "--head-ref", f"pr-{pull}-head", *PROFILE)
    assert called.code == 0, called.err
    expected = json.loads((shared / "inferencex" / "expected" / "plans" / f"pr-{pull}.json").read_text())
    assert comparable(called.json) == comparable(expected)


def comparable(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plan without metadata and empty buckets."""
    buckets = {name: rows for name, rows in plan.items() if name != "changelog_metadata"}
    full = {
        name: {kind: items for kind, items in rows.items() if items} if isinstance(rows, dict) else rows
        for name, rows in buckets.items()
    }
    return {name: rows for name, rows in full.items() if rows}

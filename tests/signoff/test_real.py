"""Real pull requests, acceptance lengths and thresholds can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.gather.signoff_clone import open_revisions
from infx.gather.signoff_plan import read_configs, read_plan
from infx.git import Git
from infx.matrix.acceptance import parse_curve
from infx.policy.load import default_policy
from infx.signoff.checks.accuracy import parse_thresholds


@pytest.fixture(scope="module")
def clone(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Git:
    folder = tmp_path_factory.mktemp("history")
    Git(folder).run("clone", "--quiet", "--no-checkout", str(shared / "inferencex/history.bundle"), "clone")
    return Git(folder / "clone")


@pytest.mark.parametrize(
    ("number", "keys", "points_only", "added"),
    [
        (2206, 1, False, 142),
        (2601, 4, False, 138),
        (2643, 1, False, 3),
        (2676, 1, True, 1),  # extends a curve by one concurrency
    ],
)
def test_pull_request(clone: Git, number: int, keys: int, points_only: bool, added: int) -> None:
    revisions = open_revisions(clone, default_policy(), f"pr-{number}-base", f"pr-{number}-head")
    plan = read_plan(revisions)
    assert plan.problem is None
    assert len({row.id for row in plan.rows}) == len(plan.rows)
    named = [key for entry in plan.entries for key in entry.config_keys]
    configs = read_configs(revisions, named, list(revisions.read_added_lines()))
    changes, known = configs.changes, configs.known
    assert configs.problems == ()
    assert (len(changes), {change.adds_points_only for change in changes}) == (keys, {points_only})
    assert {change.key for change in changes} >= set(named)
    assert len(known) > 150
    lines = revisions.read_added_lines()
    assert (
        sum(len(added_lines or ()) for path, added_lines in lines.items() if path.startswith("configs/"))
        == added
    )
    assert len(revisions.make_fingerprint()) == 64


def test_real_thresholds_and_acceptance_lengths(shared: Path) -> None:
    data = shared / "inferencex"
    bars = parse_thresholds((data / "eval-thresholds.yaml").read_text(), "eval-thresholds.yaml")
    assert (
        bars.find_bar("qwen3.5", "gsm8k"),
        bars.find_bar("new", "gsm8k"),
        bars.find_bar("new", "new"),
    ) == (
        0.94,
        0.9,
        0.85,
    )
    curves = {
        path.name: parse_curve(path.read_text(), path.name) for path in sorted((data / "golden-al").iterdir())
    }
    assert all(curves.values())
    lengths = {(cell.mode, cell.tokens): cell.length for cell in curves["qwen3.5_mtp.yaml"]}
    assert lengths["thinking_on", 3] == 3.39

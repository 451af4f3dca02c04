"""infx results stats: the jobs of a run at GitHub, to a file and an exit code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.hub import FOREVER, Fault, FaultKind, Hub
from tests.calling import call

RUNNERS = "labels: {'cluster:h100-a': [h100-a_0], 'cluster:h200-b': [h200-b_0]}\n"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    monkeypatch.chdir(tmp_path)
    Path("runners.yaml").write_text(RUNNERS)
    with Hub() as hub:
        hub.push("main", {"x": "1"})
        for name, value in hub.environ(hub.workflow_token(actions="read")).items():
            monkeypatch.setenv(name, value)
        yield hub


def count(run: int) -> list[str]:
    return [
        "results",
        "stats",
        "--run",
        str(run),
        "--runner-config",
        "runners.yaml",
        "--out",
        "run_stats.json",
    ]


def test_every_page_of_jobs_counts(hub: Hub) -> None:
    run = hub.add_run()
    for number in range(130):  # more than a page
        hub.add_job(
            run.id, f"{number:012x} · x · cluster:h100-a", conclusion="success" if number else "failure"
        )
    hub.add_job(run.id, "sweep / collect", conclusion=None)
    called = call(*count(run.id))
    assert called.code == 0, called.err
    expected = {"h100-a": {"n_success": 129, "total": 130}, "h200-b": {"n_success": 0, "total": 0}}
    assert called.json == expected
    assert json.loads(Path("run_stats.json").read_text()) == expected


@pytest.mark.parametrize("fault", [FaultKind.FORBIDDEN, FaultKind.NOT_FOUND, FaultKind.EMPTY], ids=str)
def test_a_list_that_cannot_be_read_is_an_error(hub: Hub, fault: FaultKind) -> None:
    run = hub.add_run()
    hub.add_job(run.id, "x · cluster:h100-a", conclusion="success")
    hub.faults.add(Fault(kind=fault, path="/jobs", times=FOREVER))
    assert call(*count(run.id)).code == 3
    assert not Path("run_stats.json").exists()


def test_a_run_that_does_not_exist_is_an_error(hub: Hub) -> None:
    assert call(*count(987654)).code == 3


def test_a_named_inventory_must_exist(hub: Hub) -> None:
    run = hub.add_run()
    called = call(*count(run.id)[:-4], "--runner-config", "absent.yaml")
    assert called.code == 2
    assert "absent.yaml" in called.err

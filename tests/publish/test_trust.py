"""What others write into statuses, artifacts and results neither publishes, hides nor changes anything."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from infx.bench.uploads import artifact_name
from infx.publish.rows import make_jobs
from infx.results.collect import POINTS
from tests.publish.world import Publishing, measure

STRANGERS = ["eve", "bench-bot[bot]", "mia"]


@pytest.fixture
def sha(publishing: Publishing) -> str:
    publishing.sweep()
    publishing.world.ask()
    return publishing.merge()


@pytest.mark.parametrize("by", STRANGERS)
def test_a_foreign_success_does_not_mark_a_merge_as_published(
    publishing: Publishing, sha: str, by: str
) -> None:
    publishing.world.hub.set_status(sha, "infx/published", "success", description="done", by=by)
    assert publishing.publish("--sha", sha).code == 0
    assert (len(publishing.rows), len(publishing.sent)) == (4, 1)


def test_foreign_statuses_do_not_hide_an_announcement(publishing: Publishing, sha: str) -> None:
    """Otherwise a person with write access could make the next run send again."""
    hub = publishing.world.hub
    hub.set_status(
        sha, "infx/published", "pending", description=f"sending {'a' * 16}", by="github-actions[bot]"
    )
    for by in STRANGERS:
        hub.set_status(sha, "infx/published", "failure", description=f"not sent {'a' * 16}: no", by=by)
    called = publishing.publish("--sha", sha)
    assert called.code == 1
    assert "delivery unknown" in called.err
    assert publishing.sent == []


def test_a_foreign_announcement_does_not_stop_a_delivery(publishing: Publishing, sha: str) -> None:
    hub = publishing.world.hub
    hub.set_status(sha, "infx/published", "pending", description=f"sending {'a' * 16}", by="eve")
    assert publishing.publish("--sha", sha).code == 0
    assert len(publishing.sent) == 1


def test_an_event_with_another_key_is_not_recovered(publishing: Publishing, sha: str) -> None:
    """The source run was run again since, so the target could not recognize the event."""
    hub = publishing.world.hub
    hub.set_status(
        sha, "infx/published", "pending", description=f"sending {'a' * 16}", by="github-actions[bot]"
    )
    called = publishing.publish("--sha", sha, "--recover")
    assert called.code == 1
    assert f"has the key {'a' * 16}, and this one has" in called.err
    assert publishing.sent == []


def test_a_replaced_file_between_the_jobs_is_refused(publishing: Publishing, sha: str) -> None:
    """Any job of a run may replace an artifact."""
    validated = publishing.validate("--sha", sha)
    path = publishing.world.folder / "out" / "publish.json"
    path.write_text(path.read_text().replace('"tput_per_gpu\\":', '"tput_per_gpu\\":9'))
    called = publishing.deliver(validated)
    assert called.code == 2
    assert "The file is not the one that was validated" in called.err
    assert (publishing.rows, publishing.sent, publishing.statuses(sha)) == ([], [], [])


def test_the_writing_job_needs_the_digest(publishing: Publishing, sha: str) -> None:
    validated = publishing.validate("--sha", sha)
    validated.outputs["sum"]
    called = publishing.world.call_plain(
        ["publish", "--from", str(publishing.world.folder / "out" / "publish.json")],
        {**publishing.world.hub.environ(), "INFX_POLICY": str(publishing.world.folder / "policy.yaml")},
    )
    assert called.code == 2
    assert "--from needs the SHA-256 of the file." in called.err


def replace_raw(publishing: Publishing, **changes: object) -> None:
    """Upload a row's raw result again, with other values; the newest artifact of a name counts."""
    run = max(publishing.world.hub.state.runs)
    job = make_jobs([row.row for row in publishing.world.rows()])[0]
    files = {name: json.dumps({**value, **changes}) for name, value in measure(job).items()}
    publishing.world.hub.add_artifact(run, artifact_name(job), files)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"tput_per_gpu": 1e9}, "differs from its raw result"),
        ({"image": "evil/image:v1"}, "image is evil/image:v1, the plan says"),
        ({"tp": 16}, "tp is 16, the plan says 8"),
        ({"tput_per_gpu": 0}, "a result of 0 or less means that nothing was measured"),
        ({"conc": 512}, "conc is 512, the plan says 4"),
    ],
    ids=["numbers", "image", "layout", "no work", "concurrency"],
)
def test_a_replaced_result_is_not_published(
    publishing: Publishing, changes: dict[str, object], words: str
) -> None:
    publishing.sweep()
    replace_raw(publishing, **changes)
    publishing.world.ask()
    sha = publishing.merge()
    called = publishing.publish("--sha", sha)
    assert called.code == 1
    assert words in called.err
    assert (publishing.rows, publishing.sent) == ([], [])
    assert publishing.statuses(sha)[0].state == "failure"


def test_results_of_an_unplanned_row_are_not_published(publishing: Publishing) -> None:
    run = publishing.sweep()
    publishing.world.hub.add_artifact(run.id, "bmk_other", {"agg.json": "{}"})
    publishing.world.ask()
    called = publishing.publish("--sha", publishing.merge())
    assert (called.code, publishing.rows) == (1, [])
    assert "bmk_other holds results of no planned row" in called.err


def test_an_unreadable_aggregate_is_not_published(publishing: Publishing) -> None:
    run = publishing.sweep()
    publishing.world.hub.add_artifact(run.id, POINTS, b"not a zip")
    publishing.world.ask()
    assert publishing.publish("--sha", publishing.merge()).code == 1
    assert publishing.rows == []


def test_text_of_a_result_starts_no_workflow_command(
    publishing: Publishing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    publishing.sweep()
    replace_raw(publishing, image="x\n::error::pwned\n<script>", model="::set-output name=a::b")
    publishing.world.ask()
    called = publishing.publish("--sha", publishing.merge())
    assert called.code == 1
    assert not any(line.startswith("::error::pwned") for line in (called.out + called.err).splitlines())
    assert "<script>" not in called.summary


def test_an_expired_result_is_not_published(publishing: Publishing) -> None:
    run = publishing.sweep()
    publishing.world.ask()
    sha = publishing.merge()
    for artifact in publishing.world.hub.state.artifacts.values():
        artifact.expired = artifact.run == run.id and artifact.name.startswith("bmk_")
    called = publishing.publish("--sha", sha)
    assert (called.code, publishing.rows) == (1, [])
    assert "it has expired" in called.err


def test_the_reading_job_writes_nothing_and_reads_no_other_folder(publishing: Publishing, sha: str) -> None:
    publishing.world.hub.clear_log()
    validated = publishing.validate("--sha", sha)
    assert validated.code == 0
    assert publishing.world.hub.writes == 0
    names = {path.name for path in Path(publishing.world.folder / "out").iterdir()}
    assert names == {"publish.json", "changelog_metadata.json"}


def test_the_writing_job_reads_no_artifact(publishing: Publishing, sha: str) -> None:
    validated = publishing.validate("--sha", sha)
    publishing.world.hub.clear_log()
    assert publishing.deliver(validated).code == 0
    paths = {exchange.path for exchange in publishing.world.hub.log}
    assert not any("artifacts" in path or "pulls" in path or "/_store/" in path for path in paths)

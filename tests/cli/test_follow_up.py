"""A follow-up sweep from its cut plan to its published union, with the earlier run's artifacts on a hub."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name
from infx.hub import Hub
from infx.matrix.environment import project_job
from infx.matrix.folder import read_jobs
from tests.calling import Called, call
from tests.cli.plans import write_plan
from tests.made_results import make_files
from tests.matrix.rows import AGENTIC, DISAGG, FIXED, row

ROWS = [row(FIXED, 64), row(AGENTIC, 8), row(DISAGG, 4, 8), row(FIXED, 8, eval_only=True)]
EARLIER, OWN = 4242, 5000


def cut(*arguments: str, out: str = "sweep-plan") -> Called:
    return call("shards", "--plan", "plan.json", "--out", out, *arguments)


def read_lines(path: str) -> list[Any]:
    return [json.loads(line) for line in Path(path).read_text().splitlines()]


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[RowJob]:
    """Return the jobs of the whole plan, the accuracy row last."""
    monkeypatch.chdir(tmp_path)
    write_plan(Path("plan.json"), ROWS)
    assert cut(out="whole").code == 0
    jobs = read_jobs(Path("whole/jobs.jsonl").read_text().splitlines())
    return sorted(jobs, key=lambda job: bool(job.row.eval_only))


def test_named_rows_keep_their_ids_and_names(whole: list[RowJob]) -> None:
    chosen = [whole[2], whole[0]]
    called = cut(*(part for job in chosen for part in ("--only", job.id)))
    assert called.code == 0, called.err
    assert called.outputs["row-count"] == "2"
    lines = {line["id"]: line for line in read_lines("whole/jobs.jsonl")}
    assert read_lines("sweep-plan/jobs.jsonl") == [lines[job.id] for job in whole if job in chosen]
    assert json.loads(Path("sweep-plan/index.json").read_text())["rows"] == 2
    assert not Path("sweep-plan/others.jsonl").exists()


def test_the_canary_is_one_of_the_named_rows(whole: list[RowJob]) -> None:
    canary = json.loads(Path("whole/index.json").read_text())["canary"]
    others = [job.id for job in whole if job.id != canary]
    called = cut(*(part for row_id in others for part in ("--only", row_id)))
    assert called.outputs["canary-id"] in {"", *others}


def test_rows_beyond_a_shard_are_numbered_without_gaps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a named row of the second shard would never start."""
    monkeypatch.chdir(tmp_path)
    write_plan(Path("plan.json"), [row(FIXED, conc) for conc in range(1, 301)])
    assert cut(out="whole").code == 0
    last = read_lines("whole/jobs.jsonl")[-1]
    assert last["shard"] == 1
    called = cut("--only", last["id"])
    assert called.outputs["shards"] == "[0]"
    assert call("rows", "--plan", "sweep-plan", "--shard", "0").json[0]["id"] == last["id"]


def test_unknown_rows_are_refused_all_at_once(whole: list[RowJob]) -> None:
    called = cut("--only", whole[0].id, "--only", "f" * 12, "--only", "$(touch pwned)")
    assert called.code == 2
    assert f"The plan has no rows $(touch pwned) and {'f' * 12}." in called.err
    assert not Path("sweep-plan").exists()


def write_decision(**fields: Any) -> str:
    values = {"verdict": "run", "reason": "ready", "words": "full", "group": "g", **fields}
    Path("decision.json").write_text(json.dumps(values))
    return "decision.json"


def test_the_rows_of_a_dispatch_are_those_of_its_decision(whole: list[RowJob]) -> None:
    called = cut("--decision", write_decision(only=[whole[1].id]))
    assert called.code == 0, called.err
    assert [line["id"] for line in read_lines("sweep-plan/jobs.jsonl")] == [whole[1].id]


def test_a_sweep_that_completes_a_run_is_not_cut_without_chosen_rows(whole: list[RowJob]) -> None:
    """All rows would run otherwise, for hours."""
    called = cut("--decision", write_decision(complete=42, pull=77))
    assert called.code == 2
    assert "The sweep completes run 42, and the rows are not chosen yet." in called.err


@dataclass
class Union:
    """A plan of four rows, of which the last runs again; the earlier run has results of all."""

    hub: Hub
    jobs: Sequence[RowJob]

    def cut(self, origins: Sequence[RowJob] | None = None, run: int = EARLIER) -> None:
        kept = self.jobs[:3] if origins is None else origins
        values = {
            "only": [self.jobs[3].id],
            "runs": [{"run": EARLIER, "attempt": 1}],
            "origins": [{"id": job.id, "run": run, "attempt": 1} for job in kept],
        }
        Path("follow-up.json").write_text(json.dumps(values))
        called = cut("--follow-up", "follow-up.json")
        assert called.code == 0, called.err
        assert called.outputs["row-count"] == "1"

    def collect(self) -> Called:
        token = self.hub.workflow_token(contents="read", actions="read")
        return call(
            "results", "collect", "--plan", "sweep-plan", "--artifacts", "artifacts", "--run", str(OWN), "--out", "out",
            environ=self.hub.environ(token),
        )  # fmt: skip

    def validate(self) -> Called:
        token = self.hub.workflow_token(contents="read", actions="read")
        return call(
            "reuse", "validate", "--plan", "sweep-plan", "--artifacts", "artifacts",
            environ=self.hub.environ(token),
        )  # fmt: skip

    def store(self, job: RowJob, changes: Mapping[str, Any] | None = None, *, expired: bool = False) -> None:
        """Give the earlier run an artifact of a row. changes: to its throughput result."""
        files = make_files(project_job(job, max_bytes=131_071))
        texts = {name: json.dumps({**value, **(changes or {})}) for name, value in files.items()}
        self.hub.add_artifact(EARLIER, artifact_name(job), texts, expired=expired)


def write_own(job: RowJob) -> None:
    folder = Path("artifacts", artifact_name(job))
    folder.mkdir(parents=True)
    for name, value in make_files(project_job(job, max_bytes=131_071)).items():
        (folder / name).write_text(json.dumps(value))


@pytest.fixture
def union(whole: list[RowJob], tmp_path: Path) -> Iterator[Union]:
    with Hub(tmp_path / "hub") as hub:
        hub.is_limited = False
        hub.push("main", {"README.md": "x"})
        for run_id in (EARLIER, OWN):
            hub.add_run(run_id=run_id, branch="main", event="workflow_dispatch")
        hub.add_job(OWN, f"sweep / rows (0) / row / {whole[3].name}")
        hub.finish_run(EARLIER, "failure")
        made = Union(hub, whole)
        for job in whole[:3]:
            made.store(job)
        write_own(whole[3])
        yield made


def test_the_union_is_published_with_the_run_and_attempt_of_each_row(union: Union) -> None:
    union.cut()
    called = union.collect()
    assert called.code == 0, called.err
    assert "Measured: 1 row by run 5000 and 3 rows by run 4242." in called.summary
    points = json.loads(Path("out/results_bmk/agg_bmk.json").read_text())
    origins = read_lines("out/results_bmk/origins.jsonl")
    assert len(points) == len(origins) == 4  # the third row has two concurrencies
    assert {origin["run"] for origin in origins} == {EARLIER}
    assert [origin["row_id"] for origin in origins] == [
        *(job.id for job in union.jobs[:3] for _ in job.row.conc)
    ]
    [own] = read_lines("out/eval_results_all/origins.jsonl")
    assert own == {"row_id": union.jobs[3].id, "run": OWN, "attempt": 1}


def test_the_union_is_validated_against_the_results_of_every_run(union: Union) -> None:
    """`infx reuse validate` finds each row's own result in the run that measured it."""
    union.cut()
    assert union.collect().code == 0
    for name in ("results_bmk", "eval_results_all"):
        Path("out", name).rename(Path("artifacts", name))
    valid = union.validate()
    assert valid.code == 0, valid.err
    path = Path("artifacts/results_bmk/agg_bmk.json")
    rows = json.loads(path.read_text())
    path.write_text(json.dumps([{**rows[0], "tput_per_gpu": 999999.0}, *rows[1:]]))
    assert union.validate().code == 1


def test_of_a_row_that_both_have_the_follow_ups_result_counts(union: Union) -> None:
    union.store(union.jobs[3])
    union.cut()
    assert union.collect().code == 0
    [own] = read_lines("out/eval_results_all/origins.jsonl")
    assert own["run"] == OWN
    downloads = [exchange.path for exchange in union.hub.log if exchange.path.endswith("/zip")]
    assert len(downloads) == 3


def test_a_row_that_neither_has_is_red(union: Union) -> None:
    union.cut(origins=union.jobs[:2])
    called = union.collect()
    assert called.code == 1
    assert f"The row {union.jobs[2].id} has no result" in called.err
    assert "3 of 4 planned rows complete" in called.err


def test_a_job_of_the_follow_up_cannot_replace_a_repeated_row(union: Union) -> None:
    """It uploads a result under the name of a row that it does not run."""
    job = union.jobs[0]
    write_own(job)
    path = next(Path("artifacts", artifact_name(job)).glob("agg_*.json"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "tput_per_gpu": 999999.0}))
    union.cut()
    assert union.collect().code == 0
    assert "999999" not in Path("out/results_bmk/agg_bmk.json").read_text()


def test_an_earlier_result_of_another_plan_is_rejected(union: Union) -> None:
    for artifact in union.hub.state.artifacts.values():
        artifact.expired = artifact.name == artifact_name(union.jobs[0])
    union.store(union.jobs[0], {"image": "evil/image:v1"})
    union.cut()
    called = union.collect()
    assert called.code == 1
    assert "image is evil/image:v1, the plan says" in called.err
    assert "evil" not in Path("out/results_bmk/agg_bmk.json").read_text()


def test_an_earlier_run_that_ran_again_repeats_nothing(union: Union) -> None:
    """Its later attempt has replaced artifacts, so the recorded attempts would be wrong."""
    union.cut()
    union.hub.rerun(EARLIER)
    called = union.collect()
    assert called.code == 1
    assert "run 4242, which measured it, was run again after this sweep was planned" in called.err


def test_a_follow_up_that_lost_its_other_rows_is_refused(union: Union) -> None:
    union.cut()
    Path("sweep-plan/others.jsonl").write_text("")
    called = union.collect()
    assert called.code == 2
    assert "index.json says 3 other rows, others.jsonl has 0" in called.err

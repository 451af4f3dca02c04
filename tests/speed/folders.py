"""Prepare the folders in which commands are measured: real configurations, large plans, saved facts."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import yaml

from infx.bench.uploads import artifact_name
from infx.git import Git
from infx.matrix.environment import project_job
from infx.matrix.folder import read_jobs
from infx.matrix.row_file import ROW_FILE
from infx.results.series import Publication, make_row
from infx.saved import dump_json
from infx.signoff.facts import LinkState
from infx.store.open import open_store
from tests.calling import call
from tests.conftest import ROOT, SHARED
from tests.gate.facts import READY
from tests.made_results import make_files
from tests.matrix.large import write_large, write_plan
from tests.repository import Repository
from tests.results.comparisons import FIRST_DAY, result
from tests.signoff.world import CHANGE, MASTER, open_world
from tests.speed.measure import SkippedError
from tests.store.clones import make_clone
from tests.store.many import fill

REAL = SHARED / "data/inferencex"
POLICY, DECISION, FACTS = "policy.yaml", "decision.json", "facts.json"


def find_real_data(_: Path) -> Path:
    """Return the folder with the real configurations, or the project's own, which has fewer, if it is missing."""
    return REAL if REAL.is_dir() else ROOT


def two_revisions(keys: str | None = None) -> Callable[[Path], Path]:
    """Make a clone whose last commit appends an entry for these keys to the changelog of the real configurations.

    keys: the first key of NVIDIA's configurations by default.
    """

    def prepare(folder: Path) -> Path:
        write_job_files(folder)
        source = find_real_data(folder)
        repository = Repository.init(folder / "clone")
        files = {
            str(path.relative_to(source)): path.read_bytes()
            for path in (*source.glob("configs/*.yaml"), source / "perf-changelog.yaml")
        }
        repository.commit({name: data for name, data in files.items() if name != "configs/policy.yaml"})
        named = keys or next(iter(yaml.safe_load(files["configs/nvidia-master.yaml"])))
        entry = f"\n- config-keys: ['{named}']\n  description: [one]\n  pr-link: XXX\n".encode()
        repository.commit({"perf-changelog.yaml": files["perf-changelog.yaml"].rstrip() + b"\n" + entry})
        return repository.path

    return prepare


def real_pull(number: int) -> Callable[[Path], Path]:
    """Clone the real history, with the head of a pull request checked out."""

    def prepare(folder: Path) -> Path:
        bundle = REAL / "history.bundle"
        if not bundle.is_file():
            raise SkippedError("the data folder with real pull requests is missing")
        write_job_files(folder)
        branch = f"pr-{number}-head"
        Git(folder).run("clone", "--quiet", "--branch", branch, str(bundle), "clone")
        return folder / "clone"

    return prepare


def write_job_files(folder: Path) -> Path:
    """Write a policy, saved facts of the gate, and its decision, which is to run a full sweep."""
    (folder / POLICY).write_text("repository: acme/bench\n")
    (folder / FACTS).write_text(dump_json(READY))
    called = call("gate", "--facts", str(folder / FACTS), "--policy", str(folder / POLICY))
    assert called.code == 0, called.err
    (folder / DECISION).write_text(called.out)
    return folder


def write_signoffs(*sizes: int) -> Callable[[Path], Path]:
    """Save the facts of a good sign-off of a sweep, for each number of rows (<rows>.json)."""

    def prepare(folder: Path) -> Path:
        for rows in sizes:
            _write_signoff(folder, rows)
        return folder

    return prepare


def _write_signoff(folder: Path, rows: int) -> None:
    points = [4, 8, *range(16, 12 + rows)]  # two points get a row for accuracy too
    change = {**CHANGE, "configs/nvidia.yaml": MASTER.replace("CONC", str(points))}
    fetch = mock.patch("infx.gather.signoff_links.fetch_page", return_value=LinkState("published"))
    with fetch, open_world(folder / str(rows), change=change) as world:
        assert len(world.rows()) == rows
        world.hub.comment(77, f"/use {world.sweep().id}", by="mia")
        world.sign()
        world.verify("--pr", "77", "--save-facts", str(folder / f"{rows}.json"))
        shutil.copy(world.folder / "clone/configs/policy.yaml", folder / POLICY)


def two_sizes(folder: Path) -> Path:
    write_large(folder / "small", 16_384)
    write_large(folder / "large", 65_536)
    return folder


def two_plans(folder: Path) -> Path:
    write_plan(folder / "small.json", 16_384)
    write_plan(folder / "large.json", 65_536)
    return folder


def two_stores(kind: str) -> Callable[[Path], Path]:
    """Return a function that fills two stores of results, with 2,000 and with 100,000 rows."""

    def prepare(folder: Path) -> Path:
        for size, sweeps, series in (("small", 1, 200), ("large", 5, 2_000)):
            (folder / size).mkdir()
            git = make_clone(folder / size)
            address = "branch:infx-results" if kind == "branch" else f"sqlite:{folder / size / 'results.db'}"
            fill(open_store(address, git, author="cody"), sweeps, series=series)
            (git.directory / "address").write_text(address)
        return folder

    return prepare


def cut_plan(folder: Path) -> Path:
    """Cut a plan of 300 rows, and write row.sh, which runs one row as its job does, with a command that only writes a result."""
    command = ["sh", "-c", 'echo {} > "agg_$RESULT_FILENAME.json"']
    # Without clusters, the row runs its command and no launch.
    sweep = f"sweep: {{row-command: {json.dumps(command)}}}"
    (folder / POLICY).write_text(f"repository: acme/bench\nclusters: none.yaml\n{sweep}\n")
    plan = write_plan(folder / "plan.json", 300)
    cut = folder / "sweep-plan"
    called = call("shards", "--policy", str(folder / POLICY), "--plan", str(plan), "--out", str(cut))
    assert called.code == 0, called.err
    *_, row = read_jobs((cut / "jobs.jsonl").read_text().splitlines())
    words = [
        sys.executable,
        "-I",
        "-S",
        f"sweep-plan/{ROW_FILE}",
        "run",
        "--plan",
        "sweep-plan",
        "--id",
        row.id,
    ]
    (folder / "row.sh").write_text(f"exec {shlex.join(words)} --directory . --out row-results\n")
    return folder


def collected(*sizes: int) -> Callable[[Path], Path]:
    """Write a plan folder and the artifact of each of its rows, for each number of rows (plan-N, artifacts-N)."""

    def prepare(folder: Path) -> Path:
        (folder / POLICY).write_text("repository: acme/bench\n")
        for rows in sizes:
            plan, cut = write_plan(folder / f"{rows}.json", rows), folder / f"plan-{rows}"
            called = call("shards", "--policy", str(folder / POLICY), "--plan", str(plan), "--out", str(cut))
            assert called.code == 0, called.err
            for job in read_jobs((cut / "jobs.jsonl").read_text().splitlines()):
                place = folder / f"artifacts-{rows}" / artifact_name(job)
                place.mkdir(parents=True)
                for name, value in make_files(project_job(job, max_bytes=131_071)).items():
                    (place / name).write_text(json.dumps(value))
        return folder

    return prepare


def histories(folder: Path) -> Path:
    """Write the changelog without and with its last entry (base-N.yaml, head-N.yaml), its history repeated N times."""
    whole = (find_real_data(folder) / "perf-changelog.yaml").read_bytes()
    cut = whole.rstrip().rfind(b"\n- config-keys:")
    past, last = whole[:cut].rstrip(b"\n") + b"\n", whole[cut:].rstrip() + b"\n"
    for times in (1, 10, 100):
        base = b"\n".join([past] * times)
        (folder / f"base-{times}.yaml").write_bytes(base)
        (folder / f"head-{times}.yaml").write_bytes(base + last)
    return folder


def write_comparisons(folder: Path) -> Path:
    """Write 5,000 and 20,000 results (small.json, large.json), and a store with a baseline for each (results.db)."""
    results = [
        result(hw=f"h{number // 640}", tp=number // 10 % 64 + 1, conc=2 ** (number % 10))
        for number in range(20_000)
    ]
    (folder / "small.json").write_text(json.dumps(results[:5_000]))
    (folder / "large.json").write_text(json.dumps(results))
    rows = (
        make_row(values, run=1, attempt=1, row_id=f"r{number}", commit="c" * 40, measured_at=FIRST_DAY)
        for number, values in enumerate(results)
    )
    store = open_store(f"sqlite:{folder / 'results.db'}", Git(folder), author="octocat")
    publication = Publication(
        run=1, attempt=1, commit="c" * 40, origin="merge", published_at=FIRST_DAY, rows=tuple(rows)
    )
    store.publish(publication)
    return folder

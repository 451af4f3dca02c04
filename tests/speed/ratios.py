"""The commands that are measured, their bases and their limits."""

from __future__ import annotations

import os
import shlex
import sys

from tests.conftest import ROOT
from tests.speed.folders import (
    DECISION,
    FACTS,
    POLICY,
    REAL,
    collected,
    cut_plan,
    find_real_data,
    histories,
    real_pull,
    two_plans,
    two_revisions,
    two_sizes,
    two_stores,
    write_comparisons,
    write_job_files,
    write_signoffs,
)
from tests.speed.install import TEMP, lay_out_toolkit
from tests.speed.measure import Ratio

INFX = (sys.executable, "-m", "infx")
HELP = (*INFX, "--help")
LAST = ("--base-ref", "HEAD~1", "--head-ref", "HEAD")

# The variables of a job, for commands that run in a clone next to the policy.
JOB = {
    "GITHUB_ACTIONS": "true",
    "GITHUB_OUTPUT": os.devnull,
    "GITHUB_STEP_SUMMARY": os.devnull,
    "INFX_POLICY": f"../{POLICY}",
}
PLAN_ALL = (
    *INFX,
    "plan",
    "--decision",
    f"../{DECISION}",
    *LAST,
)  # not strict: the real configurations have problems
PLAN = (*INFX, "plan", "--strict", "--decision", f"../{DECISION}")
VALIDATE = (*INFX, "changelog", "validate", "--format", "table")


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


CLICK = python("import click")

# The minimum for a row: a shell that starts a Python that does nothing.
PASS = ("sh", "-c", f"exec {shlex.quote(sys.executable)} -c pass")

# The minimum for a command about configurations: load the files with libyaml and check nothing.
LOAD = (
    "import yaml, pathlib\n"
    "for path in pathlib.Path('configs').glob('*-master.yaml'):\n"
    "    yaml.load(path.read_bytes(), yaml.CSafeLoader)\n"
)
LOAD_CONFIGS = python(LOAD)

# The minimum for a command that also plans the configurations: start like infx, and load the files.
START = "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'infx', '--help'], stdout=subprocess.DEVNULL)\n"
START_AND_LOAD = python(START + LOAD)

# The limit for a history of a hundred times the length: two cold starts, and reading both files three times.
START_AND_READ = python(
    "import subprocess, sys\n"
    "for _ in range(2): subprocess.run([sys.executable, '-m', 'infx', '--help'], stdout=subprocess.DEVNULL)\n"
    "for _ in range(3): [open(f'{name}-100.yaml', 'rb').read() for name in ('base', 'head')]"
)


# The folder of the real configurations has its clusters in another place than the project.
_CLUSTERS = "file=launch/clusters.yaml; test -e $file || file=configs/clusters.yaml"
CHECK_LAUNCHES = (
    "sh",
    "-c",
    f"{_CLUSTERS}; exec {' '.join(map(shlex.quote, INFX))} config check --clusters $file",
)


def plan_in(folder: str) -> tuple[str, ...]:
    command = " ".join((*map(shlex.quote, INFX), "plan", *LAST))
    return ("sh", "-c", f"cd {folder} && exec {command}")


def plan_pull(number: int) -> tuple[str, ...]:
    return (*PLAN, "--base-ref", f"pr-{number}-base", "--head-ref", f"pr-{number}-head")


def shards_of(plan: str) -> tuple[str, ...]:
    command = " ".join((*map(shlex.quote, INFX), "shards", "--plan", f"{plan}.json", "--out", f"cut-{plan}"))
    return ("sh", "-c", f"rm -rf cut-{plan} && exec {command}")


def changelog(command: str, times: int) -> tuple[str, ...]:
    files = ("--base-file", f"base-{times}.yaml", "--head-file", f"head-{times}.yaml")
    return (*INFX, "changelog", command, *files)


def verify(rows: int) -> tuple[str, ...]:
    return (*INFX, "signoff", "verify", "--policy", POLICY, "--facts", f"{rows}.json")


def read_store(size: str) -> tuple[str, ...]:
    return (
        "sh",
        "-c",
        f'cd {size}/clone && exec {shlex.quote(sys.executable)} -m tests.store.many "$(cat address)"',
    )


TESTS = {"PYTHONPATH": str(ROOT)}


def compare(results: str) -> tuple[str, ...]:
    command = " ".join((*map(shlex.quote, INFX), "results", "compare", f"{results}.json", "--out", "out"))
    return ("sh", "-c", f"rm -f summary.md && exec {command}")


# The minimum for collecting: start like infx, read every result, and write all of them.
READ_RESULTS = python(
    START + "import json, pathlib\n"
    "rows = [json.loads(path.read_bytes()) for path in sorted(pathlib.Path('artifacts-1820').glob('*/*.json'))]\n"
    "pathlib.Path('bare.json').write_text(json.dumps(rows))\n"
)


def collect(rows: int) -> tuple[str, ...]:
    folders = ("--plan", f"plan-{rows}", "--artifacts", f"artifacts-{rows}", "--out", f"out-{rows}")
    return (*INFX, "results", "collect", "--policy", POLICY, *folders)


RATIOS: tuple[Ratio, ...] = (
    Ratio(name="infx --help", command=HELP, base=CLICK, limit=1.6),
    Ratio(name="config check", command=(*INFX, "config", "check"), base=LOAD_CONFIGS, limit=3.0, where=find_real_data, finds_problems=True),
    Ratio(name="config check --format table", command=(*INFX, "config", "check", "--format", "table"), base=LOAD_CONFIGS, limit=3.0, where=find_real_data, finds_problems=True),
    Ratio(name="config check --clusters", command=CHECK_LAUNCHES, base=LOAD_CONFIGS, limit=3.0, where=find_real_data, finds_problems=True),
    Ratio(name="matrix full-sweep", command=(*INFX, "matrix", "full-sweep"), base=LOAD_CONFIGS, limit=1.5, where=find_real_data),
    Ratio(name="gate --facts", command=(*INFX, "gate", "--facts", FACTS), base=CLICK, where=write_job_files, environ={**JOB, "INFX_POLICY": POLICY}),
    Ratio(name="plan of one entry", command=(*PLAN, *LAST), base=LOAD_CONFIGS, limit=1.5, where=two_revisions(), environ=JOB),
    Ratio(name="plan of pr-2686", command=plan_pull(2686), base=LOAD_CONFIGS, limit=1.5, where=real_pull(2686), environ=JOB),
    Ratio(name="plan of pr-2206", command=plan_pull(2206), base=LOAD_CONFIGS, limit=1.5, where=real_pull(2206), environ=JOB),
    Ratio(name="plan of '*'", command=PLAN_ALL, base=LOAD_CONFIGS, limit=2.0, where=two_revisions("*"), environ=JOB),
    # Four times the rows in four times the time, and a quarter of that for noise.
    Ratio(name="plan of 65,536 rows, of 16,384", command=plan_in("large"), base=plan_in("small"), limit=5.0, where=two_sizes),
    Ratio(name="shards of 65,536 rows, of 16,384", command=shards_of("large"), base=shards_of("small"), limit=5.0, where=two_plans),
    Ratio(name="changelog validate, nothing new", command=(*VALIDATE, "--base-ref", "HEAD~1", "--head-ref", "HEAD~1"), base=HELP, limit=1.8, where=two_revisions(), environ=JOB),
    Ratio(name="changelog validate of one entry", command=(*VALIDATE, *LAST), base=START_AND_LOAD, limit=1.8, where=two_revisions(), environ=JOB),
    Ratio(name="changelog canonicalize of one entry", command=(*INFX, "changelog", "canonicalize", *LAST, "--pr", "77"), base=HELP, limit=1.8, where=two_revisions(), environ=JOB),
    Ratio(name="changelog validate, 10 x history", command=changelog("validate", 10), base=changelog("validate", 1), limit=1.3, where=histories),
    Ratio(name="changelog canonicalize, 10 x", command=changelog("canonicalize", 10), base=changelog("canonicalize", 1), limit=1.3, where=histories),
    Ratio(name="changelog validate, 100 x", command=changelog("validate", 100), base=START_AND_READ, limit=1.0, where=histories),
    Ratio(name="changelog canonicalize, 100 x", command=changelog("canonicalize", 100), base=START_AND_READ, limit=1.0, where=histories),
    Ratio(name="signoff verify of 7 rows", command=verify(7), base=CLICK, limit=4.0, where=write_signoffs(7)),
    Ratio(name="signoff verify of 448 rows, of 112", command=verify(448), base=verify(112), limit=5.0, where=write_signoffs(112, 448)),
    Ratio(name="results compare, 20,000 of 5,000", command=compare("large"), base=compare("small"), limit=5.0, where=write_comparisons, environ={"INFX_STORE": "sqlite:results.db", "GITHUB_STEP_SUMMARY": "summary.md"}),
    Ratio(name="results collect of 1,820 artifacts", command=collect(1820), base=READ_RESULTS, limit=3.0, where=collected(1820)),
    # Eleven times the rows in eleven times the time, and a quarter of that for noise.
    Ratio(name="results collect of 20,000, of 1,820", command=collect(20_000), base=collect(1820), limit=13.8, where=collected(1820, 20_000), max_runs=3),
    Ratio(name="row of 300", command=("sh", "row.sh"), base=PASS, limit=2.0, where=cut_plan, environ={"GITHUB_OUTPUT": os.devnull}),
    # The newest rows of the 200 series of a sweep; the base is the same from a store that has nothing else.
    Ratio(name="store of 100,000 rows, branch", command=read_store("large"), base=read_store("small"), limit=2.5, where=two_stores("branch"), environ=TESTS),
    Ratio(name="store of 100,000 rows, SQLite", command=read_store("large"), base=read_store("small"), limit=2.5, where=two_stores("sqlite"), environ=TESTS),
    Ratio(name="install.sh with pip", command=("sh", "actions.sh"), base=("sh", "full.sh"), limit=0.25, where=lay_out_toolkit("pip"), removed=TEMP, max_runs=3),
    Ratio(name="install.sh with uv", command=("sh", "actions.sh"), base=("sh", "full.sh"), limit=0.25, where=lay_out_toolkit("uv"), removed=TEMP, max_runs=3),
)  # fmt: skip


def find_limit(ratio: Ratio) -> float | None:
    """Return the limit that applies, or None if the real configurations are missing."""
    # The project's few configurations load so fast that a cold start alone would exceed a limit for hundreds.
    return None if ratio.base in (LOAD_CONFIGS, START_AND_LOAD) and not REAL.is_dir() else ratio.limit

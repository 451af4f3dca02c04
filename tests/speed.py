"""Measure speed as ratios on this machine: `make bench`, or `python -m tests.speed [WORD...] [--runs N]`.

Each row compares a command with the minimum that any program would need for the same result. Both run alternately,
so that a busy machine slows both. The ratio is the median over the pairs; the limit is what infx promises. A new row
is one line in RATIOS.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from tests.conftest import ROOT, SHARED
from tests.matrix.large import write_large, write_plan
from tests.repository import Repository

INFX = (sys.executable, "-m", "infx")
REAL = SHARED / "data/inferencex"


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


# The minimum for a command about configurations: load the files with libyaml and check nothing.
LOAD_CONFIGS = python(
    "import yaml, pathlib\n"
    "for path in pathlib.Path('configs').glob('*-master.yaml'):\n"
    "    yaml.load(path.read_bytes(), yaml.CSafeLoader)"
)


def real_data(_: Path) -> Path:
    """Return the folder with the real configurations, or the project's own, which has fewer, if it is missing."""
    return REAL if REAL.is_dir() else ROOT


def nowhere(folder: Path) -> Path:
    return folder


def two_revisions(folder: Path) -> Path:
    """Make a clone whose last commit appends an entry to the changelog of the real configurations."""
    source = real_data(folder)
    repository = Repository.init(folder / "clone")
    files = {
        str(path.relative_to(source)): path.read_bytes()
        for path in (*source.glob("configs/*.yaml"), source / "perf-changelog.yaml")
    }
    repository.commit({name: data for name, data in files.items() if name != "configs/policy.yaml"})
    key = next(iter(yaml.safe_load(files["configs/nvidia-master.yaml"])))
    entry = f"\n- config-keys: [{key}]\n  description: [one]\n  pr-link: XXX\n".encode()
    repository.commit({"perf-changelog.yaml": files["perf-changelog.yaml"].rstrip() + b"\n" + entry})
    return repository.path


def two_sizes(folder: Path) -> Path:
    write_large(folder / "small", 16_384)
    write_large(folder / "large", 65_536)
    return folder


def plan_in(folder: str) -> tuple[str, ...]:
    command = " ".join((*map(shlex.quote, INFX), "plan", "--base-ref", "HEAD~1", "--head-ref", "HEAD"))
    return ("sh", "-c", f"cd {folder} && exec {command}")


def two_plans(folder: Path) -> Path:
    write_plan(folder / "small.json", 16_384)
    write_plan(folder / "large.json", 65_536)
    return folder


def shards_of(plan: str) -> tuple[str, ...]:
    command = " ".join((*map(shlex.quote, INFX), "shards", "--plan", f"{plan}.json", "--out", f"cut-{plan}"))
    return ("sh", "-c", f"rm -rf cut-{plan} && exec {command}")


def histories(folder: Path) -> Path:
    """Write the changelog without and with its last entry (base-N.yaml, head-N.yaml), its history repeated N times."""
    whole = (real_data(folder) / "perf-changelog.yaml").read_bytes()
    cut = whole.rstrip().rfind(b"\n- config-keys:")
    past, last = whole[:cut].rstrip(b"\n") + b"\n", whole[cut:].rstrip() + b"\n"
    for times in (1, 10, 100):
        base = b"\n".join([past] * times)
        (folder / f"base-{times}.yaml").write_bytes(base)
        (folder / f"head-{times}.yaml").write_bytes(base + last)
    return folder


def changelog(command: str, times: int) -> tuple[str, ...]:
    files = ("--base-file", f"base-{times}.yaml", "--head-file", f"head-{times}.yaml")
    return (*INFX, "changelog", command, *files)


# The limit for a history of a hundred times the length: two cold starts, and reading both files three times.
START_AND_READ = python(
    "import subprocess, sys\n"
    "for _ in range(2): subprocess.run([sys.executable, '-m', 'infx', '--help'], stdout=subprocess.DEVNULL)\n"
    "for _ in range(3): [open(f'{name}-100.yaml', 'rb').read() for name in ('base', 'head')]"
)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """A command and the base that its time is compared with."""

    name: str
    command: Sequence[str]
    base: Sequence[str]
    limit: float | None = None  # the promised ratio; None: the ratio is only printed
    where: Callable[[Path], Path] = (
        nowhere  # prepares an empty folder, and returns the folder in which both run
    )


RATIOS: tuple[Ratio, ...] = (
    Ratio(name="infx --help", command=(*INFX, "--help"), base=python("import click"), limit=1.6),
    Ratio(name="config check", command=(*INFX, "config", "check"), base=LOAD_CONFIGS, limit=3.0, where=real_data),
    Ratio(name="config check --format table", command=(*INFX, "config", "check", "--format", "table"), base=LOAD_CONFIGS, limit=3.0, where=real_data),
    Ratio(name="matrix full-sweep", command=(*INFX, "matrix", "full-sweep"), base=LOAD_CONFIGS, limit=2.0, where=real_data),
    Ratio(name="plan of one entry", command=(*INFX, "plan", "--base-ref", "HEAD~1", "--head-ref", "HEAD"), base=LOAD_CONFIGS, limit=2.0, where=two_revisions),
    # Four times the rows in four times the time, and a quarter of that for noise.
    Ratio(name="plan of 65,536 rows, of 16,384", command=plan_in("large"), base=plan_in("small"), limit=5.0, where=two_sizes),
    Ratio(name="shards of 65,536 rows, of 16,384", command=shards_of("large"), base=shards_of("small"), limit=5.0, where=two_plans),
    Ratio(name="changelog validate", command=changelog("validate", 1), base=(*INFX, "--help"), limit=2.0, where=histories),
    Ratio(name="changelog canonicalize", command=changelog("canonicalize", 1), base=(*INFX, "--help"), limit=2.0, where=histories),
    Ratio(name="changelog validate, 10 x history", command=changelog("validate", 10), base=changelog("validate", 1), limit=1.3, where=histories),
    Ratio(name="changelog canonicalize, 10 x", command=changelog("canonicalize", 10), base=changelog("canonicalize", 1), limit=1.3, where=histories),
    Ratio(name="changelog validate, 100 x", command=changelog("validate", 100), base=START_AND_READ, limit=1.0, where=histories),
    Ratio(name="changelog canonicalize, 100 x", command=changelog("canonicalize", 100), base=START_AND_READ, limit=1.0, where=histories),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Medians over all pairs."""

    base: float  # seconds
    command: float  # seconds
    ratio: float  # of the two times of a pair


def find_limit(ratio: Ratio) -> float | None:
    """Return the limit that applies, or None if the real configurations are missing."""
    # The project's few configurations load so fast that a cold start alone would exceed a limit for hundreds.
    return None if ratio.base is LOAD_CONFIGS and not REAL.is_dir() else ratio.limit


def measure(ratio: Ratio, runs: int) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        where = ratio.where(Path(folder))
        _time(ratio.base, where), _time(ratio.command, where)  # fill the caches of files and bytecode
        pairs = [(_time(ratio.base, where), _time(ratio.command, where)) for _ in range(runs)]
    return Measured(
        base=statistics.median(base for base, _ in pairs),
        command=statistics.median(command for _, command in pairs),
        ratio=statistics.median(command / base for base, command in pairs),
    )


def _time(command: Sequence[str], where: Path) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, cwd=where, capture_output=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):  # 1: problems were found
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr.decode()}")
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.speed", description="Measure speed as ratios.")
    parser.add_argument("word", nargs="*", help="measure only rows whose name contains one of these words")
    parser.add_argument("--runs", type=int, default=15, help="number of pairs for each row (default: 15)")
    options = parser.parse_args()
    for who in ("AUTHOR", "COMMITTER"):
        os.environ |= {f"GIT_{who}_NAME": "cody", f"GIT_{who}_EMAIL": "cody@example.com"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    over = 0
    print(f"{'':<32}{'base':>9}{'command':>9}{'ratio':>8}{'limit':>7}")
    for ratio in RATIOS:
        if options.word and not any(word in ratio.name for word in options.word):
            continue
        measured = measure(ratio, options.runs)
        limit = find_limit(ratio)
        is_over = limit is not None and measured.ratio > limit
        over += is_over
        print(
            f"{ratio.name:<32}{measured.base:>8.3f}s{measured.command:>8.3f}s{measured.ratio:>7.2f}x{limit or '-':>7}"
            f"{'  over' if is_over else ''}",
            flush=True,
        )
    if not REAL.is_dir():
        print("-: the limit applies to hundreds of configurations, and the data folder with them is missing.")
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())

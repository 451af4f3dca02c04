"""Fill a store with many rows, for measurements and for tests of growth.

As a program, it prints the seconds that reading the newest rows of 200 series takes: `python -m tests.store.many ADDRESS`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from infx.git import Git
from infx.results.series import Publication
from infx.store.open import open_store
from infx.store.port import ResultStore
from tests.store.made import make_publication, make_stored

SERIES = 200  # of a sweep
CONCURRENCIES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
METRICS = {f"metric_{number}": number + 0.123456789 for number in range(40)}


def make_sweep(run: int, *, first: int = 0, series: int = SERIES) -> Publication:
    """Return the publication of a sweep of `series` series with ten concurrencies each."""
    rows = (
        make_stored(
            run, day=run, series=name_series(first + number), conc=conc, values={**METRICS, "run": run}
        )
        for number in range(series)
        for conc in CONCURRENCIES
    )
    return make_publication(run, *rows)


def name_series(number: int) -> str:
    return f"m{number} h200 vllm fp8 none 8192-1024 tp8 ep{number}"


def list_series(series: int = SERIES) -> list[str]:
    return [name_series(number) for number in range(series)]


def fill(store: ResultStore, sweeps: int, *, series: int = SERIES) -> None:
    """Publish sweeps, of which half measure the first series, and each of the others series of its own."""
    for run in range(1, sweeps + 1):
        store.publish(make_sweep(run, first=0 if run % 2 else run * series, series=series))


if __name__ == "__main__":
    opened = open_store(sys.argv[1], Git(Path.cwd()), author="octocat")
    if len(sys.argv) > 2:
        fill(opened, int(sys.argv[2]))
    start = time.perf_counter()
    newest = opened.read_newest(list_series())
    print(f"{time.perf_counter() - start:.2f}")
    assert sum(map(len, newest.values())) == SERIES * len(CONCURRENCIES)

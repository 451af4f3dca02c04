"""The files of a store on a branch: their paths and formats. docs/store.md describes them for readers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime

from infx.results.series import Publication, PublicationSummary, StoredRow, Withdrawal, name_file
from infx.store.lines import (
    Place,
    PublishedRow,
    dump_line,
    dump_published,
    dump_row,
    dump_time,
    parse_line,
    parse_published,
    parse_row,
)
from infx.store.port import StoreError

PUBLICATIONS = "publications"
RUNS = "runs"
SERIES = "series"
WITHDRAWALS = "withdrawals"
README = "README.md"
README_TEXT = """\
# Results

infx keeps published results on this branch; do not edit it by hand. See "The results store" in the documentation of infx.

- `runs/<run>-<attempt>.jsonl`: the rows of a publication, one per line
- `publications/<run>-<attempt>.json`: when and for which commit they were published
- `series/*/*.jsonl`: the newest row of a series for each concurrency, with which new results are compared
- `withdrawals/<run>.json`: a run whose rows are no longer compared with, and the reason
"""

# The first key `series` of a line is the row's, because keys are sorted, and the values before it have no quotes inside.
_SERIES = re.compile(rb'"series":"([^"]*)"')

Files = dict[str, bytes | None]  # path → new content; None: the file is deleted


def rows_path(place: Place) -> str:
    return f"{RUNS}/{place[0]}-{place[1]}.jsonl"


def header_path(place: Place) -> str:
    return f"{PUBLICATIONS}/{place[0]}-{place[1]}.json"


def withdrawal_path(run: int) -> str:
    return f"{WITHDRAWALS}/{run}.json"


def series_path(key: str) -> str:
    """Return the path of a series' file; the folders keep git's lists of files short."""
    name = name_file(key)
    return f"{SERIES}/{name.rpartition('-')[2][:2]}/{name}"


def parse_place(path: str) -> Place:
    """Return the publication that a path in `runs` or `publications` names. Raises StoreError for another path."""
    run, _, attempt = path.rpartition("/")[2].partition(".")[0].partition("-")
    if not (run.isdecimal() and attempt.isdecimal()):
        raise StoreError("This file is not a publication.", hint="Delete it.", where=path)
    return int(run), int(attempt)


def find_withdrawn(paths: Iterable[str]) -> set[int]:
    """Return the runs that files in `withdrawals` name."""
    names = (path.rpartition("/")[2].removesuffix(".json") for path in paths)
    return {int(name) for name in names if name.isdecimal()}


def dump_header(publication: Publication) -> bytes:
    """Return the file of a publication without its rows."""
    return _join(
        [
            dump_line(
                {
                    "run": publication.run,
                    "attempt": publication.attempt,
                    "commit": publication.commit,
                    "origin": publication.origin,
                    "published-at": dump_time(publication.published_at),
                    "row-count": len(publication.rows),
                    "measured-runs": sorted({row.run for row in publication.rows}),
                }
            )
        ]
    )


def parse_summary(path: str, content: bytes, withdrawals: Mapping[int, Withdrawal]) -> PublicationSummary:
    values = parse_line(content, path)
    try:
        return PublicationSummary(
            run=values["run"],
            attempt=values["attempt"],
            commit=values["commit"],
            origin=values["origin"],
            published_at=datetime.fromisoformat(values["published-at"]),
            row_count=values["row-count"],
            withdrawal=withdrawals.get(values["run"]),
        )
    except (KeyError, TypeError, ValueError):
        raise StoreError("This file of the store is damaged.", where=path) from None


def parse_publication(path: str, header: bytes, rows: Iterable[StoredRow]) -> Publication:
    summary = parse_summary(path, header, {})
    return Publication(
        run=summary.run,
        attempt=summary.attempt,
        commit=summary.commit,
        origin=summary.origin,
        published_at=summary.published_at,
        rows=tuple(rows),
    )


def parse_measured_runs(path: str, content: bytes) -> frozenset[int]:
    """Return the runs that measured the rows of a publication."""
    runs = parse_line(content, path).get("measured-runs")
    if not isinstance(runs, list):
        raise StoreError("This file of the store is damaged.", where=path)
    return frozenset(runs)


def dump_rows(rows: Iterable[StoredRow]) -> bytes:
    return _join(dump_row(row) for row in rows)


def parse_rows(path: str, content: bytes, series: Collection[str] | None = None) -> Iterator[StoredRow]:
    """Return the rows of a publication. series: only rows of these; the others are not parsed."""
    for number, line in enumerate(content.splitlines(), start=1):
        if series is not None and (match := _SERIES.search(line)) and match[1].decode() not in series:
            continue
        yield parse_row(line, f"{path}:{number}")


def dump_series(points: Mapping[int, PublishedRow]) -> bytes:
    """Return the file of a series, sorted by concurrency."""
    return _join(dump_published(row) for _, row in sorted(points.items()))


def parse_series(path: str, content: bytes) -> Iterator[PublishedRow]:
    for number, line in enumerate(content.splitlines(), start=1):
        yield parse_published(line, f"{path}:{number}")


def _join(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()

"""Compute the files that a write to a branch changes, from the files in a mirror of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from infx.results.series import Publication, StoredRow, Withdrawal
from infx.store import files
from infx.store.files import Files
from infx.store.lines import Place, PublishedRow, dump_withdrawal, parse_withdrawal
from infx.store.merge import count_changes, is_baseline, merge_publications, pick_newest
from infx.store.mirror import Mirror
from infx.store.port import StoreChange, UnknownRunError, WithdrawnRunError


def plan_publish(mirror: Mirror, publication: Publication) -> tuple[Files, StoreChange]:
    """Return the files to write for a publication, none if it is stored already, and what changes."""
    _refuse_withdrawn(mirror, publication.run)
    place = (publication.run, publication.attempt)
    stored = _read_publication(mirror, place)
    change = count_changes(stored.rows if stored else (), publication.rows)
    merged = merge_publications(stored, publication)
    new: Files = {
        files.header_path(place): files.dump_header(merged),
        files.rows_path(place): files.dump_rows(merged.rows),
    }
    if not mirror.ids:
        new[files.README] = files.README_TEXT.encode()
    if stored and change.is_empty:
        return mirror.select_changes(new), change
    if change.replaced:
        assert stored is not None, "a replaced row was stored"
        series = {row.series for row in (*stored.rows, *merged.rows)}
        new |= _rebuild(mirror, series, publications={place: merged.rows})
    else:
        new |= _extend(mirror, [PublishedRow(publication=place, row=row) for row in publication.rows])
    return mirror.select_changes(new), change


def plan_withdraw(mirror: Mirror, withdrawal: Withdrawal) -> tuple[Files, bool]:
    """Return the files to write for a withdrawal, and whether the run is not withdrawn yet."""
    run = withdrawal.run
    headers = mirror.read(mirror.list(files.PUBLICATIONS))
    places = [
        files.parse_place(path)
        for path, content in headers
        if files.parse_place(path)[0] == run or run in files.parse_measured_runs(path, content)
    ]
    if not places:
        raise UnknownRunError(run)
    path = files.withdrawal_path(run)
    if path in mirror.ids:
        return {}, False
    series = {
        row.row.series for row in _read_rows(mirror, places) if run in (row.publication[0], row.row.run)
    }
    new: Files = {path: f"{dump_withdrawal(withdrawal)}\n".encode()}
    return mirror.select_changes(new | _rebuild(mirror, series, withdrawn={run})), True


def _refuse_withdrawn(mirror: Mirror, run: int) -> None:
    for path, content in mirror.read([files.withdrawal_path(run)]):
        raise WithdrawnRunError(parse_withdrawal(content, path))


def _read_publication(mirror: Mirror, place: Place) -> Publication | None:
    contents = dict(mirror.read([files.header_path(place), files.rows_path(place)]))
    if len(contents) < 2:
        return None
    (header_path, header), (rows_path, rows) = contents.items()
    return files.parse_publication(header_path, header, files.parse_rows(rows_path, rows))


def _read_rows(
    mirror: Mirror, places: Collection[Place], series: Collection[str] | None = None
) -> Iterator[PublishedRow]:
    """Return the rows of publications; the files of a few of them are in memory at the same time.

    series: only rows of these series.
    """
    for path, content in mirror.read([files.rows_path(place) for place in places]):
        for row in files.parse_rows(path, content, series):
            yield PublishedRow(publication=files.parse_place(path), row=row)


def _extend(mirror: Mirror, rows: list[PublishedRow]) -> Files:
    """Return the files of the series to which new rows belong."""
    withdrawn = _find_withdrawn(mirror)
    paths = {files.series_path(row.row.series) for row in rows}
    stored = [
        row for path, content in mirror.read(sorted(paths)) for row in files.parse_series(path, content)
    ]
    newest = pick_newest(row for row in (*stored, *rows) if is_baseline(row, withdrawn))
    return {files.series_path(series): files.dump_series(points) for series, points in newest.items()}


def _rebuild(
    mirror: Mirror,
    series: Collection[str],
    *,
    publications: Mapping[Place, tuple[StoredRow, ...]] | None = None,
    withdrawn: Collection[int] = (),
) -> Files:
    """Return the files of series, computed from the rows of all publications.

    Args:
        publications: publications whose rows are not in the mirror yet.
        withdrawn: runs whose withdrawal is not in the mirror yet.
    """
    new = publications or {}
    places = {files.parse_place(path) for path in mirror.list(files.RUNS)} - new.keys()
    all_withdrawn = _find_withdrawn(mirror) | set(withdrawn)

    def find_rows() -> Iterator[PublishedRow]:
        yield from _read_rows(mirror, sorted(places), series)
        for place, rows in new.items():
            yield from (PublishedRow(publication=place, row=row) for row in rows)

    newest = pick_newest(
        row for row in find_rows() if row.row.series in series and is_baseline(row, all_withdrawn)
    )
    return {
        files.series_path(key): files.dump_series(newest[key]) if key in newest else None for key in series
    }


def _find_withdrawn(mirror: Mirror) -> set[int]:
    return files.find_withdrawn(mirror.list(files.WITHDRAWALS))

"""Combine publications, rows and withdrawals: the rules that all stores share."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from infx.records import replace
from infx.results.series import Publication, PublicationSummary, StoredRow, Withdrawal
from infx.store.lines import PublishedRow, dump_row
from infx.store.port import StoreChange


def count_changes(stored: Iterable[StoredRow], new: Iterable[StoredRow]) -> StoreChange:
    """Return what a publication changes in the stored rows of the same publication."""
    # Texts are compared, because Python takes 1, 1.0 and True for equal.
    old = {row.key: dump_row(row) for row in stored}
    keys = {row.key: dump_row(row) for row in new}
    return StoreChange(
        added=sum(key not in old for key in keys),
        replaced=sum(key in old and old[key] != line for key, line in keys.items()),
        unchanged=sum(old.get(key) == line for key, line in keys.items()),
    )


def merge_publications(stored: Publication | None, new: Publication) -> Publication:
    """Return the publication to store, with sorted rows; it keeps the instant of the first of repeated calls."""
    rows = {row.key: row for row in (*(stored.rows if stored else ()), *new.rows)}
    published_at = stored.published_at if stored else new.published_at
    return replace(new, rows=tuple(row for _, row in sorted(rows.items())), published_at=published_at)


def is_baseline(published: PublishedRow, withdrawn: Collection[int]) -> bool:
    """Return whether a row may be compared with: neither its publication nor its measurement was withdrawn."""
    return published.publication[0] not in withdrawn and published.row.run not in withdrawn


def pick_newest(rows: Iterable[PublishedRow]) -> dict[str, dict[int, PublishedRow]]:
    """Return series → concurrency → the newest row."""
    newest: dict[str, dict[int, PublishedRow]] = {}
    for row in rows:
        points = newest.setdefault(row.row.series, {})
        previous = points.get(row.row.conc)
        if previous is None or row.age > previous.age:
            points[row.row.conc] = row
    return newest


def summarize(publication: Publication, withdrawals: Mapping[int, Withdrawal]) -> PublicationSummary:
    return PublicationSummary(
        run=publication.run,
        attempt=publication.attempt,
        commit=publication.commit,
        origin=publication.origin,
        published_at=publication.published_at,
        row_count=len(publication.rows),
        withdrawal=withdrawals.get(publication.run),
    )


def sort_summaries(summaries: Iterable[PublicationSummary]) -> tuple[PublicationSummary, ...]:
    """Sort the newest first."""
    return tuple(
        sorted(summaries, key=lambda item: (item.published_at, item.run, item.attempt), reverse=True)
    )

"""Combine a publication with what a store has."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from infx.records import replace
from infx.results.series import Publication, PublicationSummary, StoredRow, Withdrawal
from infx.store.port import StoreChange


def merge_rows(stored: Publication | None, new: Publication) -> tuple[Publication, StoreChange]:
    """Return the publication to store, and what changes. A repeated publication keeps the instant of the first."""
    old = {row.key: row for row in stored.rows} if stored else {}
    rows = {row.key: row for row in new.rows}
    change = StoreChange(
        added=len(rows.keys() - old.keys()),
        replaced=sum(key in old and old[key] != row for key, row in rows.items()),
        unchanged=sum(old.get(key) == row for key, row in rows.items()),
    )
    merged = tuple(row for _, row in sorted({**old, **rows}.items()))
    return replace(new, rows=merged, published_at=stored.published_at if stored else new.published_at), change


def is_baseline(publication_run: int, row: StoredRow, withdrawn: Collection[int]) -> bool:
    """Return whether a row of a publication may be compared with."""
    return publication_run not in withdrawn and row.run not in withdrawn


def summarize(
    publications: Iterable[Publication], withdrawals: Mapping[int, Withdrawal]
) -> tuple[PublicationSummary, ...]:
    """Return the publications without their rows, newest first."""
    summaries = [
        PublicationSummary(
            run=publication.run,
            attempt=publication.attempt,
            commit=publication.commit,
            origin=publication.origin,
            published_at=publication.published_at,
            row_count=len(publication.rows),
            withdrawal=withdrawals.get(publication.run),
        )
        for publication in publications
    ]
    return sort_summaries(summaries)


def sort_summaries(summaries: Iterable[PublicationSummary]) -> tuple[PublicationSummary, ...]:
    return tuple(
        sorted(summaries, key=lambda item: (item.published_at, item.run, item.attempt), reverse=True)
    )

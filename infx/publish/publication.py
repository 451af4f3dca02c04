"""Turn validated results into what a store keeps."""

from __future__ import annotations

from datetime import datetime

from infx.errors import UsageError
from infx.publish.handover import ValidatedMerge, ValidatedRow
from infx.results.artifact import JsonFaultError
from infx.results.row import RowFaultError
from infx.results.series import Publication, StoredRow, make_row


def make_publication(merge: ValidatedMerge, now: datetime) -> Publication | None:
    """Return the publication of a merge; None if it has no throughput results. Raises UsageError for a bad row."""
    if not merge.rows or merge.run is None:
        return None
    return Publication(
        run=merge.run,
        attempt=merge.attempt,
        commit=merge.sha,
        origin=merge.origin,
        published_at=now,
        rows=tuple(map(_make_row, merge.rows)),
    )


def _make_row(row: ValidatedRow) -> StoredRow:
    try:
        return make_row(
            row.parse_result(),
            run=row.run,
            attempt=row.attempt,
            row_id=row.row_id,
            commit=row.commit,
            measured_at=row.measured_at,
        )
    except (JsonFaultError, RowFaultError) as error:
        raise UsageError(
            f"The result of row {row.row_id} cannot be stored: {error}.",
            hint="Run the whole workflow again, so that its results are validated again.",
        ) from None

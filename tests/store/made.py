"""Make publications for tests of stores."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from infx.results.series import Publication, StoredRow, Withdrawal

START = datetime(2026, 1, 1, tzinfo=UTC)
COMMIT = "c" * 40


def make_stored(
    run: int = 1, *, day: int = 1, series: str = "s", conc: int = 64, attempt: int = 1, **changes: Any
) -> StoredRow:
    values = {
        "row_id": f"{series}-{conc}".replace(" ", "_"),
        "commit": COMMIT,
        "values": {"tput_per_gpu": float(run)},
    }
    return StoredRow(
        series=series,
        conc=conc,
        run=run,
        attempt=attempt,
        measured_at=START + timedelta(days=day),
        **{**values, **changes},
    )


def make_publication(run: int, *rows: StoredRow, attempt: int = 1, **changes: Any) -> Publication:
    values = {"commit": COMMIT, "origin": "merge", "published_at": START + timedelta(days=run)}
    return Publication(
        run=run, attempt=attempt, rows=rows or (make_stored(run, day=run),), **{**values, **changes}
    )


def make_withdrawal(run: int, **changes: Any) -> Withdrawal:
    values = {"reason": "the clock was wrong", "by": "octocat", "withdrawn_at": START}
    return Withdrawal(run=run, **{**values, **changes})

"""The tables of a store in SQL, and the statements about them.

Times are in UTC. `row_values` is a row's JSON as text with ASCII characters only, because the types for JSON of the
databases differ in the values that they accept.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    DateTime,
    Dialect,
    Index,
    MetaData,
    Select,
    Table,
    Text,
    TypeDecorator,
    and_,
    func,
    select,
)

from infx.results.series import StoredRow
from infx.store.lines import PublishedRow, dump_line, parse_line


class Instant(TypeDecorator[datetime]):
    """A time in UTC, also in a database that stores no zone."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)


# Texts are sorted by their bytes, as in Python.
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")

metadata = MetaData()
publications = Table(
    "infx_publications",
    metadata,
    Column("run", BigInteger, primary_key=True, autoincrement=False),
    Column("attempt", BigInteger, primary_key=True, autoincrement=False),
    Column("commit_sha", _TEXT, nullable=False),
    Column("origin", _TEXT, nullable=False),
    Column("published_at", Instant, nullable=False),
)
rows = Table(
    "infx_rows",
    metadata,
    Column("publication_run", BigInteger, primary_key=True, autoincrement=False),
    Column("publication_attempt", BigInteger, primary_key=True, autoincrement=False),
    Column("run", BigInteger, primary_key=True, autoincrement=False),
    Column("attempt", BigInteger, primary_key=True, autoincrement=False),
    Column("row_id", _TEXT, primary_key=True),
    Column("conc", BigInteger, primary_key=True, autoincrement=False),
    Column("series", _TEXT, nullable=False),
    Column("commit_sha", _TEXT, nullable=False),
    Column("measured_at", Instant, nullable=False),
    Column("row_values", Text, nullable=False),
    Index("infx_rows_run", "run"),
)
# Newest first.
_ORDER = [
    column.desc()
    for column in (
        rows.c.measured_at, rows.c.run, rows.c.attempt, rows.c.row_id, rows.c.publication_run, rows.c.publication_attempt,
    )
]  # fmt: skip
# With all columns that finding the newest rows needs, in its order, so that only those rows are read from the table.
Index("infx_rows_newest", rows.c.series, rows.c.conc, *_ORDER)
withdrawals = Table(
    "infx_withdrawals",
    metadata,
    Column("run", BigInteger, primary_key=True, autoincrement=False),
    Column("reason", Text, nullable=False),
    Column("withdrawn_by", Text, nullable=False),
    Column("withdrawn_at", Instant, nullable=False),
)


def select_newest(series: Collection[str], withdrawn: Collection[int]) -> Select[Any]:
    """Return a query for the newest row of each series and concurrency.

    withdrawn: runs whose rows do not count, neither those that they measured nor those that they published.
    """
    rank = func.row_number().over(partition_by=[rows.c.series, rows.c.conc], order_by=_ORDER).label("rank")
    counts = (
        [column.not_in(withdrawn) for column in (rows.c.run, rows.c.publication_run)] if withdrawn else []
    )
    # The long column is read only for the newest rows.
    ranked = select(*rows.primary_key.columns, rank).where(rows.c.series.in_(series), *counts).subquery()
    same = [rows.c[column.name] == ranked.c[column.name] for column in rows.primary_key.columns]
    return select(rows).join(ranked, onclause=and_(*same)).where(ranked.c.rank == 1)


def to_columns(published: PublishedRow) -> dict[str, Any]:
    row = published.row
    return {
        "publication_run": published.publication[0],
        "publication_attempt": published.publication[1],
        "run": row.run,
        "attempt": row.attempt,
        "row_id": row.row_id,
        "conc": row.conc,
        "series": row.series,
        "commit_sha": row.commit,
        "measured_at": row.measured_at,
        "row_values": dump_line(row.values),
    }


def from_columns(columns: Any) -> StoredRow:
    return StoredRow(
        series=columns.series,
        conc=columns.conc,
        run=columns.run,
        attempt=columns.attempt,
        row_id=columns.row_id,
        commit=columns.commit_sha,
        measured_at=columns.measured_at,
        values=parse_line(columns.row_values, f"infx_rows: run {columns.run}, row {columns.row_id}"),
    )

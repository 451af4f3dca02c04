"""A store in an SQL database: a SQLite file, or Postgres.

Writers take turns, because each holds a lock until its transaction ends; readers never wait. The tables are created by
the first write, so that a reader needs no right to create them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy import Connection, Engine, NullPool, Table, event, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import SQLAlchemyError

from infx.results.series import Newest, Publication, PublicationSummary, StoredRow, Withdrawal
from infx.store import tables
from infx.store.lines import PublishedRow, clean_publication, clean_withdrawal, dump_row
from infx.store.merge import count_changes, sort_summaries
from infx.store.port import StoreChange, StoreError, UnknownRunError, WithdrawnRunError

LOCK = 0x696E6678  # the number of the lock that writers share in a Postgres database: `infx` as bytes
WAIT = 60  # seconds that a writer waits for the lock of a SQLite file
SERIES_PER_QUERY = 200  # a database limits the values in a statement
ROWS_PER_INSERT = 1000


class SqlStore:
    """A ResultStore in an SQL database."""

    def __init__(self, url: URL) -> None:
        self._engine = _open_engine(url)
        self._where = url.render_as_string(hide_password=True)
        # Opening a SQLite file creates it, which a reader must not do.
        self._file = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None

    def publish(self, publication: Publication) -> StoreChange:
        publication = clean_publication(publication)
        with self._write() as connection:
            _refuse_withdrawn(connection, publication.run)
            stored = _read_rows(connection, publication)
            old = {row.key: dump_row(row) for row in stored}
            changed = [row for row in publication.rows if old.get(row.key) != dump_row(row)]
            _upsert_publication(connection, publication)
            place = (publication.run, publication.attempt)
            columns = [tables.to_columns(PublishedRow(publication=place, row=row)) for row in changed]
            for start in range(0, len(columns), ROWS_PER_INSERT):
                _upsert(connection, tables.rows, columns[start : start + ROWS_PER_INSERT])
        return count_changes(stored, publication.rows)

    def withdraw(self, withdrawal: Withdrawal) -> bool:
        withdrawal = clean_withdrawal(withdrawal)
        with self._write() as connection:
            if not _has_run(connection, withdrawal.run):
                raise UnknownRunError(withdrawal.run)
            if withdrawal.run in _read_withdrawals(connection):
                return False
            values = {
                "run": withdrawal.run,
                "reason": withdrawal.reason,
                "withdrawn_by": withdrawal.by,
                "withdrawn_at": withdrawal.withdrawn_at,
            }
            connection.execute(tables.withdrawals.insert().values(values))
        return True

    def read_newest(self, series: Collection[str]) -> Newest:
        newest: dict[str, dict[int, StoredRow]] = {}
        keys = sorted(set(series))
        with self._read() as connection:
            if connection is None:
                return {}
            withdrawn = sorted(_read_withdrawals(connection))
            for start in range(0, len(keys), SERIES_PER_QUERY):
                query = tables.select_newest(keys[start : start + SERIES_PER_QUERY], withdrawn)
                for columns in connection.execute(query):
                    row = tables.from_columns(columns)
                    newest.setdefault(row.series, {})[row.conc] = row
        return newest

    def list_publications(self) -> tuple[PublicationSummary, ...]:
        with self._read() as connection:
            return _list_publications(connection) if connection else ()

    @contextmanager
    def _write(self) -> Iterator[Connection]:
        """Return a connection that holds the writers' lock; its transaction is committed at the end."""
        with self._explain(), self._engine.connect() as connection:
            if self._file is not None:
                connection.execution_options(begin="BEGIN IMMEDIATE")
            with connection.begin():
                if self._file is None:
                    connection.execute(select(func.pg_advisory_xact_lock(LOCK)))
                tables.metadata.create_all(connection)
                yield connection

    @contextmanager
    def _read(self) -> Iterator[Connection | None]:
        """Return a connection that sees one state of all tables; None if nothing was ever written."""
        if self._file is not None and not self._file.exists():
            yield None
            return
        with self._explain(), self._engine.connect() as connection:
            if self._file is None:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                has_tables = sqlalchemy.inspect(connection).has_table(tables.withdrawals.name)
                yield connection if has_tables else None

    @contextmanager
    def _explain(self) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            # The error's own text contains the statement with all values, and a cause's may have several lines.
            cause = str(getattr(error, "orig", None) or type(error).__name__).strip().splitlines()
            raise StoreError(
                f"The database refused: {cause[0] if cause else type(error).__name__}.",
                hint="Check INFX_STORE, and the rights of the database's user.",
                where=self._where,
            ) from None


def _open_engine(url: URL) -> Engine:
    # A connection is opened for each call, so that none is left when the process ends.
    if url.get_backend_name() != "sqlite":
        return sqlalchemy.create_engine(url, poolclass=NullPool, connect_args={"connect_timeout": WAIT})
    engine = sqlalchemy.create_engine(url, poolclass=NullPool, connect_args={"timeout": WAIT})

    # Python's driver would start a transaction only at the first write, after which a writer may fail to get the lock.
    @event.listens_for(engine, "connect")
    def _take_over(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        connection.exec_driver_sql(connection.get_execution_options().get("begin", "BEGIN"))

    return engine


def _upsert(connection: Connection, table: Table, values: list[dict[str, Any]]) -> None:
    """Insert rows, and overwrite those with the same primary key."""
    insert = sqlite.insert(table) if connection.dialect.name == "sqlite" else postgresql.insert(table)
    keys = [column.name for column in table.primary_key]
    others = {name: column for name, column in insert.excluded.items() if name not in keys}
    connection.execute(insert.on_conflict_do_update(index_elements=keys, set_=others), values)


def _upsert_publication(connection: Connection, publication: Publication) -> None:
    stored = connection.execute(
        select(tables.publications.c.published_at).where(
            tables.publications.c.run == publication.run,
            tables.publications.c.attempt == publication.attempt,
        )
    ).scalar()
    values = {
        "run": publication.run,
        "attempt": publication.attempt,
        "commit_sha": publication.commit,
        "origin": publication.origin,
        "published_at": stored or publication.published_at,
    }
    _upsert(connection, tables.publications, [values])


def _read_rows(connection: Connection, publication: Publication) -> list[StoredRow]:
    query = select(tables.rows).where(
        tables.rows.c.publication_run == publication.run,
        tables.rows.c.publication_attempt == publication.attempt,
    )
    return [tables.from_columns(columns) for columns in connection.execute(query)]


def _read_withdrawals(connection: Connection) -> dict[int, Withdrawal]:
    return {
        columns.run: Withdrawal(
            run=columns.run,
            reason=columns.reason,
            by=columns.withdrawn_by,
            withdrawn_at=columns.withdrawn_at,
        )
        for columns in connection.execute(select(tables.withdrawals))
    }


def _refuse_withdrawn(connection: Connection, run: int) -> None:
    if withdrawal := _read_withdrawals(connection).get(run):
        raise WithdrawnRunError(withdrawal)


def _has_run(connection: Connection, run: int) -> bool:
    queries = [
        select(tables.publications.c.run).where(tables.publications.c.run == run),
        select(tables.rows.c.run).where(tables.rows.c.run == run),
    ]
    return any(connection.execute(query.limit(1)).first() is not None for query in queries)


def _list_publications(connection: Connection) -> tuple[PublicationSummary, ...]:
    numbers = {
        (run, attempt): number
        for run, attempt, number in connection.execute(
            select(tables.rows.c.publication_run, tables.rows.c.publication_attempt, func.count()).group_by(
                tables.rows.c.publication_run, tables.rows.c.publication_attempt
            )
        )
    }
    withdrawn = _read_withdrawals(connection)
    return sort_summaries(
        PublicationSummary(
            run=columns.run,
            attempt=columns.attempt,
            commit=columns.commit_sha,
            origin=columns.origin,
            published_at=columns.published_at,
            row_count=numbers.get((columns.run, columns.attempt), 0),
            withdrawal=withdrawn.get(columns.run),
        )
        for columns in connection.execute(select(tables.publications))
    )

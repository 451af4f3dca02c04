"""Write stored values as lines of JSON, and read them back.

Equal values have equal bytes, so that a repeated write changes nothing. All characters are ASCII.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from infx.errors import InfxError
from infx.records import record, replace
from infx.results.series import Publication, StoredRow, Withdrawal
from infx.store.port import StoreError

_LARGEST = 2**63 - 1  # of a whole number in SQL
_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,99}")
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SERIES = re.compile(r"[0-9A-Za-z._% -]{1,10000}")

Place = tuple[int, int]  # the run and the attempt of a publication


class InvalidPublicationError(InfxError):
    """Raised when a publication has a value that no store can hold."""


@record
class PublishedRow:
    """A stored row with the publication that it belongs to."""

    publication: Place
    row: StoredRow

    @property
    def age(self) -> tuple[Any, ...]:
        """A value that is greatest for the newest row; of equal rows, the newest publication's wins."""
        return (*self.row.age, self.publication)


def dump_line(values: Mapping[str, Any]) -> str:
    """Return one line without its end. Raises ValueError for a value that JSON does not support."""
    return json.dumps(values, allow_nan=False, sort_keys=True, separators=(",", ":"))


def dump_row(row: StoredRow) -> str:
    return dump_line(_render(row))


def dump_published(published: PublishedRow) -> str:
    return dump_line({"publication": list(published.publication), **_render(published.row)})


def _render(row: StoredRow) -> dict[str, Any]:
    return {
        "series": row.series,
        "conc": row.conc,
        "run": row.run,
        "attempt": row.attempt,
        "row": row.row_id,
        "commit": row.commit,
        "measured-at": dump_time(row.measured_at),
        "values": row.values,
    }


def parse_row(line: bytes | str, where: str) -> StoredRow:
    """Return the row of a line. Raises StoreError that names `where` for a damaged line."""
    return _read_row(parse_line(line, where), where)


def parse_published(line: bytes | str, where: str) -> PublishedRow:
    values = parse_line(line, where)
    try:
        run, attempt = values["publication"]
    except (KeyError, TypeError, ValueError):
        raise _damage(where) from None
    return PublishedRow(publication=(run, attempt), row=_read_row(values, where))


def parse_line(line: bytes | str, where: str) -> dict[str, Any]:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise _damage(where) from None
    if not isinstance(values, dict):
        raise _damage(where)
    return values


def _read_row(values: Mapping[str, Any], where: str) -> StoredRow:
    try:
        return StoredRow(
            series=values["series"],
            conc=values["conc"],
            run=values["run"],
            attempt=values["attempt"],
            row_id=values["row"],
            commit=values["commit"],
            measured_at=datetime.fromisoformat(values["measured-at"]),
            values=values["values"],
        )
    except (KeyError, TypeError, ValueError):
        raise _damage(where) from None


def dump_time(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()


def dump_withdrawal(withdrawal: Withdrawal) -> str:
    return dump_line(
        {
            "run": withdrawal.run,
            "reason": withdrawal.reason,
            "by": withdrawal.by,
            "withdrawn-at": dump_time(withdrawal.withdrawn_at),
        }
    )


def parse_withdrawal(line: bytes | str, where: str) -> Withdrawal:
    values = parse_line(line, where)
    try:
        moment = datetime.fromisoformat(values["withdrawn-at"])
        return Withdrawal(run=values["run"], reason=values["reason"], by=values["by"], withdrawn_at=moment)
    except (KeyError, TypeError, ValueError):
        raise _damage(where) from None


def _damage(where: str) -> StoreError:
    return StoreError(
        "This line of the store is damaged.", hint="Restore the file from an older commit.", where=where
    )


def clean_publication(publication: Publication) -> Publication:
    """Return the publication as it reads after a round trip through JSON.

    Raises InvalidPublicationError if a value cannot be stored, or if two rows have the same key.
    """
    faults = [] if _is_place(publication.run, publication.attempt) else ["run and attempt"]
    faults += [] if _COMMIT.fullmatch(publication.commit) else ["commit"]
    faults += [] if _ID.fullmatch(publication.origin) else ["origin"]
    faults += [] if publication.published_at.tzinfo else ["time without a zone"]
    if faults:
        raise InvalidPublicationError(f"The publication of run {publication.run} has a wrong {faults[0]}.")
    rows: dict[tuple[int, int, str, int], StoredRow] = {}
    for row in publication.rows:
        if row.key in rows:
            raise InvalidPublicationError(
                f"Row {row.row_id!r} at concurrency {row.conc} is in the publication twice."
            )
        rows[row.key] = _clean_row(row)
    return replace(publication, rows=tuple(rows.values()))


def _clean_row(row: StoredRow) -> StoredRow:
    is_valid = (
        _is_place(row.run, row.attempt)
        and 0 < row.conc <= _LARGEST
        and _ID.fullmatch(row.row_id)
        and _COMMIT.fullmatch(row.commit)
        and _SERIES.fullmatch(row.series)
        and row.measured_at.tzinfo
    )
    if not is_valid:
        raise InvalidPublicationError(
            f"Row {row.row_id!r} has a wrong run, attempt, concurrency, id, commit, series or time."
        )
    try:
        text = dump_line(row.values)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidPublicationError(f"Row {row.row_id!r} is not JSON: {error}.") from None
    return replace(row, values=json.loads(text))


def _is_place(run: int, attempt: int) -> bool:
    return 0 < run <= _LARGEST and 0 < attempt <= _LARGEST


def clean_withdrawal(withdrawal: Withdrawal) -> Withdrawal:
    """Return the withdrawal with texts of printable characters, which every store can hold."""
    return replace(withdrawal, reason=_clean_text(withdrawal.reason), by=_clean_text(withdrawal.by))


def _clean_text(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)

"""A store in memory, for tests and experiments."""

from __future__ import annotations

import json
from collections.abc import Collection

from infx.results.series import Newest, Publication, PublicationSummary, StoredRow, Withdrawal, pick_newest
from infx.store.merge import is_baseline, merge_rows, summarize
from infx.store.port import StoreChange, UnknownRunError, WithdrawnRunError


class MemoryStore:
    """A ResultStore that ends with its process."""

    def __init__(self) -> None:
        self._publications: dict[tuple[int, int], Publication] = {}
        self._withdrawals: dict[int, Withdrawal] = {}

    def publish(self, publication: Publication) -> StoreChange:
        if publication.run in self._withdrawals:
            raise WithdrawnRunError(self._withdrawals[publication.run])
        for row in publication.rows:
            json.dumps(dict(row.values), allow_nan=False)
        place = (publication.run, publication.attempt)
        merged, change = merge_rows(self._publications.get(place), publication)
        self._publications[place] = merged
        return change

    def withdraw(self, withdrawal: Withdrawal) -> bool:
        rows = [row for publication in self._publications.values() for row in publication.rows]
        runs = {publication.run for publication in self._publications.values()} | {row.run for row in rows}
        if withdrawal.run not in runs:
            raise UnknownRunError(withdrawal.run)
        is_new = withdrawal.run not in self._withdrawals
        self._withdrawals.setdefault(withdrawal.run, withdrawal)
        return is_new

    def read_newest(self, series: Collection[str]) -> Newest:
        wanted = frozenset(series)
        return pick_newest(row for row in self._list_rows() if row.series in wanted)

    def list_publications(self) -> tuple[PublicationSummary, ...]:
        return summarize(self._publications.values(), self._withdrawals)

    def _list_rows(self) -> list[StoredRow]:
        return [
            row
            for publication in self._publications.values()
            for row in publication.rows
            if is_baseline(publication.run, row, self._withdrawals)
        ]

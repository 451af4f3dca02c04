"""A store in memory, for tests and experiments."""

from __future__ import annotations

from collections.abc import Collection

from infx.results.series import Newest, Publication, PublicationSummary, Withdrawal
from infx.store.lines import Place, PublishedRow, clean_publication, clean_withdrawal
from infx.store.merge import (
    count_changes,
    is_baseline,
    merge_publications,
    pick_newest,
    sort_summaries,
    summarize,
)
from infx.store.port import StoreChange, UnknownRunError, WithdrawnRunError


class MemoryStore:
    """A ResultStore that ends with its process."""

    def __init__(self) -> None:
        self._publications: dict[Place, Publication] = {}
        self._withdrawals: dict[int, Withdrawal] = {}

    def publish(self, publication: Publication) -> StoreChange:
        publication = clean_publication(publication)
        if publication.run in self._withdrawals:
            raise WithdrawnRunError(self._withdrawals[publication.run])
        place = (publication.run, publication.attempt)
        stored = self._publications.get(place)
        self._publications[place] = merge_publications(stored, publication)
        return count_changes(stored.rows if stored else (), publication.rows)

    def withdraw(self, withdrawal: Withdrawal) -> bool:
        run = withdrawal.run
        published = {place[0] for place in self._publications}
        if run not in published and all(row.row.run != run for row in self._list_rows()):
            raise UnknownRunError(run)
        is_new = run not in self._withdrawals
        self._withdrawals.setdefault(run, clean_withdrawal(withdrawal))
        return is_new

    def read_newest(self, series: Collection[str]) -> Newest:
        wanted = frozenset(series)
        rows = (row for row in self._list_rows() if row.row.series in wanted)
        newest = pick_newest(row for row in rows if is_baseline(row, self._withdrawals))
        return {key: {conc: row.row for conc, row in points.items()} for key, points in newest.items()}

    def list_publications(self) -> tuple[PublicationSummary, ...]:
        return sort_summaries(
            summarize(publication, self._withdrawals) for publication in self._publications.values()
        )

    def _list_rows(self) -> list[PublishedRow]:
        return [
            PublishedRow(publication=place, row=row)
            for place, publication in self._publications.items()
            for row in publication.rows
        ]

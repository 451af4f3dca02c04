"""A store on a branch of the repository; docs/store.md describes its files.

A write is one commit that is pushed only if the branch has not moved since it was read; otherwise the write is computed
again from the branch's newest commit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import cached_property
from typing import TypeVar

from infx.git import Git
from infx.results.series import Newest, Publication, PublicationSummary, StoredRow, Withdrawal
from infx.store import files
from infx.store.branch_plan import plan_publish, plan_withdraw
from infx.store.files import Files
from infx.store.lines import clean_publication, clean_withdrawal, parse_withdrawal
from infx.store.merge import sort_summaries
from infx.store.mirror import Mirror, Remote, find_url, open_mirror
from infx.store.port import StoreChange, StoreError

MAX_RACES = 100  # times that another writer may be faster; each time that writer has finished

_T = TypeVar("_T")


class BranchStore:
    """A ResultStore on a branch of the remote `origin` of a clone."""

    def __init__(self, git: Git, branch: str, *, author: str, token: str | None = None) -> None:
        self._git = git
        self._branch = branch
        self._author = author
        self._token = token

    @cached_property
    def _remote(self) -> Remote:
        url = find_url(self._git)
        if url is None:
            raise StoreError(
                f"The results store is the branch {self._branch} of the remote origin, which this clone lacks.",
                hint="Run the command in a clone of the repository.",
            )
        token = self._token if url.startswith("https://") else None
        return Remote(url=url, branch=self._branch, author=self._author, token=token)

    def publish(self, publication: Publication) -> StoreChange:
        publication = clean_publication(publication)
        message = f"Publish run {publication.run}, attempt {publication.attempt}\n\n{publication.commit}\n"
        return self._write(lambda mirror: plan_publish(mirror, publication), message)

    def withdraw(self, withdrawal: Withdrawal) -> bool:
        withdrawal = clean_withdrawal(withdrawal)
        message = f"Withdraw run {withdrawal.run}\n\n{withdrawal.reason}\n"
        return self._write(lambda mirror: plan_withdraw(mirror, withdrawal), message)

    def read_newest(self, series: Collection[str]) -> Newest:
        paths = {files.series_path(key): key for key in set(series)}
        newest: dict[str, dict[int, StoredRow]] = {}
        with open_mirror(self._remote) as mirror:
            for path, content in mirror.read(sorted(paths)):
                rows = [row.row for row in files.parse_series(path, content)]
                newest[paths[path]] = {row.conc: row for row in rows if row.series == paths[path]}
        return newest

    def list_publications(self) -> tuple[PublicationSummary, ...]:
        with open_mirror(self._remote) as mirror:
            withdrawn = [
                parse_withdrawal(content, path)
                for path, content in mirror.read(mirror.list(files.WITHDRAWALS))
            ]
            by_run = {withdrawal.run: withdrawal for withdrawal in withdrawn}
            headers = mirror.read(mirror.list(files.PUBLICATIONS))
            return sort_summaries(files.parse_summary(path, content, by_run) for path, content in headers)

    def _write(self, plan: Callable[[Mirror], tuple[Files, _T]], message: str) -> _T:
        """Commit the files that `plan` returns, if there are any, and return its result."""
        with open_mirror(self._remote) as mirror:
            for _ in range(MAX_RACES):
                changes, result = plan(mirror)
                if not changes or mirror.push(mirror.commit(changes, message)):
                    return result
                mirror.fetch()
        raise StoreError(
            f"Other writers changed the branch {self._branch} {MAX_RACES} times in a row.", hint="Try again."
        )

"""Read what the job that collects the results of a sweep uploaded for the comment: a comparison, and a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.artifacts import read_zip
from infx.comments.comparison import find_hidden
from infx.comments.progress import SweepProgress
from infx.comments.sticky import find_own, read_order
from infx.comments.visualizer import find_page, list_shown
from infx.errors import UnavailableError
from infx.gather.artifacts import ArtifactPort
from infx.github.errors import NotFoundError
from infx.model import Artifact, Comment
from infx.policy.model import Policy
from infx.results.collect import PAGE
from infx.results.compare import COMPARISON
from infx.results.compare_digest import ComparisonDigest, read_digest

MAX_ZIP = 100_000  # bytes; infx writes a few thousand
_ATTEMPT = 3  # the first numbers of a comment's order: the run, its attempt, and whether it has ended


@dataclass
class ComparisonReader:
    """Reads the comparison and the page of the sweep that the comment with results shows first."""

    github: ArtifactPort
    policy: Policy

    def read(
        self, sweeps: Sequence[SweepProgress], comments: Sequence[Comment]
    ) -> tuple[ComparisonDigest | None, int | None]:
        """Return the comparison, and the artifact with the page; None for what has expired, cannot be shown or is not there.

        It needs two requests and a download, but only once for each attempt: infx's own comment carries what was read.

        Args:
            comments: the conversation of the pull request.
        """
        shown = list_shown(sweeps)
        if not shown or not shown[0].run.is_completed:
            return None, None
        run = shown[0].run
        visualizer, identities = self.policy.comments.visualizer, self.policy.identities
        for comment in find_own(comments, visualizer.marker, identities):
            # The artifacts of an attempt that has ended do not change.
            if read_order(comment, identities)[:_ATTEMPT] == shown[0].order[:_ATTEMPT]:
                return find_hidden(comment.body), find_page(comment.body, run.url)
        if (found := self._find(run.id, COMPARISON)) is None:
            return None, None  # the same job makes both, so there is no page either
        page = self._find(run.id, PAGE)
        return self._fetch(found), None if page is None else page.id

    def _find(self, run: int, name: str) -> Artifact | None:
        """Return the newest artifact of this name that has not expired."""
        artifacts = [item for item in self.github.artifacts(run, name=name) if item.name == name]
        newest = max(artifacts, key=lambda item: item.id, default=None)
        return None if newest is None or newest.expired else newest

    def _fetch(self, found: Artifact) -> ComparisonDigest | None:
        if found.size > MAX_ZIP:
            return None
        try:
            data = self.github.download_artifact(found.id, limit=MAX_ZIP)
        except NotFoundError:  # it has expired since it was listed
            return None
        contents = read_zip(COMPARISON, data)
        if contents.fault is not None and len(data) != found.size:
            raise UnavailableError(f"The download of the artifact {COMPARISON} is broken: {contents.fault}.")
        return read_digest(contents)

"""Read the summary of a sweep's comparison, which the job that collects the results uploaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from infx.artifacts import read_zip
from infx.comments.comparison import find_hidden
from infx.comments.progress import SweepProgress
from infx.comments.sticky import find_own, read_order
from infx.comments.visualizer import list_shown
from infx.errors import UnavailableError
from infx.gather.artifacts import ArtifactPort
from infx.github.errors import NotFoundError
from infx.model import Comment
from infx.policy.model import Policy
from infx.results.compare import COMPARISON
from infx.results.compare_digest import ComparisonDigest, read_digest

MAX_ZIP = 100_000  # bytes; infx writes a few thousand
_ATTEMPT = 3  # the first numbers of a comment's order: the run, its attempt, and whether it has ended


@dataclass
class ComparisonReader:
    """Reads the comparison of the sweep that the comment with results shows first."""

    github: ArtifactPort
    policy: Policy

    def read(self, sweeps: Sequence[SweepProgress], comments: Sequence[Comment]) -> ComparisonDigest | None:
        """Return the comparison; None if there is none, or if it has expired or cannot be shown.

        It needs a request and a download, but only once for each attempt: infx's own comment carries what was read.

        Args:
            comments: the conversation of the pull request.
        """
        shown = list_shown(sweeps)
        if not shown or not shown[0].run.is_completed:
            return None
        visualizer, identities = self.policy.comments.visualizer, self.policy.identities
        for comment in find_own(comments, visualizer.marker, identities):
            # The artifacts of an attempt that has ended do not change.
            if read_order(comment, identities)[:_ATTEMPT] == shown[0].order[:_ATTEMPT]:
                return find_hidden(comment.body)
        return self._fetch(shown[0].run.id)

    def _fetch(self, run: int) -> ComparisonDigest | None:
        artifacts = self.github.artifacts(run, name=COMPARISON)
        found = next((item for item in artifacts if item.name == COMPARISON), None)
        if found is None or found.expired or found.size > MAX_ZIP:
            return None
        try:
            data = self.github.download_artifact(found.id, limit=MAX_ZIP)
        except NotFoundError:  # it has expired since it was listed
            return None
        contents = read_zip(COMPARISON, data)
        if contents.fault is not None and len(data) != found.size:
            raise UnavailableError(f"The download of the artifact {COMPARISON} is broken: {contents.fault}.")
        return read_digest(contents)

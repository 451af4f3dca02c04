"""Many pull requests for one request: GraphQL tells of a batch what REST tells of one for four.

Of a batch only those count that came whole: no error at them, nothing null, every page of their comments, and as many
comments as GitHub says there are. The others are for `overview`, which asks REST and says what went wrong there.
Nothing here waits or repeats, because REST has limits of its own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from infx.github import convert
from infx.github.commits import Commits
from infx.github.conversation import Conversation
from infx.github.errors import GitHubError, UnexpectedReplyError
from infx.github.pulls import Pulls
from infx.model import Comment, Overview

BATCH = 20  # pull requests in one query: GitHub ends one that takes it more than 10 s

_COMMENTS = """
fragment Who on Actor { __typename login }
fragment Page on IssueCommentConnection {
  totalCount
  pageInfo { hasNextPage endCursor }
  nodes {
    id fullDatabaseId author { ...Who } body url createdAt updatedAt lastEditedAt editor { ...Who }
  }
}
"""
_WHOLE = """
fragment Whole on PullRequest {
  number title body state isDraft mergeable changedFiles createdAt updatedAt closedAt
  author { ...Who }
  baseRefName baseRefOid headRefName headRefOid
  baseRepository { nameWithOwner }
  headRepository { nameWithOwner }
  labels(first: 100) { pageInfo { hasNextPage } nodes { name } }
  commits(last: 1) {
    totalCount
    nodes { commit { oid status { contexts {
      context state description targetUrl createdAt creator { ...Who }
    } } } }
  }
  timelineItems(last: 50, itemTypes: [LABELED_EVENT, UNLABELED_EVENT]) {
    pageInfo { hasPreviousPage }
    nodes {
      __typename
      ... on LabeledEvent { label { name } createdAt actor { ...Who } }
      ... on UnlabeledEvent { label { name } createdAt actor { ...Who } }
    }
  }
  comments(first: 100) { ...Page }
}
"""


@dataclass(frozen=True)
class _Page:
    """Of comments. cursor: of the next one; None: it is the last."""

    nodes: list[Any]
    total: int
    cursor: str | None


class Overviews(Pulls, Conversation, Commits):
    def overview(self, number: int) -> Overview:
        """One pull request, asked of REST; without its label events, which are a list of their own there."""
        pull = self.pull(number)
        comments = self.issue_comments(number, recent=pull.comments)
        statuses = self.statuses(pull.head_sha) if pull.is_open else []
        return Overview(pull=pull, comments=tuple(comments), statuses=tuple(statuses), has_older_events=True)

    def overviews(self, numbers: Sequence[int]) -> dict[int, Overview]:
        """Those of these pull requests that GraphQL tells whole. Raises nothing that is GitHub's."""
        found: dict[int, Overview] = {}
        parts = [list(numbers[at : at + BATCH]) for at in range(0, len(numbers), BATCH)]
        while parts and self.connection.has_graphql:
            part = parts.pop(0)
            try:
                found |= self._read_batch(part)
            except GitHubError:  # too much at once, perhaps
                half = len(part) // 2
                parts[:0] = [part[:half], part[half:]] if half else []
        return found

    def _read_batch(self, numbers: Sequence[int]) -> dict[int, Overview]:
        told = self._ask(dict.fromkeys(numbers, "...Whole"), _COMMENTS + _WHOLE, {})
        comments: dict[int, list[Any]] = {number: [] for number in told}
        totals: dict[int, int] = {}
        pages = _pages(told)
        asked: set[tuple[int, str]] = set()
        while pages:
            for number, page in pages.items():
                comments[number] += page.nodes
                totals[number] = page.total
            cursors = {n: page.cursor for n, page in pages.items() if page.cursor is not None}
            pages = self._next_pages({n: cursor for n, cursor in cursors.items() if (n, cursor) not in asked})
            asked.update(cursors.items())
        return {
            number: overview
            for number, data in told.items()
            if (overview := _read(data, comments[number], totals.get(number))) is not None
        }

    def _next_pages(self, cursors: Mapping[int, str]) -> dict[int, _Page]:
        """Of those that cannot be read the count is missed afterwards."""
        if not cursors:
            return {}
        wanted = {number: f"comments(first: 100, after: $c{number}) {{ ...Page }}" for number in cursors}
        try:
            return _pages(self._ask(wanted, _COMMENTS, {f"c{n}": cursor for n, cursor in cursors.items()}))
        except GitHubError:
            return {}

    def _ask(self, wanted: Mapping[int, str], fragments: str, cursors: Mapping[str, str]) -> dict[int, Any]:
        """wanted: a selection for each pull request. Those with an error at them, or null, are left out."""
        owner, _, name = self.repository.partition("/")
        given = "".join(f", ${cursor}: String" for cursor in cursors)
        pulls = " ".join(
            f"p{number}: pullRequest(number: {number}) {{ {what} }}" for number, what in wanted.items()
        )
        text = (
            f"query($owner: String!, $name: String!{given}) {{ rateLimit {{ cost }} "
            f"repository(owner: $owner, name: $name) {{ {pulls} }} }}{fragments}"
        )
        answer = self.connection.ask(text, {"owner": owner, "name": name, **cursors})
        failed = {_alias(error) for error in answer.get("errors") or ()}
        told = answer["data"].get("repository")
        if None in failed or not isinstance(told, dict):
            return {}
        found = {number: told.get(f"p{number}") for number in wanted if f"p{number}" not in failed}
        return {number: data for number, data in found.items() if isinstance(data, dict)}


def _alias(error: Any) -> object:
    """The pull request's name in the query; None: the error is of all."""
    path = error["path"]
    return path[1] if isinstance(path, list) and len(path) > 1 and path[0] == "repository" else None


def _pages(told: Mapping[int, Any]) -> dict[int, _Page]:
    """The comments of each pull request, where they came."""
    found: dict[int, _Page] = {}
    for number, data in told.items():
        with contextlib.suppress(UnexpectedReplyError):
            found[number] = convert.convert(_page, data.get("comments"))
    return found


def _page(data: Any) -> _Page:
    info = data["pageInfo"]
    return _Page(
        list(data["nodes"]), int(data["totalCount"]), info["endCursor"] if info["hasNextPage"] else None
    )


def _read(data: Any, comments: Sequence[Any], total: int | None) -> Overview | None:
    """None: it is not whole."""
    try:
        made = convert.convert(convert.overview, {**data, "comments": comments})
    except UnexpectedReplyError:
        return None
    seen: dict[int, Comment] = {comment.id: comment for comment in made.comments}
    return made if total is not None and len(seen) == len(comments) >= total else None

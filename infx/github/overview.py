"""Read many pull requests in one GraphQL query; REST needs four requests for each of them.

`overviews` returns only the pull requests of a batch that came complete: without an error or an unexpected
null, with every page of comments, and with as many comments as GitHub counts. A caller reads the others with
`overview`, which uses REST and raises what goes wrong. Nothing here waits or repeats, because REST has
separate limits.
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

BATCH = 20  # pull requests in one query: GitHub aborts a query that takes more than 10 s

_COMMENTS = """
fragment Who on Actor { __typename login }
fragment Page on IssueCommentConnection {
  totalCount
  pageInfo { hasNextPage endCursor }
  nodes {
    id fullDatabaseId author { ...Who } authorAssociation body url createdAt updatedAt lastEditedAt
    editor { ...Who } reactionGroups { content createdAt viewerHasReacted }
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
    """A page of a pull request's comments."""

    nodes: list[Any]
    total: int  # comments on all pages
    cursor: str | None  # of the next page; None on the last page


class Overviews(Pulls, Conversation, Commits):
    def overview(self, number: int) -> Overview:
        """Read one pull request by REST, without its label events, which REST has in a separate list."""
        pull = self.pull(number)
        comments = self.issue_comments(number, recent=pull.comments)
        statuses = self.statuses(pull.head_sha) if pull.is_open else []
        return Overview(pull=pull, comments=tuple(comments), statuses=tuple(statuses), has_older_events=True)

    def overviews(self, numbers: Sequence[int]) -> dict[int, Overview]:
        """Return number → overview of pull requests that GraphQL returns complete; raise no GitHubError."""
        complete: dict[int, Overview] = {}
        parts = [list(numbers[at : at + BATCH]) for at in range(0, len(numbers), BATCH)]
        while parts and self.connection.has_graphql:
            part = parts.pop(0)
            try:
                complete |= self._read_batch(part)
            except GitHubError:  # maybe the query was too large
                half = len(part) // 2
                parts[:0] = [part[:half], part[half:]] if half else []
        return complete

    def _read_batch(self, numbers: Sequence[int]) -> dict[int, Overview]:
        pulls = self._ask(dict.fromkeys(numbers, "...Whole"), _COMMENTS + _WHOLE, {})
        comments: dict[int, list[Any]] = {number: [] for number in pulls}
        totals: dict[int, int] = {}
        pages = _parse_pages(pulls)
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
            for number, data in pulls.items()
            if (overview := _parse_overview(data, comments[number], totals.get(number))) is not None
        }

    def _next_pages(self, cursors: Mapping[int, str]) -> dict[int, _Page]:
        """Read the next page of each pull request's comments, or nothing after an error."""
        if not cursors:
            return {}
        selections = {number: f"comments(first: 100, after: $c{number}) {{ ...Page }}" for number in cursors}
        try:
            return _parse_pages(
                self._ask(selections, _COMMENTS, {f"c{n}": cursor for n, cursor in cursors.items()})
            )
        except GitHubError:  # the count of comments shows later which pull requests are incomplete
            return {}

    def _ask(
        self, selections: Mapping[int, str], fragments: str, cursors: Mapping[str, str]
    ) -> dict[int, Any]:
        """Ask for a selection of fields of each pull request; leave out pull requests with an error."""
        owner, _, name = self.repository.partition("/")
        variables = "".join(f", ${cursor}: String" for cursor in cursors)
        pulls = " ".join(
            f"p{number}: pullRequest(number: {number}) {{ {selection} }}"
            for number, selection in selections.items()
        )
        text = (
            f"query($owner: String!, $name: String!{variables}) {{ rateLimit {{ cost }} "
            f"repository(owner: $owner, name: $name) {{ {pulls} }} }}{fragments}"
        )
        answer = self.connection.ask(text, {"owner": owner, "name": name, **cursors})
        failed = {_find_alias(error) for error in answer.get("errors") or ()}
        repository = answer["data"].get("repository")
        if None in failed or not isinstance(repository, dict):
            return {}
        answered = {
            number: repository.get(f"p{number}") for number in selections if f"p{number}" not in failed
        }
        return {number: data for number, data in answered.items() if isinstance(data, dict)}


def _find_alias(error: Any) -> object:
    """Return the query's name for the pull request with the error, or None if the error concerns all."""
    path = error["path"]
    return path[1] if isinstance(path, list) and len(path) > 1 and path[0] == "repository" else None


def _parse_pages(pulls: Mapping[int, Any]) -> dict[int, _Page]:
    """Return a page of comments for each pull request that has a valid page."""
    pages: dict[int, _Page] = {}
    for number, data in pulls.items():
        with contextlib.suppress(UnexpectedReplyError):
            pages[number] = convert.convert(_parse_page, data.get("comments"))
    return pages


def _parse_page(data: Any) -> _Page:
    info = data["pageInfo"]
    return _Page(
        list(data["nodes"]), int(data["totalCount"]), info["endCursor"] if info["hasNextPage"] else None
    )


def _parse_overview(data: Any, comments: Sequence[Any], total: int | None) -> Overview | None:
    """Return a pull request's overview, or None if it is incomplete."""
    try:
        overview = convert.convert(convert.parse_overview, {**data, "comments": comments})
    except UnexpectedReplyError:
        return None
    by_id: dict[int, Comment] = {comment.id: comment for comment in overview.comments}
    return overview if total is not None and len(by_id) == len(comments) >= total else None

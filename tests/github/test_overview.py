"""Overviews by GraphQL: they equal those by REST, and an incomplete pull request is left out."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from infx.github.api import GitHub, connect
from infx.github.connection import GRAPHQL_FAILURES, Connection
from infx.github.errors import NotFoundError, PermissionDeniedError
from infx.github.exchange import GRAPHQL, Reply, Request, Transport
from infx.github.overview import BATCH
from infx.github.transport import PyGithubTransport
from infx.hub import FOREVER, Fault, FaultKind, Hub
from infx.hub.service import Snapshot
from infx.model import GHOST, Overview, User, UserType

BOT = "github-actions[bot]"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Hub, Snapshot]]:
    """Yield a hub with pull requests 71 (one of everything), 72 (a fork, 203 comments) and 73 (closed)."""
    clock = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with Hub(tmp_path_factory.mktemp("overview"), clock=lambda: clock) as hub:
        hub.push("main", {"a": "1\n"})
        hub.push("one", {"a": "2\n", "b": "1\n"})
        hub.open_pull("one", number=71, draft=True, labels=["x", "Full Sweep"], body=None)
        hub.unlabel(71, "x", by="mia")
        for by, body in (("cody", "hi"), (BOT, "from the bot"), (None, "from a deleted account")):
            hub.comment(71, body, by=by)
        edited = hub.comment(71, "mine", by=BOT)
        hub.edit_comment(edited.id, "forged", by="eve")
        by_ghost = hub.comment(71, "mine", by="dependabot[bot]")
        hub.edit_comment(by_ghost.id, "changed", by="ghost")
        sha = hub.state.pulls[71].head_sha
        hub.set_status(sha, "ci", "failure", description="red", target_url="https://x.test/", by="cody")
        hub.set_status(sha, "infx/sweep", "pending")
        hub.set_status(sha, "infx/sweep", "success", description="done")
        hub.push("two", {"c": "1\n"}, repository="eve/bench")
        hub.open_pull("two", number=72, repository="eve/bench", by="eve")
        for index in range(203):
            hub.comment(72, f"comment {index}", by="eve", comment_id=4_000_000_000 + index)
        hub.push("three", {"a": "3\n"})
        hub.open_pull("three", number=73)
        hub.set_status(hub.state.pulls[73].head_sha, "ci", "success")
        hub.close_pull(73)
        hub.push("main", {"a": "4\n"})
        yield hub, hub.snapshot()


@pytest.fixture
def hub(made: tuple[Hub, Snapshot]) -> Hub:
    hub, start = made
    hub.restore(start)
    hub.faults.clear()
    hub.clear_log()
    hub.refill()
    return hub


READS = dict.fromkeys(("contents", "pull_requests", "statuses"), "read")


def ask(hub: Hub, **scopes: str) -> GitHub:
    token = hub.workflow_token(scopes or READS)
    return connect("acme/bench", environ=hub.environ(token), sleep=lambda seconds: None)


def read_by_rest(github: GitHub, number: int) -> Overview:
    """Return an overview by REST, with the label events that REST has in a separate list."""
    overview = github.overview(number)
    return replace(overview, label_events=tuple(github.label_events(number)), has_older_events=False)


def without_editors(overview: Overview) -> Overview:
    comments = tuple(replace(comment, editor=None) for comment in overview.comments)
    statuses = sorted(overview.statuses, key=lambda status: status.context)
    return replace(overview, comments=comments, statuses=tuple(statuses))


@pytest.mark.parametrize("number", [71, 72, 73])
def test_graphql_and_rest_give_the_same_overview(hub: Hub, number: int) -> None:
    github = ask(hub)
    overviews = github.overviews([71, 72, 73])
    assert sorted(overviews) == [71, 72, 73]
    assert without_editors(overviews[number]) == without_editors(read_by_rest(github, number))


def test_an_overview_has_the_editors_of_comments(hub: Hub) -> None:
    """GraphQL leaves `[bot]` out of an app's login, and has null for a deleted account."""
    assert [comment.editor for comment in ask(hub).overviews([71])[71].comments] == [
        None,
        None,
        None,
        User(login="eve"),
        GHOST,
    ]
    bots_comment = hub.comment(71, "mine", by=BOT)
    hub.edit_comment(bots_comment.id, "mine again", by=BOT)
    assert ask(hub).overviews([71])[71].comments[-1].editor == User(login=BOT, type=UserType.BOT)


def test_41_pull_requests_cost_5_points(hub: Hub) -> None:
    """There is one query for each 20 pull requests, and one for each further page of comments.

    By GitHub's formula, 20 pull requests with four lists each count as 80 requests, which is one point.
    """
    for number in range(100, 100 + 2 * BATCH):
        hub.push(f"b{number}", {"x": str(number)})
        hub.open_pull(f"b{number}", number=number)
    github = ask(hub)
    numbers = [72, *range(100, 100 + 2 * BATCH)]
    assert sorted(github.overviews(numbers)) == numbers
    assert (hub.queries, hub.points, hub.reads) == (5, 5, 0)
    assert (github.requests.points, github.requests.total) == (5, 5)


def test_mergeable_is_unknown_until_github_has_computed_it(hub: Hub) -> None:
    hub.push("clash", {"a": "5\n"}, start=hub.state.pulls[73].base_sha)
    hub.open_pull("clash", number=74)
    hub.state.pulls[74].unknown_reads = 1
    github = ask(hub)
    assert [github.overviews([74])[74].pull.mergeable for _ in range(2)] == [None, False]
    assert github.overviews([72])[72].pull.mergeable is True


def test_a_missing_pull_request_does_not_hide_the_others(hub: Hub) -> None:
    github = ask(hub)
    assert sorted(github.overviews([71, 999, 73])) == [71, 73]
    with pytest.raises(NotFoundError, match="has no pull request 999"):
        github.overview(999)


def test_a_missing_permission_is_named_by_rest(hub: Hub) -> None:
    github = ask(hub, pull_requests="read")
    assert sorted(github.overviews([71, 73])) == []
    with pytest.raises(PermissionDeniedError, match="statuses: read"):
        github.overview(71)


@dataclass
class Spoiling:
    """A transport that changes the answers of GraphQL."""

    inner: Transport
    spoil: Callable[[Any], None]
    asked: int = 0  # queries

    def send(self, request: Request) -> Reply:
        reply = self.inner.send(request)
        if request.path == GRAPHQL:
            self.asked += 1
            data = copy.deepcopy(reply.data)
            self.spoil(data)
            return replace(reply, data=data)
        return reply

    def fetch(self, url: str) -> Iterator[bytes]:
        raise AssertionError(url)


def spoiled(hub: Hub, spoil: Callable[[Any], None]) -> tuple[GitHub, Spoiling]:
    token = hub.workflow_token(READS)
    transport = Spoiling(PyGithubTransport(base_url=hub.api, token=token), spoil)
    return GitHub(Connection(transport, sleep=lambda seconds: None), "acme/bench"), transport


Place = tuple[str | int, ...]


def places(data: Any, at: Place = ()) -> Iterator[Place]:
    """Yield the place of every value in an answer."""
    inside: Any = (
        data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    )
    for key, value in inside:
        yield (*at, key)
        yield from places(value, (*at, key))


def holder(data: Any, place: Place) -> Any:
    for key in place[:-1]:
        data = data[key]
    return data


NULLABLE = {"author", "creator", "actor", "editor", "lastEditedAt", "closedAt", "description", "targetUrl"}
NULLABLE |= {"headRepository", "status", "body", "endCursor", "rateLimit", "cost", "reactionGroups"}


def test_a_pull_request_with_an_error_is_left_out(hub: Hub) -> None:
    """Every place of the answer is tried; the other pull request stays in the result."""
    seen: list[Any] = []
    spoiled(hub, seen.append)[0].overviews([71, 73])
    of_one = [place for place in places(seen[0]["data"]) if place[:2] == ("repository", "p71")]
    assert len(of_one) > 80
    for place in of_one:

        def null(answer: Any, place: Place = place) -> None:
            holder(answer["data"], place)[place[-1]] = None
            answer["errors"] = [{"type": "FORBIDDEN", "path": list(place), "message": "no"}]

        assert sorted(spoiled(hub, null)[0].overviews([71, 73])) == [73], place


def test_null_without_an_error_never_makes_an_overview_incomplete(hub: Hub) -> None:
    """Null is an answer where GitHub's schema allows it; elsewhere the pull request is left out."""
    seen: list[Any] = []
    whole = without_editors(spoiled(hub, seen.append)[0].overviews([71])[71])
    for place in places(seen[0]["data"]):

        def null(answer: Any, place: Place = place) -> None:
            holder(answer["data"], place)[place[-1]] = None

        def drop(answer: Any, place: Place = place) -> None:
            del holder(answer["data"], place)[place[-1]]

        for spoil in (null, drop):
            overviews = spoiled(hub, spoil)[0].overviews([71])
            if 71 not in overviews or place[-1] in NULLABLE:
                continue
            overview = without_editors(overviews[71])
            optional = place[-2:] == ("contexts", place[-1]) or place[-2:-1] == ("nodes",)
            assert overview == whole or (spoil is drop and optional and place[2] != "comments"), (
                place,
                spoil,
            )


def cut(answer: Any) -> None:
    """Remove the last comment, as if GitHub did not say that there are more."""
    pull = answer["data"]["repository"]["p72"]["comments"]
    pull["nodes"].pop()


def lagging(answer: Any) -> None:
    """Let the newest commit differ from the head."""
    commit = answer["data"]["repository"]["p72"].get("commits")
    if commit:
        commit["nodes"][0]["commit"]["oid"] = "0" * 40


def twice(answer: Any) -> None:
    comments = answer["data"]["repository"]["p72"]["comments"]["nodes"]
    comments[-1] = comments[0]


def no_cursor(answer: Any) -> None:
    answer["data"]["repository"]["p72"]["comments"]["pageInfo"]["endCursor"] = None


@pytest.mark.parametrize("spoil", [cut, lagging, twice, no_cursor])
def test_an_incomplete_pull_request_is_left_out(hub: Hub, spoil: Callable[[Any], None]) -> None:
    assert spoiled(hub, spoil)[0].overviews([72]) == {}


def test_reading_ends_at_a_repeated_cursor(hub: Hub) -> None:
    """GitHub reports a further page with the same cursor every time."""
    first: list[str] = []

    def always_more(answer: Any) -> None:
        info = answer["data"]["repository"]["p72"]["comments"]["pageInfo"]
        first.append(info["endCursor"])
        info |= {"hasNextPage": True, "endCursor": first[0]}

    assert spoiled(hub, always_more)[0].overviews([72]) == {}
    assert len(first) == 2


@pytest.mark.parametrize("nth", [2, 3])
def test_a_pull_request_without_all_pages_is_left_out(hub: Hub, nth: int) -> None:
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/graphql", nth=nth))
    assert sorted(ask(hub).overviews([71, 72, 73])) == [71, 73]


def test_a_query_that_fails_is_split_in_halves(hub: Hub) -> None:
    """The queries for all three, for 71, and for 72 and 73 together fail."""
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/graphql", nth=1))
    hub.faults.add(Fault(kind=FaultKind.DROP, path="/graphql", nth=2))
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/graphql", nth=3))
    assert sorted(ask(hub).overviews([71, 72, 73])) == [72, 73]


def too_much(answer: Any) -> None:
    answer["data"] = None
    answer["errors"] = [{"type": "RESOURCE_LIMITS_EXCEEDED", "message": "Resource limits exceeded."}]


def nameless(answer: Any) -> None:
    answer["errors"] = [{"message": "Something went wrong while executing your query."}]


@pytest.mark.parametrize("spoil", [too_much, nameless])
def test_graphql_is_given_up_after_four_failures(hub: Hub, spoil: Callable[[Any], None]) -> None:
    github, transport = spoiled(hub, spoil)
    assert github.overviews(list(range(60, 80))) == {}
    assert github.overviews([71]) == {}
    assert transport.asked == GRAPHQL_FAILURES


@pytest.mark.parametrize(
    "fault",
    [
        Fault(kind=FaultKind.FORBIDDEN, path="/graphql", times=FOREVER),
        Fault(kind=FaultKind.PRIMARY_LIMIT, path="/graphql", times=FOREVER, seconds=90),
        Fault(kind=FaultKind.SECONDARY_LIMIT, path="/graphql", times=FOREVER, seconds=90),
        Fault(kind=FaultKind.TOO_MANY, path="/graphql", times=FOREVER, seconds=3600),
    ],
    ids=lambda fault: fault.kind.value,
)
def test_a_refusal_of_graphql_is_final_and_costs_no_wait(hub: Hub, fault: Fault) -> None:
    """REST has separate limits."""
    hub.faults.add(fault)
    waited: list[float] = []
    github = connect("acme/bench", environ=hub.environ(hub.workflow_token(READS)), sleep=waited.append)
    assert github.overviews([71, 72]) == github.overviews([73]) == {}
    assert (hub.queries, waited) == (1, [])
    assert read_by_rest(github, 71).pull.number == 71


def test_an_answer_200_that_the_points_are_used_up_is_a_refusal(hub: Hub) -> None:
    token = hub.workflow_token(READS)
    hub.spend_points(hub.tokens[token], 1000)
    github = connect("acme/bench", environ=hub.environ(token), sleep=lambda seconds: None)
    assert github.overviews([71]) == github.overviews([73]) == {}
    assert hub.queries == 1
    assert hub.log[0].status == 200
    assert github.overview(71).pull.number == 71


def test_anonymous_requests_use_rest(hub: Hub) -> None:
    """GraphQL needs a token, also for a public repository."""
    github = connect("acme/bench", environ=hub.environ(None), sleep=lambda seconds: None)
    assert github.overviews([71]) == {}
    assert github.overview(71).pull.number == 71


def test_an_overview_has_the_newest_label_events(hub: Hub) -> None:
    for _ in range(26):
        hub.label(73, "y", by="mia")
        hub.unlabel(73, "y", by="eve")
    overview = ask(hub).overviews([73])[73]
    assert overview.has_older_events
    assert [event.added for event in overview.label_events] == [True, False] * 25
    assert {event.actor.login for event in overview.label_events} == {"mia", "eve"}

"""What GraphQL tells of many pull requests at once, and that only what came whole is believed."""

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
    """Pull request 71 with one of everything, 72 of a fork with two pages of comments and a bit, 73 closed."""
    clock = datetime(2026, 11, 30, 12, tzinfo=UTC)
    with Hub(tmp_path_factory.mktemp("overview"), clock=lambda: clock) as hub:
        hub.push("main", {"a": "1\n"})
        hub.push("one", {"a": "2\n", "b": "1\n"})
        hub.open_pull("one", number=71, draft=True, labels=["x", "Full Sweep"], body=None)
        hub.unlabel(71, "x", by="mia")
        for by, body in (("cody", "hi"), (BOT, "ours"), (None, "of nobody")):
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


def told_by_rest(github: GitHub, number: int) -> Overview:
    """The same, with what REST keeps elsewhere or does not tell."""
    found = github.overview(number)
    return replace(found, label_events=tuple(github.label_events(number)), has_older_events=False)


def without_editors(found: Overview) -> Overview:
    comments = tuple(replace(comment, editor=None) for comment in found.comments)
    statuses = sorted(found.statuses, key=lambda status: status.context)
    return replace(found, comments=comments, statuses=tuple(statuses))


@pytest.mark.parametrize("number", [71, 72, 73])
def test_it_tells_what_rest_tells(hub: Hub, number: int) -> None:
    github = ask(hub)
    found = github.overviews([71, 72, 73])
    assert sorted(found) == [71, 72, 73]
    assert without_editors(found[number]) == without_editors(told_by_rest(github, number))


def test_and_who_edited_a_comment(hub: Hub) -> None:
    """Of an app GraphQL leaves `[bot]` out; an account that is gone is nobody's."""
    assert [comment.editor for comment in ask(hub).overviews([71])[71].comments] == [
        None,
        None,
        None,
        User(login="eve"),
        GHOST,
    ]
    ours = hub.comment(71, "mine", by=BOT)
    hub.edit_comment(ours.id, "mine again", by=BOT)
    assert ask(hub).overviews([71])[71].comments[-1].editor == User(login=BOT, type=UserType.BOT)


def test_many_for_few_points(hub: Hub) -> None:
    """One query of 20 and, for all long conversations in it, one for each further page. 20 pull requests with four
    lists are 80 requests by GitHub's formula, which is one point; five such queries are five.
    """
    for number in range(100, 100 + 2 * BATCH):
        hub.push(f"b{number}", {"x": str(number)})
        hub.open_pull(f"b{number}", number=number)
    github = ask(hub)
    numbers = [72, *range(100, 100 + 2 * BATCH)]
    assert sorted(github.overviews(numbers)) == numbers
    assert (hub.queries, hub.points, hub.reads) == (5, 5, 0)
    assert (github.requests.points, github.requests.total) == (5, 5)


def test_whether_it_can_be_merged_as_over_rest(hub: Hub) -> None:
    hub.push("clash", {"a": "5\n"}, start=hub.state.pulls[73].base_sha)
    hub.open_pull("clash", number=74)
    hub.state.pulls[74].unknown_reads = 1
    github = ask(hub)
    assert [github.overviews([74])[74].pull.mergeable for _ in range(2)] == [None, False]
    assert github.overviews([72])[72].pull.mergeable is True


def test_a_number_of_no_pull_request_keeps_no_other_from_its_turn(hub: Hub) -> None:
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
    """Changes what GraphQL answers before anybody reads it. asked: queries."""

    inner: Transport
    spoil: Callable[[Any], None]
    asked: int = 0

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
    """Of every value in an answer."""
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
NULLABLE |= {"headRepository", "status", "body", "endCursor", "rateLimit", "cost"}


def test_whatever_is_null_with_an_error_is_not_believed(hub: Hub) -> None:
    """Every place of the answer in turn; the pull request beside it is told all the same."""
    seen: list[Any] = []
    spoiled(hub, seen.append)[0].overviews([71, 73])
    of_one = [place for place in places(seen[0]["data"]) if place[:2] == ("repository", "p71")]
    assert len(of_one) > 80
    for place in of_one:

        def null(answer: Any, place: Place = place) -> None:
            holder(answer["data"], place)[place[-1]] = None
            answer["errors"] = [{"type": "FORBIDDEN", "path": list(place), "message": "no"}]

        assert sorted(spoiled(hub, null)[0].overviews([71, 73])) == [73], place


def test_whatever_is_null_or_missing_without_an_error_never_shortens_it(hub: Hub) -> None:
    """Where GitHub's schema allows null it is an answer; elsewhere the pull request is not told at all."""
    seen: list[Any] = []
    whole = without_editors(spoiled(hub, seen.append)[0].overviews([71])[71])
    for place in places(seen[0]["data"]):

        def null(answer: Any, place: Place = place) -> None:
            holder(answer["data"], place)[place[-1]] = None

        def drop(answer: Any, place: Place = place) -> None:
            del holder(answer["data"], place)[place[-1]]

        for spoil in (null, drop):
            found = spoiled(hub, spoil)[0].overviews([71])
            if 71 not in found or place[-1] in NULLABLE:
                continue
            told = without_editors(found[71])
            optional = place[-2:] == ("contexts", place[-1]) or place[-2:-1] == ("nodes",)
            assert told == whole or (spoil is drop and optional and place[2] != "comments"), (place, spoil)


def cut(answer: Any) -> None:
    """The comments end early, and GitHub does not say that there are more."""
    pull = answer["data"]["repository"]["p72"]["comments"]
    pull["nodes"].pop()


def lagging(answer: Any) -> None:
    """The head's commit is not the head."""
    commit = answer["data"]["repository"]["p72"].get("commits")
    if commit:
        commit["nodes"][0]["commit"]["oid"] = "0" * 40


def twice(answer: Any) -> None:
    comments = answer["data"]["repository"]["p72"]["comments"]["nodes"]
    comments[-1] = comments[0]


def no_cursor(answer: Any) -> None:
    answer["data"]["repository"]["p72"]["comments"]["pageInfo"]["endCursor"] = None


@pytest.mark.parametrize("spoil", [cut, lagging, twice, no_cursor])
def test_a_cut_list_is_not_believed(hub: Hub, spoil: Callable[[Any], None]) -> None:
    assert spoiled(hub, spoil)[0].overviews([72]) == {}


def test_a_cursor_that_comes_again_ends_the_reading(hub: Hub) -> None:
    """GitHub says for ever that there is more, behind the same cursor; what has not come by then is for REST."""
    first: list[str] = []

    def always_more(answer: Any) -> None:
        info = answer["data"]["repository"]["p72"]["comments"]["pageInfo"]
        first.append(info["endCursor"])
        info |= {"hasNextPage": True, "endCursor": first[0]}

    assert spoiled(hub, always_more)[0].overviews([72]) == {}
    assert len(first) == 2


@pytest.mark.parametrize("nth", [2, 3])
def test_a_further_page_that_fails_is_missed(hub: Hub, nth: int) -> None:
    hub.faults.add(Fault(kind=FaultKind.BAD_GATEWAY, path="/graphql", nth=nth))
    assert sorted(ask(hub).overviews([71, 72, 73])) == [71, 73]


def test_more_than_one_query_can_answer_is_asked_in_parts(hub: Hub) -> None:
    """Unanswered are the query for all three, the one for 71 alone, and that for the other two together."""
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
def test_who_never_answers_is_not_asked_for_ever(hub: Hub, spoil: Callable[[Any], None]) -> None:
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
def test_a_refusal_of_all_is_asked_for_once_and_not_waited_for(hub: Hub, fault: Fault) -> None:
    """REST has limits of its own."""
    hub.faults.add(fault)
    waited: list[float] = []
    github = connect("acme/bench", environ=hub.environ(hub.workflow_token(READS)), sleep=waited.append)
    assert github.overviews([71, 72]) == github.overviews([73]) == {}
    assert (hub.queries, waited) == (1, [])
    assert told_by_rest(github, 71).pull.number == 71


def test_points_that_are_used_up_are_told_with_status_200(hub: Hub) -> None:
    token = hub.workflow_token(READS)
    hub.spend_points(hub.tokens[token], 1000)
    github = connect("acme/bench", environ=hub.environ(token), sleep=lambda seconds: None)
    assert github.overviews([71]) == github.overviews([73]) == {}
    assert hub.queries == 1
    assert hub.log[0].status == 200
    assert github.overview(71).pull.number == 71


def test_nobody_is_told_by_rest(hub: Hub) -> None:
    """GraphQL wants to know who asks; the repository is public."""
    github = connect("acme/bench", environ=hub.environ(None), sleep=lambda seconds: None)
    assert github.overviews([71]) == {}
    assert github.overview(71).pull.number == 71


def test_label_events_are_the_newest_and_say_if_there_are_more(hub: Hub) -> None:
    for _ in range(26):
        hub.label(73, "y", by="mia")
        hub.unlabel(73, "y", by="eve")
    found = ask(hub).overviews([73])[73]
    assert found.has_older_events
    assert [event.added for event in found.label_events] == [True, False] * 25
    assert {event.actor.login for event in found.label_events} == {"mia", "eve"}

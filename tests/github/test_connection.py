"""The one rule for repeating and waiting, with a scripted transport and a test clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from infx.github.connection import ATTEMPTS
from infx.github.errors import (
    GitHubError,
    PermissionDeniedError,
    PrimaryLimitError,
    SecondaryLimitError,
    ServerError,
    UnexpectedReplyError,
    UnknownOutcomeError,
    UnreachableError,
)
from infx.github.exchange import Reply
from tests.github.scripted import LOST, NOW, play, refusal, reply

FINE = reply(200, {"ok": True})
BAD = refusal(502, "Server Error")
DENIED = refusal(403, "Resource not accessible by integration")


def slow_down(seconds: object) -> Reply:
    return refusal(403, "You have exceeded a secondary rate limit.", {"retry-after": str(seconds)})


def used_up(seconds: int) -> Reply:
    headers = {"x-ratelimit-remaining": "0", "x-ratelimit-reset": f"{NOW + seconds:.0f}"}
    return refusal(403, "API rate limit exceeded.", headers)


@pytest.mark.parametrize(
    ("script", "waits"),
    [
        ([FINE], []),
        ([LOST, FINE], [1]),
        ([BAD, LOST, BAD, FINE], [1, 2, 4]),
        ([refusal(503, "Service Unavailable", {"retry-after": "7"}), FINE], [7]),
        ([used_up(90), FINE], [90]),
        ([slow_down(120), FINE], [120]),
        ([slow_down(600), FINE], [600]),  # longer than a minute, and still exactly as GitHub asks
        ([slow_down(0), FINE], [0]),
        ([refusal(429, "Too many requests", {"retry-after": "3"}), FINE], [3]),
        ([refusal(403, "You have exceeded a secondary rate limit."), FINE], [60]),
        ([refusal(429, "Too many requests"), refusal(429, "Too many requests"), FINE], [60, 120]),
    ],
)
def test_reads_are_repeated_after_the_right_wait(script: list[Reply | Exception], waits: list[float]) -> None:
    connection, transport, clock = play(script)
    assert connection.read("/x").data == {"ok": True}
    assert clock.waits == waits
    assert connection.count.reads == len(transport.sent) == len(script)
    assert connection.count.waited == sum(waits)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [(LOST, UnreachableError), (BAD, ServerError)],
)
def test_reads_end_after_the_last_attempt(failure: Reply | Exception, kind: type[GitHubError]) -> None:
    connection, transport, clock = play([failure] * ATTEMPTS)
    with pytest.raises(kind):
        connection.read("/x")
    assert len(transport.sent) == ATTEMPTS
    assert clock.waits == [1, 2, 4, 8]


@pytest.mark.parametrize("status", [401, 404, 409, 422])
def test_refusals_are_never_repeated(status: int) -> None:
    connection, transport, clock = play([refusal(status, "no")])
    with pytest.raises(GitHubError):
        connection.read("/x")
    assert (len(transport.sent), clock.waits) == (1, [])


def test_a_missing_permission_fails_at_once() -> None:
    connection, transport, clock = play([DENIED])
    with pytest.raises(PermissionDeniedError, match="it needs pull-requests: read"):
        connection.read("/repos/acme/bench/issues/77")
    assert (len(transport.sent), clock.waits) == (1, [])


@pytest.mark.parametrize(
    ("script", "kind"),
    [([slow_down(3600)], SecondaryLimitError), ([used_up(3600)], PrimaryLimitError)],
)
def test_a_wait_beyond_the_budget_is_not_started(
    script: list[Reply | Exception], kind: type[GitHubError]
) -> None:
    connection, _, clock = play(script, budget=900)
    with pytest.raises(kind, match=r"Waiting 3600 s is more than the 900 s this command may still wait\."):
        connection.read("/x")
    assert clock.waits == []


def test_the_budget_holds_for_all_waits_together() -> None:
    connection, _, clock = play([slow_down(600), FINE, slow_down(301)], budget=900)
    connection.read("/x")
    with pytest.raises(SecondaryLimitError, match="the 300 s this command may still wait"):
        connection.read("/y")
    assert clock.waits == [600]


@pytest.mark.parametrize("failure", [LOST, BAD])
@pytest.mark.parametrize("verb", ["POST", "PATCH", "PUT", "DELETE"])
def test_a_write_is_sent_once(verb: str, failure: Reply | Exception) -> None:
    connection, transport, clock = play([failure])
    with pytest.raises(UnknownOutcomeError, match=f"The outcome of {verb} /x is unknown"):
        connection.write(verb, "/x", {"a": 1})
    assert (len(transport.sent), clock.waits) == (1, [])


@pytest.mark.parametrize("failure", [slow_down(5), used_up(5), DENIED, refusal(422, "no")])
def test_a_refused_write_is_not_repeated_either(failure: Reply) -> None:
    connection, transport, clock = play([failure])
    with pytest.raises(GitHubError) as caught:
        connection.write("POST", "/x")
    assert not isinstance(caught.value, UnknownOutcomeError)
    assert (len(transport.sent), clock.waits) == (1, [])


class World:
    """A target of one write: `done` counts the writes that took effect, `looks` the calls of `look`."""

    def __init__(self, outcomes: list[str]) -> None:
        self.outcomes = iter(outcomes)
        self.done = 0
        self.looks = 0

    def write(self) -> str:
        match next(self.outcomes):
            case "ok":
                self.done += 1
                return "written"
            case "lost after":
                self.done += 1
                raise UnknownOutcomeError("lost")
            case "lost before":
                raise UnknownOutcomeError("lost")
            case "slow down":
                raise SecondaryLimitError("slow down", status=403, wait=7)
            case "denied":
                raise PermissionDeniedError("no", permission=None)
        raise AssertionError

    def look(self) -> str | None:
        self.looks += 1
        return "seen" if self.done else None


@pytest.mark.parametrize(
    ("outcomes", "result", "looks", "waits"),
    [
        (["ok"], "written", 0, []),
        (["lost after"], "seen", 1, []),
        (["lost before", "ok"], "written", 1, [1]),
        (["lost before", "lost after"], "seen", 2, [1]),
        (["slow down", "ok"], "written", 1, [7]),
        (["lost before", "slow down", "lost before", "ok"], "written", 3, [1, 7, 4]),
    ],
)
def test_write_then_look_ends_with_one_write(
    outcomes: list[str], result: str, looks: int, waits: list[float]
) -> None:
    connection, _, clock = play([])
    world = World(outcomes)
    assert connection.write_then_look(world.write, world.look) == result
    assert (world.done, world.looks, clock.waits) == (1, looks, waits)


def test_write_then_look_gives_up_after_a_last_look() -> None:
    connection, _, _ = play([])
    world = World(["lost before"] * ATTEMPTS)
    with pytest.raises(UnknownOutcomeError):
        connection.write_then_look(world.write, world.look)
    assert (world.done, world.looks) == (0, ATTEMPTS)


def test_write_then_look_raises_refusals() -> None:
    connection, _, clock = play([])
    with pytest.raises(PermissionDeniedError):
        connection.write_then_look(World(["denied"]).write, lambda: "never")
    assert clock.waits == []


@pytest.mark.parametrize(
    ("outcomes", "looks", "waits"),
    [(["ok"], 1, []), (["slow down", "ok"], 2, [7]), (["slow down", "slow down", "ok"], 3, [7, 7])],
)
def test_look_then_write_looks_again_after_each_wait(
    outcomes: list[str], looks: int, waits: list[float]
) -> None:
    connection, _, clock = play([])
    world = World(outcomes)
    assert connection.look_then_write(world.look, lambda _: world.write()) == "written"
    assert (world.done, world.looks, clock.waits) == (1, looks, waits)


def test_look_then_write_adds_no_wait_to_an_inner_one() -> None:
    connection, _, clock = play([])
    world = World(["slow down"] * ATTEMPTS)

    def write(_: object) -> str:
        return connection.write_then_look(world.write, world.look)

    with pytest.raises(SecondaryLimitError):
        connection.look_then_write(lambda: None, write)
    assert clock.waits == [7] * (ATTEMPTS - 1)


def test_look_then_write_raises_an_unknown_outcome() -> None:
    connection, _, clock = play([])
    with pytest.raises(UnknownOutcomeError):
        connection.look_then_write(lambda: None, lambda _: World(["lost after"]).write())
    assert clock.waits == []


def test_requests_are_counted() -> None:
    connection, _, _ = play([reply(x_ratelimit_remaining="41"), LOST, FINE, FINE])
    connection.read("/x")
    connection.read("/x")
    connection.write("POST", "/x")
    assert str(connection.count) == "4 requests (reads 3, writes 1, waited 1 s)"
    assert connection.count.remaining == 41


def test_parameters_that_are_none_are_left_out() -> None:
    connection, transport, _ = play([FINE])
    connection.read("/x", event=None, page=2)
    assert transport.sent[0].parameters == {"page": 2}


def test_downloads_are_repeated_and_bounded() -> None:
    connection, _, clock = play([LOST, reply(data=[b"ab", b"cd"])])
    assert connection.fetch("http://store/1", 4) == b"abcd"
    assert clock.waits == [1]
    connection, _, _ = play([reply(data=[b"ab", b"cd"])])
    with pytest.raises(GitHubError, match="exceeds the limit of 3 bytes"):
        connection.fetch("http://store/1", 3)


def test_now_is_the_newest_time_of_github_or_else_the_local_time() -> None:
    replies = [
        reply(date="Mon, 30 Nov 2026 09:00:07 GMT"),
        reply(date="Mon, 30 Nov 2026 09:00:14 GMT"),
        reply(),
    ]
    connection, _, _ = play(replies)
    times = [connection.now()]
    for _ in replies:
        connection.read("/x")
        times.append(connection.now())
    local_time = datetime.fromtimestamp(NOW, UTC)
    server_time = datetime(2026, 11, 30, 9, 0, 7, tzinfo=UTC)
    assert times == [local_time, server_time, server_time + timedelta(seconds=7), local_time]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (reply(data={"full_name": "acme/gauge"}), r"renamed to acme/gauge\."),
        (refusal(404, "Not Found"), r"renamed\."),
        (LOST, r"renamed\."),
    ],
)
@pytest.mark.parametrize("status", [301, 307, 308])
@pytest.mark.parametrize("verb", ["GET", "POST"])
def test_an_error_names_the_new_name_of_a_repository(
    verb: str, status: int, answer: Reply | Exception, words: str
) -> None:
    moved = reply(status, location="https://api.github.com/repositories/4711/issues/77/comments")
    connection, transport, _ = play([moved, answer])
    with pytest.raises(UnexpectedReplyError, match=words):
        connection.read("/x") if verb == "GET" else connection.write(verb, "/x")
    assert [str(request) for request in transport.sent] == [f"{verb} /x", "GET /repositories/4711"]

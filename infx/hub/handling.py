"""From a request to an answer: faults, the token, its permissions, the route."""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import infx.hub.routes  # noqa: F401 - fills the table
from infx.hub.faults import Fault, FaultKind
from infx.hub.refusal import Refused
from infx.hub.router import CORE, GRAPHQL, ROUTES, Answer, Call, Refusal, Route
from infx.hub.tokens import Token, TokenKind

if TYPE_CHECKING:
    from infx.hub.hub import Hub

HOLD = 5.0  # seconds that an overtaken request waits for another at most
NO_PERMISSION = "Resource not accessible by integration"
STORE_TEMPLATE = "/_store/{artifact}"
_CUTS = {FaultKind.DROP, FaultKind.KILL}
_DELAYS = {FaultKind.SLOW, FaultKind.OVERTAKEN}


@dataclass(frozen=True, kw_only=True)
class Incoming:
    method: str
    path: str
    query: Mapping[str, str]
    raw: bytes
    headers: Mapping[str, str]  # names in lower case


@dataclass(kw_only=True)
class Exchange:
    """A request and what was answered, for tests. status: None if the connection was cut."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any = None
    template: str | None = None
    login: str | None = None
    status: int | None = None
    reply: Any = None
    reply_headers: Mapping[str, str] | None = None
    fault: FaultKind | None = None


def handle(hub: Hub, incoming: Incoming, respond: Responder) -> Answer | None:
    """The answer, or None if the connection is to be cut. What happened is recorded before anybody is told.

    respond: `respond_as_api` or `respond_as_store`.
    """
    fault = hub.faults.strike(incoming.method, incoming.path)
    exchange = Exchange(
        method=incoming.method,
        path=incoming.path,
        query=incoming.query,
        headers=incoming.headers,
        fault=fault.kind if fault else None,
    )
    answer = _with_fault(hub, incoming, fault, functools.partial(respond, hub, incoming, exchange))
    if answer is not None:
        exchange.status, exchange.reply, exchange.reply_headers = answer.status, answer.data, answer.headers
    hub.record(exchange)
    if answer is None and fault is not None and fault.callback is not None:
        fault.callback()
    return answer


Responder = Callable[["Hub", Incoming, Exchange], Answer]


def _with_fault(
    hub: Hub, incoming: Incoming, fault: Fault | None, respond: Callable[[], Answer]
) -> Answer | None:
    if fault is None:
        return respond()
    if fault.applied or fault.kind in _DELAYS:
        if not fault.applied:
            _delay(hub, fault)
        answer = respond()
        if fault.kind in _DELAYS:
            if fault.applied:
                _delay(hub, fault)
            return answer
    if fault.kind in _CUTS:
        return None
    reply = _reply_of(hub, fault)
    reply.headers = {**_limit_headers(hub, None, incoming), **reply.headers}
    return reply


def _delay(hub: Hub, fault: Fault) -> None:
    if fault.kind is FaultKind.OVERTAKEN:
        hub.wait_for_another(fault.seconds or HOLD)
    else:
        time.sleep(fault.seconds or 1)


def _reply_of(hub: Hub, fault: Fault) -> Answer:
    seconds = fault.seconds
    match fault.kind:
        case FaultKind.FORBIDDEN:
            return Refusal(403, NO_PERMISSION).answer
        case FaultKind.PRIMARY_LIMIT:
            reset = str(hub.seconds() + int(seconds or 0))
            headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
            return Refusal(403, "API rate limit exceeded for installation.", headers=headers).answer
        case FaultKind.SECONDARY_LIMIT:
            headers = {} if seconds is None else {"Retry-After": f"{seconds:g}"}
            words = (
                "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            )
            return Refusal(403, words, headers=headers).answer
        case FaultKind.TOO_MANY:
            headers = {"Retry-After": f"{seconds or 0:g}"}
            return Refusal(429, "Too many requests", headers=headers).answer
        case FaultKind.UNAUTHORIZED:
            return Refusal(401, "Bad credentials").answer
        case FaultKind.NOT_FOUND:
            return Refusal(404, "Not Found").answer
        case FaultKind.INVALID:
            return Refusal(422, "Validation Failed").answer
        case FaultKind.EMPTY:
            return Answer()
        case _:
            return Answer(status=502, data={"message": "Server Error"})


def respond_as_api(hub: Hub, incoming: Incoming, exchange: Exchange) -> Answer:
    token: Token | None = None
    try:
        token = _authenticate(hub, incoming.headers.get("authorization"))
        answer = _dispatch(hub, incoming, exchange, token)
    except Refusal as refusal:
        answer = refusal.answer
    exchange.login = token.login if token else None
    answer.headers = {**_limit_headers(hub, token, incoming), **answer.headers}
    return answer


_STORED = re.compile(r"/_store/([0-9]+)")


def respond_as_store(hub: Hub, incoming: Incoming, exchange: Exchange) -> Answer:
    """The file store is another service: it knows signed links, and refuses whoever brings a token of GitHub's."""
    match = _STORED.fullmatch(incoming.path)
    artifact = hub.state.artifacts.get(int(match[1])) if match and incoming.method == "GET" else None
    if artifact is None:
        return Answer(status=404, data={"message": "BlobNotFound"})
    exchange.template = STORE_TEMPLATE
    if "authorization" in incoming.headers or incoming.query.get("sig") != artifact.signature:
        return Answer(status=403, data={"message": "AuthenticationFailed"})
    return Answer(raw=artifact.data)


def _dispatch(hub: Hub, incoming: Incoming, exchange: Exchange, token: Token | None) -> Answer:
    route, arguments = _find(incoming.method, incoming.path)
    exchange.template = route.template
    try:
        exchange.body = json.loads(incoming.raw) if incoming.raw else None
    except ValueError:
        raise Refusal(400, "Problems parsing JSON") from None
    if route.is_limited:
        hub.spend(token)
    if "repo" in arguments and f"{arguments['owner']}/{arguments['repo']}".lower() != hub.repository.lower():
        raise Refusal(404, "Not Found")
    call = Call(hub=hub, token=token, incoming=incoming, arguments=arguments, body=exchange.body)
    _check_permission(route, call)
    route.check_body(exchange.body)
    with hub.lock:
        hub.sync()
        hub.actor_is_workflow = token is not None and token.kind is TokenKind.WORKFLOW
        try:
            answer = route.handler(call)
        except Refused as refused:
            more: dict[str, Any] = {"errors": list(refused.errors)} if refused.errors else {}
            raise Refusal(refused.status, refused.message, **more) from None
        finally:
            hub.actor_is_workflow = False
    if route.needs:
        answer.headers["X-Accepted-GitHub-Permissions"] = route.needs
    return answer


def _find(method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    for route in ROUTES:
        if route.method == method and (match := route.pattern.fullmatch(path)):
            return route, {name: unquote(value) for name, value in match.groupdict().items()}
    raise Refusal(404, "Not Found")


def _authenticate(hub: Hub, header: str | None) -> Token | None:
    if not header:
        return None
    token = hub.tokens.get(header.split(" ", 1)[-1])
    if token is None:
        raise Refusal(401, "Bad credentials")
    return token


def _check_permission(route: Route, call: Call) -> None:
    token = call.token
    if route.needs is None:
        return
    headers = {"X-Accepted-GitHub-Permissions": route.needs}
    if token is None:
        if route.method != "GET":
            raise Refusal(401, "Requires authentication")  # reading is free: the repository is public
    elif not call.allows(route.needs, route.role):
        words = (
            "Resource not accessible by personal access token"
            if token.kind is TokenKind.USER
            else NO_PERMISSION
        )
        raise Refusal(403, words, headers=headers)


def _limit_headers(hub: Hub, token: Token | None, incoming: Incoming) -> dict[str, str]:
    resource = GRAPHQL if incoming.path == "/graphql" else CORE
    limit, remaining, reset = hub.limit_of(token, resource)
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Used": str(limit - remaining),
        "X-RateLimit-Reset": str(reset),
        "X-RateLimit-Resource": resource,
        "X-GitHub-Api-Version-Selected": "2022-11-28",
        "Date": hub.http_date(),
    }

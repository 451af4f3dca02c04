"""Handle a request: apply faults, check the token and its permissions, call the route."""

from __future__ import annotations

import functools
import json
import re
import time
from collections.abc import Callable, Mapping
from urllib.parse import unquote

import infx.hub.routes  # noqa: F401 - fills the table
from infx.hub.exchange import CORE, GRAPHQL, Answer, Exchange, Incoming, answer_refusal
from infx.hub.faults import DELAYS, Fault, FaultKind
from infx.hub.refusal import Refused
from infx.hub.router import ROUTES, Call, Route
from infx.hub.routes.actions import DISPATCHES
from infx.hub.routes.pulls import REPO
from infx.hub.routes.settings import ACCESS
from infx.hub.service import Service
from infx.hub.tokens import Token, TokenKind

HOLD = 5.0  # seconds that an overtaken request waits at most for another request
NO_PERMISSION = "Resource not accessible by integration"
STORE_TEMPLATE = "/_store/{artifact}"
_CUTS = {FaultKind.DROP, FaultKind.KILL}


Responder = Callable[[Service, Incoming, Exchange], Answer]


def handle(hub: Service, incoming: Incoming, respond: Responder) -> Answer | None:
    """Return the answer to a request, or None to cut the connection.

    The exchange is recorded before the client gets the answer. respond: `respond_as_api` or
    `respond_as_store`.
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


def _with_fault(
    hub: Service, incoming: Incoming, fault: Fault | None, respond: Callable[[], Answer]
) -> Answer | None:
    if fault is None:
        return respond()
    if fault.applied or fault.kind in DELAYS:
        if not fault.applied:
            _delay(hub, fault)
        answer = respond()
        if fault.kind in DELAYS:
            if fault.applied:
                _delay(hub, fault)
            return answer
    if fault.kind in _CUTS:
        return None
    reply = _reply_of(hub, fault)
    reply.headers = {**_limit_headers(hub, None, incoming), **reply.headers}
    return reply


def _delay(hub: Service, fault: Fault) -> None:
    if fault.kind is FaultKind.OVERTAKEN:
        hub.wait_for_another(fault.seconds or HOLD)
    else:
        time.sleep(fault.seconds or 1)


def _reply_of(hub: Service, fault: Fault) -> Answer:
    seconds = fault.seconds
    match fault.kind:
        case FaultKind.FORBIDDEN:
            refused = Refused(403, NO_PERMISSION)
        case FaultKind.PRIMARY_LIMIT:
            reset = str(hub.seconds() + int(seconds or 0))
            headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": reset}
            refused = Refused(403, "API rate limit exceeded for installation.", headers=headers)
        case FaultKind.SECONDARY_LIMIT:
            headers = {} if seconds is None else {"Retry-After": f"{seconds:g}"}
            words = (
                "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
            )
            refused = Refused(403, words, headers=headers)
        case FaultKind.TOO_MANY:
            refused = Refused(429, "Too many requests", headers={"Retry-After": f"{seconds or 0:g}"})
        case FaultKind.UNAUTHORIZED:
            refused = Refused(401, "Bad credentials")
        case FaultKind.NOT_FOUND:
            refused = Refused(404, "Not Found")
        case FaultKind.INVALID:
            refused = Refused(422, "Validation Failed")
        case FaultKind.EMPTY:
            return Answer()
        case _:
            return Answer(status=502, data={"message": "Server Error"})
    return answer_refusal(refused)


def respond_as_api(hub: Service, incoming: Incoming, exchange: Exchange) -> Answer:
    token: Token | None = None
    try:
        token = _authenticate(hub, incoming.headers.get("authorization"))
        answer = _dispatch(hub, incoming, exchange, token)
    except Refused as refused:
        answer = answer_refusal(refused)
    exchange.login = token.login if token else None
    answer.headers = {**_limit_headers(hub, token, incoming), **answer.headers}
    return answer


_STORED = re.compile(r"/_store/([0-9]+)")


def respond_as_store(hub: Service, incoming: Incoming, exchange: Exchange) -> Answer:
    """Answer as the file store, which needs a signed link and refuses requests with a token."""
    match = _STORED.fullmatch(incoming.path)
    artifact = hub.state.artifacts.get(int(match[1])) if match and incoming.method == "GET" else None
    if artifact is None:
        return Answer(status=404, data={"message": "BlobNotFound"})
    exchange.template = STORE_TEMPLATE
    if "authorization" in incoming.headers or incoming.query.get("sig") != artifact.signature:
        return Answer(status=403, data={"message": "AuthenticationFailed"})
    return Answer(raw=artifact.data)


def _dispatch(hub: Service, incoming: Incoming, exchange: Exchange, token: Token | None) -> Answer:
    route, arguments = _find(incoming.method, incoming.path)
    exchange.template = route.template
    try:
        exchange.body = json.loads(incoming.raw) if incoming.raw else None
    except ValueError:
        raise Refused(400, "Problems parsing JSON") from None
    if route.is_limited:
        hub.spend(token)
    if "repo" in arguments and not _is_here(hub, route, arguments):
        raise Refused(404, "Not Found")
    call = Call(hub=hub, token=token, incoming=incoming, arguments=arguments, body=exchange.body)
    _check_permission(route, call)
    route.check_body(exchange.body)
    with hub.lock:
        hub.sync()
        with hub.acting(token is not None and token.kind is TokenKind.WORKFLOW):
            answer = route.handler(call)
    if route.needs:
        answer.headers["X-Accepted-GitHub-Permissions"] = route.needs
    return answer


def _is_here(hub: Service, route: Route, arguments: Mapping[str, str]) -> bool:
    """Return whether the hub has the repository of a request; of other repositories it has only some routes."""
    name = f"{arguments['owner']}/{arguments['repo']}"
    is_neighbor = route.template == DISPATCHES and name in hub.state.neighbors
    is_toolkit = route.template in {REPO, ACCESS} and name in hub.state.settings.toolkits
    return is_neighbor or is_toolkit or name.lower() == hub.repository.lower()


def _find(method: str, path: str) -> tuple[Route, Mapping[str, str]]:
    for route in ROUTES:
        if route.method == method and (match := route.pattern.fullmatch(path)):
            return route, {name: unquote(value) for name, value in match.groupdict().items()}
    raise Refused(404, "Not Found")


def _authenticate(hub: Service, header: str | None) -> Token | None:
    if not header:
        return None
    token = hub.tokens.get(header.split(" ", 1)[-1])
    if token is None:
        raise Refused(401, "Bad credentials")
    return token


def _check_permission(route: Route, call: Call) -> None:
    token = call.token
    if route.needs is None:
        return
    headers = {"X-Accepted-GitHub-Permissions": route.needs}
    if token is None:
        if route.method != "GET":
            raise Refused(401, "Requires authentication")  # reading needs no token: the repository is public
    elif not call.allows(route.needs, route.role):
        words = (
            "Resource not accessible by personal access token"
            if token.kind is TokenKind.USER
            else NO_PERMISSION
        )
        raise Refused(403, words, headers=headers)


def _limit_headers(hub: Service, token: Token | None, incoming: Incoming) -> dict[str, str]:
    resource = GRAPHQL if incoming.path == "/graphql" else CORE
    limit, remaining, reset = hub.get_limit(token, resource)
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(remaining),
        "X-RateLimit-Used": str(limit - remaining),
        "X-RateLimit-Reset": str(reset),
        "X-RateLimit-Resource": resource,
        "X-GitHub-Api-Version-Selected": "2022-11-28",
        "Date": hub.http_date(),
    }

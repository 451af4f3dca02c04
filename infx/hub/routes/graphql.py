"""The route for GraphQL, which has a separate rate limit, in points."""

from __future__ import annotations

from infx.hub.exchange import GRAPHQL, Answer
from infx.hub.graph import answer
from infx.hub.graph.parse import QueryError, parse
from infx.hub.graph.price import check
from infx.hub.refusal import Refused
from infx.hub.router import Call, route


@route("POST", "/graphql", needs=None, is_limited=False)
def query(call: Call) -> Answer:
    """Answer a query; refusals have status 200, except for a request without a token."""
    if call.token is None:
        raise Refused(401, "This endpoint requires you to be authenticated.")
    hub, body = call.hub, call.body if isinstance(call.body, dict) else {}
    variables = body.get("variables") or {}
    try:
        document = parse(str(body.get("query") or ""))
        price = check(document, {**document.variables, **variables})
        if not hub.spend_points(call.token, price.points):
            shown = {"type": "RATE_LIMITED", "message": "API rate limit already exceeded for installation."}
            return Answer(data={"errors": [shown]})
        limit, remaining, reset = hub.get_limit(call.token, GRAPHQL)
        used = limit - remaining
        rate_limit = {"limit": limit, "remaining": remaining, "used": used, "resetAt": hub.iso(reset)}
        return Answer(data=answer(call, document, variables, price, rate_limit))
    except QueryError as error:
        return Answer(data={"errors": [error.shown]})

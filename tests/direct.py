"""Let clients in this process call a hub without HTTP.

Most of the suite's time would otherwise be spent on PyGithub, sockets and threads. A request takes the usual way if its
client is another process, if the hub delays an answer, and in `tests/github` and `tests/hub`, which test that way.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from infx.github.exchange import Reply, Request
from infx.github.transport import PyGithubTransport
from infx.hub.exchange import Incoming
from infx.hub.handling import handle
from infx.hub.server import HubServer, render

_SERVERS: dict[str, HubServer] = {}  # by address
_START, _CLOSE = HubServer.__init__, HubServer.server_close
_CONNECT, _SEND = PyGithubTransport.__init__, PyGithubTransport.send


@contextmanager
def registered_hubs() -> Iterator[None]:
    """Remember the servers that start."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HubServer, "__init__", _start)
        patch.setattr(HubServer, "server_close", _close)
        yield


@contextmanager
def direct_calls() -> Iterator[None]:
    """Answer requests to the hubs of this process by a call."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PyGithubTransport, "__init__", _connect)
        patch.setattr(PyGithubTransport, "send", _send)
        yield


def _start(server: HubServer, *arguments: Any) -> None:
    _START(server, *arguments)
    _SERVERS[f"http://127.0.0.1:{server.server_port}"] = server


def _close(server: HubServer) -> None:
    _SERVERS.pop(f"http://127.0.0.1:{server.server_port}", None)
    _CLOSE(server)


def _connect(transport: Any, *, base_url: str, token: str | None) -> None:
    transport.address, transport.token, transport.is_connected = base_url, token, False


def _send(transport: Any, request: Request) -> Reply:
    server = _SERVERS.get(transport.address)
    if server is not None and not server.hub.faults.has_delays:
        return _call(server, request, transport.token)
    if not transport.is_connected:
        _CONNECT(transport, base_url=transport.address, token=transport.token)
        transport.is_connected = True
    return _SEND(transport, request)


def _call(server: HubServer, request: Request, token: str | None) -> Reply:
    headers = {"accept": "application/vnd.github+json", "user-agent": "infx"}
    if token:
        headers["authorization"] = f"token {token}"
    parts = urlsplit(request.path)
    incoming = Incoming(
        method=request.verb,
        path=parts.path,
        query={
            **dict(parse_qsl(parts.query, keep_blank_values=True)),
            **{name: str(value) for name, value in request.parameters.items()},
        },
        raw=b"" if request.body is None else json.dumps(request.body).encode(),
        headers=headers,
    )
    try:
        answer = handle(server.hub, incoming, server.respond)
    except Exception as error:  # the server keeps it too, for the test
        server.hub.errors.append(error)
        answer = None
    if answer is None:
        raise ConnectionError("the connection was cut")
    received, data = render(answer)
    values = json.loads(data) if data else None
    return Reply(
        status=answer.status, headers={name.lower(): text for name, text in received.items()}, data=values
    )

"""The hub's HTTP server, with one thread for each connection."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from infx.hub.exchange import Answer, Incoming
from infx.hub.handling import Responder, handle
from infx.hub.playing import PREFIX, respond_to_play
from infx.hub.service import Service


class HubServer(ThreadingHTTPServer):
    """An HTTP server of the hub: the API or the file store, depending on `respond`."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, hub: Service, port: int, respond: Responder) -> None:
        self.hub = hub
        self.respond = respond
        super().__init__(("127.0.0.1", port), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Keep an error for the tests, unless the client has closed the connection."""
        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, ConnectionError):
            self.hub.errors.append(error)


def render(answer: Answer) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body of an answer."""
    if answer.raw is not None:
        data, kind = answer.raw, "application/zip"
    else:
        data = b"" if answer.data is None else json.dumps(answer.data).encode()
        kind = "application/json; charset=utf-8"
    about = {} if answer.status == 204 else {"Content-Type": kind, "Content-Length": str(len(data))}
    return {**about, **answer.headers}, data


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: HubServer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Print nothing, because the hub keeps a log."""

    def _serve(self) -> None:
        parts = urlsplit(self.path)
        incoming = Incoming(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            raw=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
            headers={name.lower(): value for name, value in self.headers.items()},
        )
        if parts.path.startswith(PREFIX):
            answer: Answer | None = respond_to_play(self.server.hub, incoming)
        else:
            answer = handle(self.server.hub, incoming, self.server.respond)
        if answer is None:
            self.close_connection = True
        else:
            self._send(answer)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _serve  # noqa: N815 - the base class's names

    def _send(self, answer: Answer) -> None:
        headers, data = render(answer)
        self.send_response_only(answer.status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

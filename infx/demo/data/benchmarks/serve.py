"""A server on the loop: it accepts connections and answers their requests one after another."""

from __future__ import annotations

import errno
import signal
import socket
import sys
import time
from typing import Any, Awaitable, Callable

from loop import Loop, sleep_until, wait_readable
from wire import HttpConnection, HttpRequest, WireError, read_request, render_error

Handler = Callable[[HttpRequest, HttpConnection], Awaitable[None]]
_BACKLOG = 1024
_PAUSE = 0.05  # seconds without a new connection, if the process has too many open files


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. Raises OSError if the port is taken."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((host, port))
    sock.listen(_BACKLOG)
    sock.setblocking(False)
    return sock


async def serve(loop: Loop, listener: socket.socket, handler: Handler) -> int:
    """Accept connections without end."""
    while True:
        await wait_readable(listener)
        try:
            sock, _ = listener.accept()
        except BlockingIOError:
            continue
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ECONNABORTED):
                raise
            await sleep_until(time.monotonic() + _PAUSE)
            continue
        loop.spawn(_answer(HttpConnection(sock), handler))


async def _answer(connection: HttpConnection, handler: Handler) -> None:
    try:
        while True:
            request = await read_request(connection)
            if request is None:
                return
            connection.has_no_bodies = request.method == "HEAD"
            await handler(request._replace(method="GET") if connection.has_no_bodies else request, connection)
            if request.headers.get("connection", "").lower() == "close":
                return
    except WireError as error:
        await _refuse(connection, error)
    except OSError:
        return  # the other side is gone
    finally:
        connection.close()


async def _refuse(connection: HttpConnection, error: WireError) -> None:
    try:
        await connection.send(render_error(400, str(error)))
    except OSError:
        return


def exit_on_signals(ignores_term: bool = False) -> None:
    """Let SIGTERM and SIGINT end the process with exit code 0, through all `finally`."""

    def leave(number: int, frame: Any) -> None:
        signal.signal(number, signal.SIG_IGN)
        sys.exit(0)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN if ignores_term else leave)

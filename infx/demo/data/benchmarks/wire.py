"""HTTP/1.1 on sockets of the loop: requests, answers, and streams of events."""

from __future__ import annotations

import json
import socket
from typing import Any, NamedTuple

from loop import wait_readable, wait_writable

MAX_HEAD = 64 * 1024
MAX_BODY = 64 * 1024 * 1024
_BLOCK = 256 * 1024
_REASONS = {200: "OK", 400: "Bad HttpRequest", 404: "Not Found", 405: "Method Not Allowed", 500: "Internal Server Error",
            502: "Bad Gateway", 503: "Service Unavailable"}  # fmt: skip
STREAM_HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
)
STREAM_END = b"0\r\n\r\n"


class WireError(Exception):
    """Raised if the other side does not speak HTTP, or ends in the middle of a message."""


class HttpRequest(NamedTuple):
    """A request to a server."""

    method: str
    path: str  # without a query
    headers: dict[str, str]  # names in lower case
    body: bytes


class HttpConnection:
    """A socket with a buffer.

    Attributes:
        deadline: time of `time.monotonic` after which reading and writing raise TimeoutError; None for no limit.
        has_no_bodies: whether only the heads of answers are sent, as a request with the method HEAD wants it.
    """

    def __init__(self, sock: socket.socket, deadline: float | None = None) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = sock
        self._buffer = bytearray()
        self.deadline = deadline
        self.has_no_bodies = False

    async def read_until(self, mark: bytes, limit: int = MAX_HEAD) -> bytes:
        """Return everything up to a mark, and with it. Raises WireError at the end of the stream, or after the limit."""
        start = 0
        while True:
            end = self._buffer.find(mark, start)
            if end >= 0:
                return self._take(end + len(mark))
            if len(self._buffer) > limit:
                raise WireError("the head or a line of a message is too long")
            start = max(0, len(self._buffer) - len(mark) + 1)
            if not await self._fill():
                raise WireError("the connection ended in the middle of a message")

    async def read_exactly(self, size: int) -> bytes:
        """Return a number of bytes. Raises WireError at the end of the stream."""
        while len(self._buffer) < size:
            if not await self._fill():
                raise WireError("the connection ended in the middle of a message")
        return self._take(size)

    async def read_some(self) -> bytes:
        """Return what is there, at least a byte; empty at the end of the stream."""
        if not self._buffer:
            await self._fill()
        return self._take(len(self._buffer))

    async def has_more(self) -> bool:
        """Return whether the other side sends a further byte."""
        return bool(self._buffer) or await self._fill()

    async def send(self, data: bytes) -> None:
        """Send everything."""
        view = memoryview(data.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" if self.has_no_bodies else data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                await wait_writable(self._socket, self.deadline)

    def close(self) -> None:
        self._socket.close()

    def _take(self, size: int) -> bytes:
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    async def _fill(self) -> bool:
        while True:
            try:
                data = self._socket.recv(_BLOCK)
            except BlockingIOError:
                await wait_readable(self._socket, self.deadline)
                continue
            self._buffer += data
            return bool(data)


async def connect(host: str, port: int, deadline: float | None = None) -> HttpConnection:
    """Open a connection. Raises OSError if that is impossible."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        try:
            sock.connect((host, port))
        except BlockingIOError:
            await wait_writable(sock, deadline)
            error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if error:
                raise OSError(error, "the connection was refused") from None
        return HttpConnection(sock, deadline)
    except BaseException:
        sock.close()
        raise


async def read_head(connection: HttpConnection) -> tuple[str, dict[str, str]]:
    """Return the first line and the headers of a message. Raises WireError for another form."""
    text = (await connection.read_until(b"\r\n\r\n")).decode("latin-1")
    first, *lines = text[:-4].split("\r\n")
    headers = {}
    for line in lines:
        name, mark, value = line.partition(":")
        if not mark:
            raise WireError("a header has no colon: " + line[:80])
        headers[name.strip().lower()] = value.strip()
    return first, headers


async def read_request(connection: HttpConnection) -> HttpRequest | None:
    """Return the next request; None if the other side has closed the connection."""
    if not await connection.has_more():
        return None
    first, headers = await read_head(connection)
    words = first.split(" ")
    if len(words) != 3:
        raise WireError("not a request: " + first[:80])
    body = b"".join([part async for part in _read_parts(connection, headers)])
    return HttpRequest(words[0], words[1].partition("?")[0], headers, body)


async def read_status(connection: HttpConnection) -> tuple[int, dict[str, str]]:
    """Return the status and the headers of an answer."""
    first, headers = await read_head(connection)
    words = first.split(" ", 2)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].isdigit():
        raise WireError("not an answer: " + first[:80])
    return int(words[1]), headers


async def read_body(connection: HttpConnection, headers: dict[str, str]) -> bytes:
    """Return the body of an answer."""
    return b"".join([part async for part in read_parts(connection, headers)])


async def read_parts(connection: HttpConnection, headers: dict[str, str]) -> Any:
    """Yield the parts of an answer's body as they come. Raises WireError if the body is cut off."""
    if "content-length" not in headers and headers.get("transfer-encoding", "").lower() != "chunked":
        while True:
            part = await connection.read_some()
            if not part:
                return
            yield part
    async for part in _read_parts(connection, headers):
        yield part


async def _read_parts(connection: HttpConnection, headers: dict[str, str]) -> Any:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        while True:
            size = _parse_size((await connection.read_until(b"\r\n")).split(b";")[0].strip(), 16)
            data = await connection.read_exactly(size + 2)
            if not size:
                return
            yield data[:-2]
    size = _parse_size(headers.get("content-length", "0").encode(), 10)
    if size:
        yield await connection.read_exactly(size)


def _parse_size(text: bytes, base: int) -> int:
    try:
        size = int(text, base)
    except ValueError:
        raise WireError("not the size of a body: " + repr(text[:40])) from None
    if not 0 <= size <= MAX_BODY:
        raise WireError("a body has " + str(size) + " bytes, at most " + str(MAX_BODY) + " are allowed")
    return size


def render_answer(status: int, body: bytes, kind: str = "application/json") -> bytes:
    """Return a whole answer."""
    head = "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n"
    return head.format(status, _REASONS.get(status, "Unknown"), kind, len(body)).encode() + body


def render_json(status: int, value: Any) -> bytes:
    """Return a whole answer with JSON."""
    return render_answer(status, json.dumps(value).encode())


def render_error(status: int, message: str) -> bytes:
    """Return an answer with an error, in the form of OpenAI's servers."""
    kind = "NotFoundError" if status == 404 else "BadRequestError" if status < 500 else "InternalServerError"
    return render_json(status, {"error": {"message": message, "type": kind, "param": None, "code": status}})


def render_request(method: str, path: str, host: str, body: bytes = b"") -> bytes:
    """Return a whole request."""
    head = "{} {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n"
    return head.format(method, path, host, len(body)).encode() + body


def render_part(data: bytes) -> bytes:
    """Return a part of a body that is sent in parts."""
    return b"%x\r\n%b\r\n" % (len(data), data)


def render_event(data: bytes) -> bytes:
    """Return an event of a stream, as a part of its body."""
    return render_part(b"data: " + data + b"\n\n")

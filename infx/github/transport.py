"""The transport over PyGithub: it sends each request exactly once.

By default PyGithub repeats requests (also POST), sleeps between them, asks again on 202 and follows a 301
without the query string. This module turns all of that off, because `connection.py` decides what to repeat
and how long to wait. Importing PyGithub takes about 200 ms, so this module is imported when the first
connection is made.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import requests
from github import Auth
from github.Requester import (
    HTTPRequestsConnectionClass,
    HTTPSRequestsConnectionClass,
    Requester,
    RequestsResponse,
)
from urllib3 import Retry

from infx import __version__
from infx.github.errors import GitHubError, ServerError, parse_retry_after
from infx.github.exchange import GRAPHQL, Reply, Request

API_VERSION = "2022-11-28"
TIMEOUT = 30  # seconds without a byte
CHUNK = 1 << 16


class PyGithubTransport:
    def __init__(self, *, base_url: str, token: str | None) -> None:
        retry = Retry(total=0, redirect=False, respect_retry_after_header=False)
        self._requester = Requester(
            auth=Auth.Token(token) if token else None,
            base_url=base_url,
            timeout=TIMEOUT,
            user_agent=f"infx/{__version__}",
            per_page=100,
            verify=True,
            retry=retry,
            pool_size=1,
            seconds_between_requests=0,
            seconds_between_writes=0,
            api_version=API_VERSION,
        )
        self._line = _make_line(base_url, retry)
        # GitHub Enterprise Server has REST below /api/v3 and GraphQL below /api
        self._server = base_url.removesuffix("/v3")

    def send(self, request: Request) -> Reply:
        headers = {"Accept": "application/vnd.github+json"}
        path = f"{self._server}{request.path}" if request.path == GRAPHQL else request.path
        try:
            status, received, text = self._requester.requestJson(
                request.verb, path, dict(request.parameters), headers, request.body, cnx=self._line
            )
        except requests.RequestException as error:
            raise ConnectionError(_describe(error)) from None
        status = int(received.get(_STATUS, status))
        return Reply(status=status, headers=received, data=_parse(text))

    def fetch(self, url: str) -> Iterator[bytes]:
        try:
            with _make_session(url) as session, session.get(url, stream=True, timeout=TIMEOUT) as response:
                if response.status_code == 429:
                    wait = parse_retry_after(
                        {"retry-after": response.headers.get("retry-after", "")}, time.time()
                    )
                    raise ServerError("The file store asks infx to slow down.", status=429, wait=wait)
                if response.status_code in range(400, 500):
                    raise GitHubError(
                        f"The file store answered {response.status_code}.", status=response.status_code
                    )
                response.raise_for_status()
                yield from response.iter_content(CHUNK)
        except requests.RequestException as error:
            raise ConnectionError(_describe(error)) from None


def probe(url: str) -> int:
    """Return the status of a web page, by HEAD, without credentials. Raises ConnectionError without an answer."""
    try:
        with (
            _make_session(url) as session,
            session.head(url, allow_redirects=True, timeout=TIMEOUT) as response,
        ):
            return response.status_code
    except requests.RequestException as error:
        raise ConnectionError(_describe(error)) from None
    except ValueError as error:  # requests passes on that an address is not valid
        raise ConnectionError(str(error)) from None


_STATUS = "infx-status"
_REPEATED = {202, 301, 302}  # statuses after which PyGithub sends another request


class _Plain(RequestsResponse):
    """A reply with the status 200 in place of one that PyGithub acts upon; a header has the real status."""

    def __init__(self, reply: requests.Response) -> None:
        super().__init__(reply)
        if reply.status_code in _REPEATED:
            self.headers[_STATUS] = str(reply.status_code)
            self.status = 200


def _make_line(base_url: str, retry: Retry) -> Any:
    parts = urlsplit(base_url)
    kind: type[Any] = HTTPSRequestsConnectionClass if parts.scheme == "https" else HTTPRequestsConnectionClass

    class Line(kind):  # type: ignore[misc]  # the base is chosen by the scheme
        def getresponse(self) -> _Plain:
            return _Plain(super().getresponse().response)

    line = Line(parts.hostname, parts.port, retry=retry, pool_size=1, timeout=TIMEOUT)
    line.session.trust_env = not _is_loopback(base_url)
    return line


class _Anonymous(requests.Session):
    def rebuild_auth(self, prepared_request: requests.PreparedRequest, response: requests.Response) -> None:
        """Remove the credentials on a redirect; the base class would read ~/.netrc again."""
        prepared_request.headers.pop("Authorization", None)


def _make_session(url: str) -> requests.Session:
    """Return a session for a server other than GitHub: no credentials, not even those in ~/.netrc."""
    session = _Anonymous()
    session.auth = Requester.noopAuth
    session.trust_env = not _is_loopback(url)
    return session


def _is_loopback(url: str) -> bool:
    """Return whether a URL leads to this machine, which a proxy from the environment cannot reach."""
    return urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}


def _parse(text: str) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def _describe(error: requests.RequestException) -> str:
    if isinstance(error, requests.Timeout):
        return f"no answer within {TIMEOUT} s"
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the file store answered {error.response.status_code}"
    inner = error.args[0] if error.args else error
    reason = getattr(inner, "reason", None)
    return str(reason or inner)[:200]

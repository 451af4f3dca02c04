"""`Hub`: an embedded stand-in for GitHub's API, with one repository.

    with Hub(folder) as hub:
        hub.push("main", {"README.md": "hello"})
        hub.push("feat-x", {"README.md": "hello, world"})
        pull = hub.open_pull("feat-x", by="cody")
        environ = hub.environ(hub.workflow_token(pull_requests="write"))

Every action of people, bots and GitHub Actions is a method; the HTTP routes call the same methods.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from infx.hub.handling import respond_as_api, respond_as_store
from infx.hub.server import HubServer
from infx.hub.service import Service
from infx.hub.world import utc_now

WAKE = 0.2  # seconds


class Hub(Service):
    """A running hub. Use it as a context manager, or call `stop`."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        repository: str = "acme/bench",
        branch: str = "main",
        port: int = 0,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        """Start the servers.

        Args:
            folder: for the bare git repository `owner/name.git`; a temporary folder if it is None.
            port: 0 for any free port.
        """
        self._server = HubServer(self, port, respond_as_api)  # first, so that a taken port leaves no folder
        self._store = HubServer(self, 0, respond_as_store)
        self._temporary = Path(tempfile.mkdtemp(prefix="infx-hub-")) if folder is None else None
        where = (folder or self._temporary or Path()) / f"{repository}.git"
        try:
            super().__init__(repository, where, branch=branch, clock=clock)
        except OSError:
            self._server.server_close()
            self._store.server_close()
            raise
        self.api = f"http://127.0.0.1:{self._server.server_port}"
        self.store = f"http://127.0.0.1:{self._store.server_port}"
        self._threads = [
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
            for server in (self._server, self._store)
        ]
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        for server, thread in zip((self._server, self._store), self._threads, strict=True):
            server.shutdown()
            server.server_close()
            thread.join()
        self.git.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def wait(self) -> None:
        """Wait until the hub is stopped."""
        # In short joins: a signal between Python's last check for signals and the system's wait does not end
        # that wait, so its handler might never run.
        while self._threads[0].is_alive():
            self._threads[0].join(WAKE)

    def environ(self, token: str | None = None) -> dict[str, str]:
        """Return the environment variables with which infx uses this hub."""
        token_variable = {} if token is None else {"GH_TOKEN": token}
        return {"GITHUB_API_URL": self.api, "GITHUB_REPOSITORY": self.repository, **token_variable}

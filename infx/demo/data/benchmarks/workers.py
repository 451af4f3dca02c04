"""The worker processes of the engine: they do nothing, but they must live and end with the server."""

from __future__ import annotations

import os
import signal
import sys

TITLE = "VLLM::Worker_TP"  # of a process, by which it is recognized


def start_workers(number: int, outlive: bool) -> list[int]:
    """Start worker processes and return their ids. outlive: they ignore SIGTERM and the end of the server."""
    if not number:
        return []
    reader, writer = os.pipe()
    workers = []
    for rank in range(number):
        worker = os.fork()
        if not worker:
            os.close(writer)
            _work(rank, reader, outlive)
        workers.append(worker)
    os.close(reader)
    os.set_inheritable(writer, False)  # stays open until the server ends, in whatever way
    return workers


def _work(rank: int, reader: int, outlive: bool) -> None:
    """Wait for the end of the server, which closes the pipe."""
    set_title(TITLE + str(rank))
    signal.signal(signal.SIGTERM, signal.SIG_IGN if outlive else signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.read(reader, 1)
    while outlive:
        signal.pause()
    os._exit(0)


def set_title(title: str) -> None:
    """Set the name that ps and top show, where the system can."""
    if sys.platform.startswith("linux"):
        with open("/proc/self/comm", "w") as file:
            file.write(title[:15])  # the kernel keeps no more


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

"""The exit codes and the time limits of supervised processes."""

from __future__ import annotations

DIED = 91
NOT_READY = 92
NO_PORTS = 93
GPU_MEMORY = 94
NO_PROGRESS = 95
TOO_LONG = 96
MACHINE = 97
NOT_STARTED = 127  # as of a shell
WRONG_SPEC = 2
# Other codes are the client's own, or 128 and the number of a signal.
CODES = {
    DIED: "a required process, or one of its workers, ended before the client",
    NOT_READY: "a process did not become ready: it ended first, could not be started, or took too long",
    NO_PORTS: "no ports are free, or a process found its ports taken each time",
    GPU_MEMORY: "the memory of the GPUs was not free before the start",
    NO_PROGRESS: "the client wrote nothing for `limits.progress` seconds",
    TOO_LONG: "the client ran longer than `limits.client` seconds",
    MACHINE: "the machine has no /proc, or the folder for logs cannot be written; or this program has a fault",
    NOT_STARTED: "the client could not be started",
    WRONG_SPEC: "the spec or the command line is wrong; nothing was started",
}

STARTS = 3  # of a process that finds its ports taken
CLIENT_GRACE = 10.0  # seconds between SIGTERM and SIGKILL for the client
KILLED = 20.0  # until the kernel has ended a process that got SIGKILL
# A launch kills this program 4 s after the first signal, and nothing else of a cancelled job lives longer than 10 s.
CANCEL_GRACE, CANCEL_KILLED = 2.0, 1.0
SETTLE = 0.5  # in which a process may end after a client that failed: then it is the cause
WORKER_PAUSE = 0.5  # between two looks at workers
PAUSES = (
    0.02,
    0.05,
    0.1,
    0.25,
    0.5,
)  # between two looks at a process that gets ready or ends; the last one repeats
GPU_PAUSES = (0.5, 1.0, 2.0, 5.0)
DRAIN = 10.0  # for output that the client has left in its pipe

"""The time limits of a launch, in seconds. Inner limits are shorter than outer ones."""

from __future__ import annotations

# A runner sends SIGINT to a job that is cancelled, SIGTERM 7.5 s later, and SIGKILL 2.5 s after that.
CANCEL_GRACE = 4.0  # between the first signal and SIGKILL for the step that runs
CANCEL_RELEASE = 3.0  # for everything that is released after it

GRACE = 60.0  # between SIGTERM and SIGKILL for a step that ran out of time
KILLED = 20.0  # until the kernel has ended a process that got SIGKILL

# Of a row's time, for steps that also run after a failure, such as bringing back results; at most this share of it.
AFTER, AFTER_SHARE = 600.0, 0.1

ASK = 30.0  # for a program that answers a question or releases something
TERM = 10.0  # between SIGTERM and SIGKILL for processes that an earlier launch left
SWEEP = 150.0  # for all that a launch left, of a kind
PAUSES = (0.1, 0.3, 1.0, 2.0)  # between two looks; the last one repeats

"""The row command as a process: a repository's own script, with the row in its environment."""

from __future__ import annotations

import os
import sys
import time

from .errors import RowError
from .runner import ROW_FILE, SUPERVISE, print_error, stop_commands

TYPE_CHECKING = False  # an import of `typing` would cost more than it saves
if TYPE_CHECKING:
    import signal
else:
    # `signal` only wraps this module in enumerations, whose imports would be a quarter of a row's start.
    import _signal as signal

GRACE = 60.0  # seconds between SIGTERM and SIGKILL for a command that ran out of time
TIMED_OUT = 124  # exit code, as of timeout(1)

# Tokens, and the files by which a step speaks to the runner, are not handed to measured code.
_WITHHELD = (
    "GITHUB_TOKEN", "GH_TOKEN", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
)  # fmt: skip


def run_command(
    command: list[str], folder: str, variables: dict[str, str], minutes: float
) -> tuple[int, float]:
    """Run a command to its end, in a process group of its own, with its output on this process's stdout.

    The runner sends a cancellation (SIGINT, and 7.5 seconds later SIGTERM) to the step's own process only. Both are
    passed on to the command and to all that it started, because it may have containers to remove. A command that runs
    longer than `minutes` gets SIGTERM, and SIGKILL after GRACE; the code is then TIMED_OUT. The variables ROW_FILE and
    SUPERVISE have the paths of this program and of its neighbor, which runs processes.

    Returns: the exit code, 128 and the signal's number if a signal ended the command; and when the command started, in
    seconds since 1970. Raises RowError (2) if the command cannot be started.
    """
    stop_commands()
    started_at = time.time()
    group = _Group()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(number, group.handle)
    try:
        leader = _start(command, folder, {**inherit_environment(), **variables, **_name_programs()})
    except OSError as error:
        message = "The row command " + command[0] + " cannot be started: " + str(error.strerror) + "."
        raise RowError(message + " The policy names it, under sweep.row-command.", 2) from None
    group.begin(leader, minutes * 60)
    _, status = os.waitpid(leader, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    if group.is_overdue:
        print_error("The row command ran longer than " + format(minutes, "g") + " minutes and was stopped.")
        return TIMED_OUT, started_at
    code = 128 + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return code, started_at


def _name_programs() -> dict[str, str]:
    """Return the variables with the paths of the programs in the plan folder."""
    program = os.path.abspath(sys.argv[0])
    return {ROW_FILE: program, SUPERVISE: os.path.join(os.path.dirname(program), "supervise.py")}


def _start(command: list[str], folder: str, environment: dict[str, str]) -> int:
    """Start a command in a folder and return its process id.

    Raises OSError. `subprocess` does the same, but its import would be a third of a row's start.
    """
    here = os.getcwd()
    os.chdir(folder)
    try:
        return os.posix_spawnp(
            command[0],
            command,
            environment,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, 1, 2),  # the runner reads two streams in an order of its own
            ],
            setpgroup=0,
            setsigdef=[signal.SIGPIPE],  # Python ignores it, and a program expects to end by it
        )
    finally:
        os.chdir(here)


def inherit_environment() -> dict[str, str]:
    """Return the variables of this process, without what measured code does not get."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _WITHHELD and not name.startswith("ACTIONS_")
    }


class _Group:
    """The process group of the row command, which gets the signals that arrive here.

    Attributes:
        is_overdue: whether the command's time ran out.
    """

    def __init__(self) -> None:
        self.is_overdue = False
        self._leader = 0
        self._early: list[int] = []  # signals from before the command was started

    def begin(self, leader: int, seconds: float) -> None:
        self._leader = leader
        signal.setitimer(signal.ITIMER_REAL, seconds)
        for number in self._early:
            self._send(number)

    def handle(self, number: int, _: object) -> None:
        if number == signal.SIGALRM:
            self._send(signal.SIGKILL if self.is_overdue else signal.SIGTERM)
            self.is_overdue = True
            signal.setitimer(signal.ITIMER_REAL, GRACE)
        elif self._leader:
            self._send(number)
        else:
            self._early.append(number)

    def _send(self, number: int) -> None:
        try:
            os.killpg(self._leader, number)
        except (ProcessLookupError, PermissionError):
            pass  # the command has ended

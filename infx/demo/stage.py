"""The stage: a hub, a clock that people would believe, clones to work in, and a record of everything that happens."""

from __future__ import annotations

import contextlib
import io
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock

from infx.bench.jobs import RowJob
from infx.cli.shell import STOPPED, run
from infx.errors import InfxError
from infx.git import Git
from infx.hub.hub import Hub
from infx.hub.state import Event
from infx.results.collect import CollectedPoint

APP = "bench-bot[bot]"
_OF_ACTIONS = ("GITHUB_", "GH_", "INFX_", "RUNNER_")
_START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
_LOOK, _HOUR = timedelta(seconds=7), timedelta(hours=1)


class Clock:
    """Every look at it is some seconds later than the one before, so that every run of the demo sees the same times."""

    def __init__(self) -> None:
        self._looks = 0
        self._lock = Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self._looks += 1
            return _START + self._looks * _LOOK

    def skip_to_next_hour(self) -> None:
        """However often it was looked at before: rows that run at once, or not at all, do so in no certain order."""
        with self._lock:
            hours = self._looks * _LOOK // _HOUR + 1
            self._looks = -(-hours * _HOUR // _LOOK)


class StoryError(InfxError):
    """A command did not end as the story has it: infx, or what it runs on, is not what the demo was written for."""

    exit_code = 4


@dataclass(frozen=True, kw_only=True)
class DemoStep:
    """One thing that happened. command: what was typed or run, if it was a command; seconds: of wall time.

    shown: lines of its output that a reader should see. pull: whose page it belongs to.
    """

    scene: str
    who: str
    words: str
    pull: int | None = None
    command: str | None = None
    code: int = 0
    seconds: float = 0.0
    reads: int = 0
    writes: int = 0
    shown: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RowOutcome:
    """conclusion: success, failure or cancelled. seconds: 0 if it never started."""

    job: RowJob
    conclusion: str
    runner: str = ""
    seconds: float = 0.0
    words: str = ""


@dataclass(frozen=True, kw_only=True)
class SweepRecord:
    """One sweep, for the pictures. points: what was published."""

    run: int
    pull: int
    rows: tuple[RowOutcome, ...]
    points: tuple[CollectedPoint, ...]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a command said."""

    code: int
    out: str
    err: str


@dataclass
class DemoStage:
    """folder: temporary. clock: the hub's. tell: called with every step as soon as it is over."""

    hub: Hub
    clock: Clock
    folder: Path
    tell: Callable[[DemoStep], None]
    scene: str = ""
    steps: list[DemoStep] = field(default_factory=list)
    sweeps: list[SweepRecord] = field(default_factory=list)

    def note(self, who: str, words: str, *, pull: int | None = None, shown: Sequence[str] = ()) -> None:
        self._add(DemoStep(scene=self.scene, who=who, words=words, pull=pull, shown=tuple(shown)))

    def command(
        self,
        who: str,
        words: str,
        *arguments: str,
        at: Path,
        token: str | None = None,
        pull: int | None = None,
        environ: Mapping[str, str] | None = None,
        show: Callable[[Answer], Sequence[str]] = lambda _: (),
        expect: int = 0,
    ) -> Answer:
        """Run one command of infx in a folder, as a step of a workflow or a person at a terminal would."""
        before = (self.hub.reads, self.hub.writes)
        started = time.perf_counter()
        variables = {**self.hub.environ(token), **(environ or {})}
        answer = call(arguments, at, variables)
        if answer.code == STOPPED:
            raise KeyboardInterrupt  # it was meant for the demo
        step = DemoStep(
            scene=self.scene,
            who=who,
            words=words,
            pull=pull,
            command="infx " + " ".join(_shown(argument, self.folder) for argument in arguments),
            code=answer.code,
            seconds=time.perf_counter() - started,
            reads=self.hub.reads - before[0],
            writes=self.hub.writes - before[1],
            shown=tuple(show(answer) if answer.code == expect else (answer.err + answer.out).splitlines()),
        )
        self._add(step)
        if answer.code != expect:
            raise StoryError(
                f"The demo stops here: `{step.command}` ended with {answer.code} instead of {expect}.",
                hint="What it said stands above.",
            )
        return answer

    def last_event(self, name: str, action: str | None) -> Event:
        return next(e for e in reversed(self.hub.state.events) if (e.name, e.action) == (name, action))

    def clone(self, name: str, branch: str = "main", repository: str | None = None) -> Path:
        """A fresh clone, as somebody's working copy or a job's checkout."""
        path = self.folder / "clones" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            Git(self.folder).run("clone", "--quiet", str(self.hub.git.path), str(path))
        git = Git(path)
        ref = self.hub.branch_ref(branch, repository)
        git.run("fetch", "--quiet", "origin", f"+{ref}:refs/demo/head", "+refs/heads/*:refs/remotes/origin/*")
        git.run("checkout", "--quiet", "--force", "-B", branch, "refs/demo/head")
        return path

    def _add(self, step: DemoStep) -> None:
        self.steps.append(step)
        self.tell(step)


def hub_dates(stage: DemoStage) -> dict[str, str]:
    """So that commits, too, are made at the hub's time."""
    return {f"GIT_{role}_DATE": stage.hub.now() for role in ("AUTHOR", "COMMITTER")}


def call(arguments: Sequence[str], at: Path, variables: Mapping[str, str]) -> Answer:
    """A command in this process, with the folder, environment and streams of one of its own."""
    from infx.cli import infx

    out, err = io.StringIO(), io.StringIO()
    with (
        _environment(variables, without=_OF_ACTIONS),
        contextlib.chdir(at),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        code = run(infx, list(arguments), os.environ)
    return Answer(code=code, out=out.getvalue(), err=err.getvalue())


def plain_git() -> contextlib.AbstractContextManager[None]:
    """Neither a repository that we are called from, as in a hook, nor how somebody likes to sign commits plays a part."""
    plain = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    return _environment(plain, without=("GIT_",))


@contextlib.contextmanager
def _environment(variables: Mapping[str, str], *, without: tuple[str, ...]) -> Iterator[None]:
    """without: how the names begin of variables that happen to be around us and are not seen."""
    before = dict(os.environ)
    for name in before:
        if name.startswith(without):
            del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _shown(argument: str, folder: Path) -> str:
    """Without the temporary folder, commits shortened, quoted as one would type it."""
    text = re.sub(r"[0-9a-f]{40}", lambda sha: sha[0][:12], argument.replace(f"{folder}/", ""))
    return f"'{text}'" if " " in text else text

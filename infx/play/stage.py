"""Hold what a play needs: a hub, clones to work in, and a display of every step."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infx.errors import InfxError
from infx.git import Git
from infx.play.hub import Numbered, PlayHub
from infx.play.steps import PlayStep
from infx.records import record


@record
class Answer:
    """A command's exit code and output."""

    code: int
    out: str
    err: str


Call = Callable[[Sequence[str], Path, Mapping[str, str]], Answer]  # arguments, folder, variables


@dataclass(kw_only=True)
class PlayStage:
    """The place where machines act.

    Attributes:
        folder: temporary.
        call: runs an infx command in a folder, with variables.
        tell: called with every step, a PlayStep.
        branch: the base branch.
    """

    hub: PlayHub
    folder: Path
    call: Call
    tell: Callable[[Any], None]
    branch: str = "main"
    _clones: dict[str, tuple[str, str | None, bytes]] = field(default_factory=dict)

    def note(self, who: str, words: str, *, pull: int | None = None, shown: Sequence[str] = ()) -> None:
        """Record a step without a command."""
        self.add(PlayStep(who=who, words=words, pull=pull, shown=tuple(shown)))

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
        """Run an infx command in a folder, as a workflow's step or a person at a terminal does."""
        before = (self.hub.reads, self.hub.writes)
        started = time.perf_counter()
        answer = self.call(arguments, at, {**self.hub.environ(token), **(environ or {})})
        step = PlayStep(
            who=who,
            words=words,
            pull=pull,
            command="infx " + " ".join(_shorten(argument, self.folder) for argument in arguments),
            code=answer.code,
            seconds=time.perf_counter() - started,
            reads=self.hub.reads - before[0],
            writes=self.hub.writes - before[1],
            shown=tuple(show(answer) if answer.code == expect else (answer.err + answer.out).splitlines()),
        )
        self.add(step)
        if answer.code != expect:
            self.refuse(step, expect)
        return answer

    def add(self, step: PlayStep) -> None:
        """Record and show a step."""
        self.tell(step)

    def refuse(self, step: PlayStep, expect: int) -> None:
        """Act on a command that did not end as expected; here the step has already shown it."""

    @contextlib.contextmanager
    def cancelling(self, run: Numbered) -> Iterator[None]:
        """Cancel a run if an error or an interruption ends the block, so that the run does not look as if it went on."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(InfxError):
                self.hub.finish_run(run.id, "cancelled")
            raise

    def dates(self) -> dict[str, str]:
        """Return the variables that make git date commits by the hub's clock."""
        return {}

    def clone(self, name: str, branch: str | None = None, repository: str | None = None) -> Path:
        """Return a clone at a branch's newest commit, used as a person's working copy or a job's checkout."""
        branch = branch or self.branch
        path = self.folder / "clones" / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            Git(self.folder).run("clone", "--quiet", str(self.hub.git_path), str(path))
        refs = Git(self.hub.git_path).run("for-each-ref")
        state = (branch, repository, refs)
        if self._clones.get(name) != state:  # whoever changes a clone also pushes, so the refs change, too
            self._clones[name] = state
            git = Git(path)
            ref = self.hub.branch_ref(branch, repository)
            git.run(
                "fetch", "--quiet", "origin", f"+{ref}:refs/play/head", "+refs/heads/*:refs/remotes/origin/*"
            )
            git.run("checkout", "--quiet", "--force", "-B", branch, "refs/play/head")
        return path


def _shorten(argument: str, folder: Path) -> str:
    """Return an argument as a person would type it: without the temporary folder, with short SHAs, quoted."""
    text = re.sub(r"\b[0-9a-f]{40,64}\b", lambda sha: sha[0][:12], argument.replace(f"{folder}/", ""))
    return f"'{text}'" if " " in text else text

"""Act as people do in the demo: push, open, label, comment, merge. Methods return the event that GitHub would send."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infx.demo.repository import CHANGELOG
from infx.demo.stage import DemoStage
from infx.git import Git
from infx.hub.state import Event
from infx.play.stage import Answer


@dataclass
class Person:
    """An account that acts on the stage."""

    stage: DemoStage
    login: str

    def push(
        self,
        branch: str,
        files: Mapping[str, str],
        words: str,
        *,
        pull: int | None = None,
        repository: str | None = None,
    ) -> Event:
        self.stage.hub.push(branch, dict(files), words, by=self.login, repository=repository)
        self.stage.note(self.login, f"pushes to {branch}: {words}", pull=pull)
        return (
            self.stage.last_event("pull_request", "synchronize")
            if pull
            else self.stage.last_event("push", None)
        )

    def open(self, branch: str, number: int, title: str, *, repository: str | None = None) -> Event:
        self.stage.hub.open_pull(branch, title=title, by=self.login, number=number, repository=repository)
        self.stage.note(self.login, f"opens #{number}, {title}", pull=number)
        return self.stage.last_event("pull_request", "opened")

    def label(self, number: int, name: str) -> Event:
        self.stage.hub.label(number, name, by=self.login)
        self.stage.note(self.login, f"adds the label {name}", pull=number)
        return self.stage.last_event("pull_request", "labeled")

    def unlabel(self, number: int, name: str) -> Event:
        self.stage.hub.unlabel(number, name, by=self.login)
        self.stage.note(self.login, f"removes the label {name}", pull=number)
        return self.stage.last_event("pull_request", "unlabeled")

    def comment(self, number: int, body: str, *, words: str | None = None) -> Event:
        """Post a comment; `words` replaces its text in the timeline."""
        self.stage.hub.comment(number, body, by=self.login)
        first, *more = body.splitlines()
        self.stage.note(
            self.login, words or f"writes: {first}", pull=number, shown=() if words else tuple(more)
        )
        return self.stage.last_event("issue_comment", "created")

    def edit(self, number: int, comment: int, body: str, words: str) -> Event:
        self.stage.hub.edit_comment(comment, body, by=self.login)
        self.stage.note(self.login, words, pull=number)
        return self.stage.last_event("issue_comment", "edited")

    def print_checklist(self, number: int) -> str:
        """Return the current checklist as a template for a sign-off."""
        return self.stage.command(
            self.login,
            "prints the current checklist",
            *("signoff", "template", "--signed", self.login),
            at=self.stage.clone(f"{self.login}-laptop"),
            pull=number,
        ).out

    def merge(self, number: int) -> None:
        """Merge the pull request by squashing its commits."""
        pull = self.stage.hub.state.pulls[number]
        self.stage.hub.merge_pull(number, by=self.login, sha=pull.head_sha, title=f"{pull.title} (#{number})")
        self.stage.note(self.login, f"merges #{number}", pull=number)

    def repair_changelog(self, branch: str, number: int, *, repository: str | None = None) -> Event:
        """Run `infx changelog validate --fix` in a clone, and push the result."""
        at = self.stage.clone(f"{self.login}-{branch}", branch, repository)
        self._run_infx(
            "lets infx fix the entry",
            *("changelog", "validate", "--fix", "--base-ref", "origin/main", "--pr", str(number)),
            at=at,
            pull=number,
        )
        return self._push_changelog(at, branch, number, "Repair the changelog entry", repository)

    def resolve_changelog(self, branch: str, number: int) -> Event:
        """Follow the notice about the conflict: merge main, and let infx order the entries of both sides."""
        at = self._start_merge(branch)
        self._run_infx(
            "merges main; infx orders the changelog entries of both sides",
            *("changelog", "resolve", "--pr", str(number)),
            at=at,
            pull=number,
        )
        return self._end_merge(at, branch)

    def merge_main(self, branch: str, number: int, resolved: Mapping[str, str], *, repository: str) -> Event:
        """Merge main by hand, because more than the changelog conflicts."""
        at = self._start_merge(branch, repository)
        for path, text in resolved.items():
            (at / path).write_text(text, encoding="utf-8")
            Git(at).run("add", path)
        self.stage.note(
            self.login, f"merges main into {branch} and resolves {', '.join(resolved)}", pull=number
        )
        return self._end_merge(at, branch, repository)

    def _start_merge(self, branch: str, repository: str | None = None) -> Path:
        at = self.stage.clone(f"{self.login}-{branch}", branch, repository)
        Git(at).call("merge", "--quiet", "--no-edit", "origin/main", env=self._git_identity)
        return at

    def _end_merge(self, at: Path, branch: str, repository: str | None = None) -> Event:
        message = f"Merge main into {branch} [skip-sweep]"
        Git(at).run("commit", "--quiet", "--message", message, env=self._git_identity)
        Git(at).run("push", "--quiet", "origin", f"HEAD:{self.stage.hub.branch_ref(branch, repository)}")
        self.stage.hub.sync()
        return self.stage.last_event("pull_request", "synchronize")

    @property
    def _git_identity(self) -> dict[str, str]:
        """Return the variables that make git commit under this login at the hub's time."""
        roles, parts = ("AUTHOR", "COMMITTER"), ("NAME", "EMAIL")
        names = {f"GIT_{role}_{part}": self.login for role in roles for part in parts}
        return {**names, **self.stage.dates()}

    def explain(self, number: int) -> None:
        """Ask on a laptop why no sweep runs."""
        token = self.stage.hub.user_token(self.login)
        self.stage.command(
            self.login,
            "asks why no sweep runs",
            *("explain", "--pr", str(number), "--format", "table"),
            at=self.stage.clone(f"{self.login}-laptop"),
            token=token,
            pull=number,
            show=lambda answer: answer.out.splitlines()[:1],
        )

    def preview(self, branch: str, number: int) -> None:
        """Look at the plan before any GPU is used."""
        self.stage.command(
            self.login,
            "looks at the plan before any GPU is used",
            *("plan", "--base-ref", "origin/main", "--head-ref", "HEAD", "--format", "table"),
            at=self.stage.clone(f"{self.login}-{branch}", branch),
            pull=number,
            show=lambda answer: answer.out.rstrip().splitlines(),
        )

    def _run_infx(self, words: str, *arguments: str, at: Path, pull: int) -> Answer:
        return self.stage.command(
            self.login,
            words,
            *arguments,
            at=at,
            pull=pull,
            show=lambda answer: answer.err.splitlines(),
        )

    def _push_changelog(
        self, at: Path, branch: str, number: int, words: str, repository: str | None
    ) -> Event:
        text = (at / CHANGELOG).read_text(encoding="utf-8")
        return self.push(branch, {CHANGELOG: text}, words, pull=number, repository=repository)

    def read_file(self, path: str, *, branch: str = "main") -> str:
        """Return the text of a file on a branch of the repository."""
        ref = self.stage.hub.branch_ref(branch, None)
        return (Git(self.stage.hub.git.path).read(ref, path) or b"").decode()

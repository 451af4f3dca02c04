"""Create a repository with hostile pull requests, and call the commands that the workflows run on them."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from infx.git import Git
from infx.hub import Hub
from infx.hub.state import Pull
from tests.calling import call
from tests.made_results import COMMAND
from tests.security.hostile import CommandOutput, make_single_lines, make_texts

CHANGELOG = """\
- config-keys:
    - plain
  description:
    - "the first"
  pr-link: https://github.com/acme/bench/pull/1
"""
PLAIN_ENTRY = CHANGELOG.replace("the first", "again").replace("https://github.com/acme/bench/pull/1", "XXX")
POLICY: dict[str, Any] = {
    "repository": "acme/bench",
    "sweep": {"row-command": COMMAND},
}


@dataclass
class World:
    """A hub with hostile pull requests, and a clone of its repository."""

    hub: Hub
    folder: Path
    canary: Path  # a file that hostile texts try to create
    good: Pull = field(init=False)  # hostile texts that break no rule
    bad: Pull = field(init=False)  # hostile texts that break rules
    fork: Pull = field(init=False)  # as good, from a fork
    clash: Pull = field(init=False)  # a conflict in files with hostile names
    command_outputs: list[CommandOutput] = field(default_factory=list)

    def __post_init__(self) -> None:
        for login, role in {"cody": "write", "mia": "admin", "eve": "read"}.items():
            self.hub.account(login, role=role)
        self.hub.is_limited = False
        self.hub.state.workflows.append("run-sweep.yml")
        self.hub.push("main", _base_files())
        self.good = self._open(self._good_files())
        self.bad = self._open(self._bad_files())
        self.fork = self._open(self._good_files(), repository="eve/bench", by="eve")
        notes = {f"notes/{name}": "ours" for name in self.make_file_names()}
        self.clash = self._open({"perf-changelog.yaml": CHANGELOG + "\n" + PLAIN_ENTRY, **notes})
        self.hub.push("main", dict.fromkeys(notes, "theirs"))
        Git(self.folder).run("clone", "--quiet", str(self.hub.git.path), str(self.clone))

    @property
    def clone(self) -> Path:
        return self.folder / "clone"

    @property
    def branch(self) -> str:
        """Return a branch name with every hostile character that git allows."""
        return f"x$(touch${{IFS}}{self.canary})`touch${{IFS}}{self.canary}`;'\"&|<img>@mia"

    def _open(self, files: Mapping[str, str], *, repository: str | None = None, by: str = "cody") -> Pull:
        all_texts = "\n".join(make_texts(self.canary))
        branch = f"{len(self.hub.state.pulls)}/{self.branch}"
        message = f"::error::subject @mia\n\n{all_texts}".replace("\0", "")  # git only refuses NUL
        self.hub.push(branch, files, message, repository=repository, by=by, start="main")
        pull = self.hub.open_pull(
            branch, by=by, repository=repository, title=f"::error::{all_texts}"[:256], body=all_texts
        )
        self.hub.label(
            pull.number,
            "full-sweep-fail-fast",
            *(text[:50] for text in make_single_lines(self.canary)),
            by="mia",
        )
        self.hub.comment(pull.number, all_texts, by="eve")
        return pull

    def make_file_names(self) -> list[str]:
        """Return hostile names of files, without the characters that git refuses."""
        return [text.replace("/", "_").replace("\0", "")[:120] for text in make_texts(self.canary)]

    def _good_files(self) -> dict[str, str]:
        lines = make_single_lines(self.canary)
        # In a key of an entry, a star is a wildcard.
        configs = {
            text.replace("*", ""): make_config(text, lines[index - 1][:40])
            for index, text in enumerate(lines)
        }
        entry = {"config-keys": list(configs), "description": list(make_texts(self.canary)), "pr-link": "XXX"}
        labels = {"h100": ["h100-01"], **{text[:40]: [f"{text} 1"] for text in lines}}
        return {
            "perf-changelog.yaml": CHANGELOG + "\n" + render_entry(entry),
            "configs/nvidia-master.yaml": render_masters({**_plain(), **configs}),
            "configs/runners.yaml": json.dumps({"labels": labels}),
            **{f"docs/{name}": "x" for name in self.make_file_names()},
        }

    def _bad_files(self) -> dict[str, str]:
        """Return files with unknown keys, wrong values and unknown names, all of which appear in messages."""
        all_texts = make_texts(self.canary)
        entries = [
            {
                "config-keys": [text],
                "description": [text],
                "pr-link": text,
                text: text,
                "scenario-type": [text],
            }
            for text in all_texts
        ]
        configs: dict[str, Any] = {
            text: {
                **make_config(text),
                "runner": text,
                "precision": text,
                text: text,
                "scenarios": {text: []},
            }
            for text in make_single_lines(self.canary)
        }
        images = {
            f"image-{index}": {**make_config("plain"), "image": text}
            for index, text in enumerate(make_single_lines(self.canary))
        }
        return {
            "perf-changelog.yaml": CHANGELOG + "\n" + "\n".join(map(render_entry, entries)),
            "configs/nvidia-master.yaml": render_masters({**_plain(), **configs, **images}),
        }

    # Commands

    def event(self, name: str, pull: Pull, **fields: Any) -> dict[str, str]:
        """Return the variables of a run that an event has started."""
        payload = {
            "number": pull.number,
            "pull_request": {"number": pull.number, "title": pull.title, "head": {"sha": pull.head_sha}},
            "sender": {"login": "cody"},
            **fields,
        }
        path = self.folder / "event.json"
        path.write_text(json.dumps(payload))
        return {"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), "GITHUB_RUN_ID": "501"}

    def call(
        self,
        *arguments: str,
        code: int | None = 0,
        at: Path | None = None,
        environ: Mapping[str, str] = MappingProxyType({}),
    ) -> CommandOutput:
        """Run a command as a step on GitHub Actions does, with a token that has all permissions."""
        files = {name: self.folder / name.lower() for name in ("GITHUB_ENV", "GITHUB_PATH")}
        for path in files.values():
            path.write_text("")
        token = self.hub.workflow_token(
            contents="read", pull_requests="write", statuses="write", actions="write"
        )
        variables = {
            **self.hub.environ(token),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "GITHUB_ACTIONS": "true",
            "INFX_POLICY": "origin/main:configs/policy.yaml",
            **{name: str(path) for name, path in files.items()},
            **environ,
        }
        with _surroundings(variables, at or self.clone):
            called = call(*arguments)
        output = CommandOutput(
            name=" ".join(arguments[:2]),
            code=called.code,
            out=called.out,
            err=called.err,
            outputs=called.written,
            summary=called.summary,
        )
        assert files["GITHUB_ENV"].read_text() == files["GITHUB_PATH"].read_text() == ""
        assert code is None or output.code == code, f"{arguments}\n{output.out}\n{output.err}"
        self.command_outputs.append(output)
        return output

    def run_row(self, plan: Path, row_id: str, measured: Path, out: Path) -> CommandOutput:
        """Run a row by the row file, as a step of its job does."""
        outputs = self.folder / "row-outputs"
        outputs.write_text("")
        program = [
            sys.executable,
            "-I",
            "-S",
            str(plan / "row.py"),
            "run",
            "--plan",
            str(plan),
            "--id",
            row_id,
        ]
        done = subprocess.run(
            [*program, "--directory", str(measured), "--out", str(out)],
            env={
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "GITHUB_ACTIONS": "true",
                "GITHUB_OUTPUT": str(outputs),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        output = CommandOutput(
            name="row run",
            code=done.returncode,
            out=done.stdout,
            err=done.stderr,
            outputs=outputs.read_text(),
        )
        self.command_outputs.append(output)
        return output

    def shell(self, script: str, **environ: str) -> str:
        """Run a script in bash and return its output."""
        variables = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **environ}
        done = subprocess.run(
            ["bash", "-ec", script], env=variables, capture_output=True, check=True, cwd=self.folder
        )
        return done.stdout.decode()


@contextlib.contextmanager
def _surroundings(environ: Mapping[str, str], folder: Path) -> Any:
    before, here = dict(os.environ), Path.cwd()
    os.environ.update(environ)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


def _base_files() -> dict[str, str]:
    return {
        "perf-changelog.yaml": CHANGELOG,
        "configs/nvidia-master.yaml": render_masters(_plain()),
        "configs/amd-master.yaml": "{}\n",
        "configs/runners.yaml": json.dumps({"labels": {"h100": ["h100-01"]}}),
        "configs/policy.yaml": json.dumps(POLICY),
        ".github/CODEOWNERS": "* @acme/core\n",
        "docs/PR_REVIEW_CHECKLIST.md": "- [ ] looked\n",
    }


def _plain() -> dict[str, Any]:
    return {"plain": make_config("plain")}


def make_config(text: str, runner: str = "h100") -> dict[str, Any]:
    """Return a configuration with this text in every free field; `runner` is its runner label."""
    return {
        "image": "acme/vllm:v1",
        "model": text,
        "model-prefix": text[:200],  # what a result may hold
        "runner": runner,
        "precision": "fp8",
        "framework": "vllm",
        "multinode": False,
        "scenarios": {
            "fixed-seq-len": [{"isl": 8192, "osl": 1024, "search-space": [{"tp": 8, "conc-list": [16]}]}]
        },
    }


def render_masters(configs: Mapping[str, Any]) -> str:
    return "".join(f"{json.dumps(key)}: {json.dumps(value)}\n" for key, value in configs.items())


def render_entry(values: Mapping[str, Any]) -> str:
    """Return an entry in block style, with texts as JSON strings, which are also YAML."""
    lines = []
    for key, value in values.items():
        name = key if key.replace("-", "").isalpha() else json.dumps(key)
        if isinstance(value, list):
            lines += [f"  {name}:", *(f"    - {json.dumps(item)}" for item in value)]
        else:
            lines.append(f"  {name}: {json.dumps(value) if value != 'XXX' else value}")
    return "\n".join(lines).replace("  ", "- ", 1) + "\n"

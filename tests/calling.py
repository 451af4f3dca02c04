"""The command line, called in this process as the console script calls it, and all that a call leaves behind."""

from __future__ import annotations

import contextlib
import io
import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any
from unittest import mock

import click

from infx.cli import infx
from infx.cli.shell import run


@dataclass(frozen=True, kw_only=True)
class Called:
    """written, summary: the step's files of outputs and of its summary, as the command left them."""

    code: int
    out: str
    err: str
    written: str
    summary: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def outputs(self) -> dict[str, str]:
        return read_outputs(self.written)


def call(
    *arguments: str, environ: Mapping[str, str] = MappingProxyType({}), command: click.Command = infx
) -> Called:
    """Call a command as a step of a job; environ: variables beside those of this process."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        given = {**os.environ, **{name: str(path) for name, path in files.items()}, **environ}
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        with (
            mock.patch.dict(os.environ, given),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(command, arguments, given)
        texts = [_read(stream) for stream in (out, err)]
        written, summary = (path.read_text("utf-8") if path.exists() else "" for path in files.values())
    return Called(code=code, out=texts[0], err=texts[1], written=written, summary=summary)


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def read_outputs(text: str) -> dict[str, str]:
    """`GITHUB_OUTPUT` as the runner reads it: `name=value`, or `name<<delimiter` up to that line."""
    found: dict[str, str] = {}
    lines = text.split("\n")
    assert lines.pop() == ""
    while lines:
        head = lines.pop(0)
        equals, heredoc = head.find("="), head.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[head[:equals]] = head[equals + 1 :]
            continue
        name, delimiter = head.split("<<", 1)
        end = lines.index(delimiter)
        assert name not in found, f"{name} is set twice"
        found[name] = "\n".join(lines[:end])
        del lines[: end + 1]
    return found

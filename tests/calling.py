"""Call the command line in this process, as the console script does, and return everything that it wrote."""

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
    """The end of a call."""

    code: int
    out: str
    err: str
    written: str  # the step's file of outputs
    summary: str  # the step's summary

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def outputs(self) -> dict[str, str]:
        return read_outputs(self.written)


def call(
    *arguments: str, environ: Mapping[str, str] = MappingProxyType({}), command: click.Command = infx
) -> Called:
    """Call a command like a step of a job. environ: variables in addition to those of this process."""
    with tempfile.TemporaryDirectory() as folder:
        files = {name: Path(folder, name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        variables = {**os.environ, **{name: str(path) for name, path in files.items()}, **environ}
        out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="") for _ in range(2))
        with (
            mock.patch.dict(os.environ, variables),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = run(command, arguments, variables)
        texts = [_read(stream) for stream in (out, err)]
        written, summary = (path.read_text("utf-8") if path.exists() else "" for path in files.values())
    return Called(code=code, out=texts[0], err=texts[1], written=written, summary=summary)


def _read(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()


def read_outputs(text: str) -> dict[str, str]:
    """Read a `GITHUB_OUTPUT` file like the runner: `name=value`, or `name<<delimiter` and lines up to the delimiter."""
    outputs: dict[str, str] = {}
    lines = text.split("\n")
    assert lines.pop() == ""
    while lines:
        head = lines.pop(0)
        equals, heredoc = head.find("="), head.find("<<")
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            outputs[head[:equals]] = head[equals + 1 :]
            continue
        name, delimiter = head.split("<<", 1)
        end = lines.index(delimiter)
        assert name not in outputs, f"{name} is set twice"
        outputs[name] = "\n".join(lines[:end])
        del lines[: end + 1]
    return outputs

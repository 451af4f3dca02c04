"""The programs that travel with a plan, each with modules of `infx.rowfile`, and what the row file reads."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from infx.bench.jobs import RowJob
from infx.bench.uploads import artifact_name, list_required, list_uploaded
from infx.errors import InfxError, visible
from infx.matrix.environment import project_job
from infx.policy.model import Policy

ROW_FILE, SUPERVISE, ROWS = "row.py", "supervise.py", "rows.env"
_PACKAGE = "rowfile"
_QUOTES = "'" * 3
# Modules that a row's start imports. The others are packed into the file's last line, a comment, which Python skips
# several times faster than it reads a literal.
_STARTING = ("__init__", "again", "command", "errors", "main", "plan", "record", "results", "runner")
_SUPERVISING = (
    "__init__",
    "failure",
    "launch_limits",
    "launch_process",
    "launch_text",
    "record",
    "runner",
)  # and its own modules
# An archive or a folder would start more slowly: Python imports `runpy` and `zipimport` for them.
_LOADER = """\
# Run one row of a plan: python3 -I -S row.py --help
import sys

if sys.version_info < (3, 8):
    sys.stderr.write("error: the row file needs Python 3.8 or newer on this machine; set INFX_PYTHON to one.\\n")
    sys.exit(2)

MODULES = {modules}


def unpack():
    import binascii, json, zlib

    with open(__file__, "rb") as file:
        packed = file.read().rpartition(b"#")[2]
    MODULES.update(json.loads(zlib.decompress(binascii.a2b_base64(packed))))


class Loader:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "rowfile":
            return type(sys.__spec__)(name, self, is_package="." not in name)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        if module.__name__ not in MODULES:
            unpack()
        exec(compile(MODULES[module.__name__], module.__name__, "exec"), module.__dict__)


sys.meta_path.insert(0, Loader())
from rowfile.main import main

sys.exit(main())
#{packed}
"""


_SUPERVISE_LOADER = '''\
#!/usr/bin/env python3
"""Run a client against servers that are started, watched and stopped: python3 supervise.py --help

This file needs Python 3.8 or newer and nothing else. It is made of the modules in MODULES.
"""
import sys

if sys.version_info < (3, 8):
    sys.stderr.write("error: supervise.py needs Python 3.8 or newer.\\n")
    sys.exit(2)

MODULES = {}
{modules}


class Loader:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            return type(sys.__spec__)(name, self, is_package="." not in name)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        exec(compile(MODULES[module.__name__], module.__name__, "exec"), module.__dict__)


if __name__ == "__main__":
    sys.meta_path.insert(0, Loader())
    from rowfile.supervise import main

    sys.exit(main())
'''


def pack_row_file() -> str:
    """Return the program; equal texts for equal sources."""
    import zlib
    from base64 import b64encode

    sources = {name: source for name, source in _read_sources().items() if not _is_supervising(name)}
    modules = {_name_module(name): source for name, source in sources.items() if name in _STARTING}
    others = {_name_module(name): source for name, source in sources.items() if name not in _STARTING}
    packed = b64encode(zlib.compress(json.dumps(others).encode(), 9)).decode()
    return _LOADER.replace("{modules}", ascii(modules)).replace("{packed}", packed)


def pack_supervise() -> str:
    """Return the program that supervises processes, which people read in images; equal texts for equal sources."""
    sources = _read_sources()
    modules = [name for name in sources if name in _SUPERVISING or _is_supervising(name)]
    parts = [_render_module(name, sources[name]) for name in modules]
    return _SUPERVISE_LOADER.replace("{modules}", "\n".join(parts))


def _render_module(name: str, source: str) -> str:
    if _QUOTES in source:
        raise ValueError(f"infx/rowfile/{name}.py has three single quotes, which would end its text.")
    return f'MODULES["{_name_module(name)}"] = r{_QUOTES}{source}{_QUOTES}\n'


def _read_sources() -> dict[str, str]:
    folder = files("infx").joinpath(_PACKAGE)
    paths = sorted(folder.iterdir(), key=lambda path: path.name)
    return {
        path.name.removesuffix(".py"): path.read_text("utf-8") for path in paths if path.name.endswith(".py")
    }


def _is_supervising(name: str) -> bool:
    """Return whether a module belongs to supervise.py alone."""
    return name == "supervise" or name.startswith("supervise_")


def pack_programs() -> dict[str, str]:
    """Return all programs by the names of their files."""
    return {ROW_FILE: pack_row_file(), SUPERVISE: pack_supervise()}


def _name_module(name: str) -> str:
    return _PACKAGE if name == "__init__" else f"{_PACKAGE}.{name}"


def render_rows(jobs: Iterable[RowJob], policy: Policy, rules: Mapping[str, Any] | None) -> Iterator[str]:
    """Yield what the program reads, in the form of `infx.rowfile.plan`.

    rules: what a row of a later attempt asks GitHub (`infx.gate.again`). Raises InfxError for a row whose environment
    no process can hold.
    """
    shared = [
        *(("argument", part) for part in policy.sweep.row_command),
        ("minutes", str(policy.sweep.row_minutes)),
        ("rules", json.dumps(rules) if rules is not None else ""),
    ]
    max_bytes = policy.limits.environment_bytes
    yield _render_group(shared)
    for job in jobs:
        yield _render_group(list(_list_items(job, max_bytes)))


def _list_items(job: RowJob, max_bytes: int) -> Iterator[tuple[str, str]]:
    yield "id", job.id
    yield "artifact", artifact_name(job)
    for pattern in list_uploaded(job):
        yield "gather", pattern
    for pattern in list_required(job):
        yield "require", pattern
    if job.row.eval_only:
        yield "scores", " ".join(map(str, job.row.required_concs))
    for name, value in project_job(job, max_bytes=max_bytes).items():
        yield "set", f"{name}={value}"


def _render_group(items: Sequence[tuple[str, str]]) -> str:
    for kind, value in items:
        if "\0" in value:  # it would end the item, and what follows would be an item of its own
            raise InfxError(f"A NUL cannot be in an environment or an argument: {kind}={visible(value)}.")
    return "".join(f"{kind}={value}\0" for kind, value in items) + "\0"

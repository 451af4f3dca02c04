"""Build a release into `dist/` and check it in a clean environment: `make release`. The tag of HEAD names its version.

The files come from the commit of the tag, not from the working tree. `dist/` is only written if every check passed.
"""

from __future__ import annotations

import ast
import hashlib
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Callable, Mapping
from pathlib import Path

from infx.errors import InfxError
from infx.git import Git

ROOT = Path(__file__).parents[1]
CHANGELOG, SUMS, NOTES = "CHANGELOG.md", "SHA256SUMS", "notes.md"
_TAG = re.compile(r"v([0-9]+\.[0-9]+\.[0-9]+(?:(?:a|b|rc)[0-9]+)?)")
# program in one file → the function of the installed wheel that returns its text
PROGRAMS: Mapping[str, str] = {"row.py": "pack_row_file", "supervise.py": "pack_supervise"}
Prepare = Callable[[Path], None]


def main() -> int:
    try:
        release(ROOT, ROOT / "dist", install_locked)
    except InfxError as error:
        for problem in error.problems:
            print(problem, file=sys.stderr)
        return error.exit_code
    return 0


def release(root: Path, dist: Path, prepare: Prepare) -> None:
    """Build and check the release of HEAD's tag, then write it to dist.

    prepare: makes an environment with infx's dependencies in a folder.
    """
    version = find_version(root)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source, built = folder / "source", folder / "dist"
        source.mkdir()
        built.mkdir()
        export(root, source)
        notes = check_source(source, version)
        # The archives' files get the time of the commit, so that a second build has the same bytes.
        build(source, built, folder, time=Git(root).run("log", "-1", "--format=%ct").decode().strip())
        prepare(folder / "clean")
        check(built, source, folder / "clean/bin", version)
        (built / NOTES).write_text(notes, encoding="utf-8")
        shutil.rmtree(dist, ignore_errors=True)
        shutil.copytree(built, dist)
    print(f"infx {version} is in {dist}:", *sorted(path.name for path in dist.iterdir()), sep="\n  ")


def find_version(root: Path) -> str:
    """Return the version that HEAD's tag names."""
    tags = Git(root).run("tag", "--points-at", "HEAD").decode().split()
    versions = [match[1] for tag in tags if (match := _TAG.fullmatch(tag))]
    if len(versions) != 1:
        names = ", ".join(tags) or "none"
        raise InfxError(
            f"HEAD must have exactly one tag such as v1.2.3; its tags: {names}.",
            hint="Tag the commit of the release: git tag -a v1.2.3 -m 'infx 1.2.3'.",
        )
    return versions[0]


def export(root: Path, folder: Path) -> None:
    """Write the files of HEAD into a folder."""
    with tarfile.open(fileobj=io.BytesIO(Git(root).run("archive", "HEAD"))) as archive:
        archive.extractall(folder, filter="data")


def check_source(source: Path, version: str) -> str:
    """Check that the package and the changelog name the version, and return the release's notes."""
    declared = read_declared(source)
    if declared != version:
        raise InfxError(
            f"infx/__init__.py says {declared}, but the tag says {version}.",
            hint=f"Set __version__ to {version}, commit, and tag that commit.",
        )
    notes = find_notes((source / CHANGELOG).read_text(encoding="utf-8"), version)
    if notes is None:
        raise InfxError(
            f"{CHANGELOG} does not begin with the changes of {version}.",
            hint=f"Give its first section after Unreleased the heading ## [{version}] - YYYY-MM-DD.",
        )
    return notes


def read_declared(source: Path) -> str:
    """Return `__version__` without an import of the package."""
    tree = ast.parse((source / "infx/__init__.py").read_text(encoding="utf-8"))
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id="__version__")], value=ast.Constant(value=str(version))):
                return version
    raise InfxError("infx/__init__.py has no __version__.")


def find_notes(changelog: str, version: str) -> str | None:
    """Return the text of the newest released section, or None if it belongs to another version."""
    sections = re.split(r"(?m)^## ", changelog)[1:]
    released = [section for section in sections if not section.startswith("[Unreleased]")]
    if not released or not re.match(
        rf"\[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n", released[0], re.ASCII
    ):
        return None
    return released[0].partition("\n")[2].strip() + "\n"


def build(source: Path, dist: Path, folder: Path, *, time: str) -> None:
    """Build the source archive, and the wheel from the files of this archive."""
    call_backend(source, "build_sdist", dist, time)
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    call_backend(unpacked, "build_wheel", dist, time)


def call_backend(source: Path, hook: str, dist: Path, time: str) -> None:
    """Call the build backend as a build front end does: by its hook, in the folder of the source."""
    code = f"import sys; from flit_core import buildapi; buildapi.{hook}(sys.argv[1])"
    run(sys.executable, "-c", code, str(dist), cwd=source, SOURCE_DATE_EPOCH=time)


def check(dist: Path, source: Path, bin_: Path, version: str) -> None:
    """Install the wheel into the environment, let it make the single-file programs, and run everything."""
    (wheel,) = dist.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(bin_ / "python"))
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", "--no-compile", str(wheel), cwd=dist)
    shown = run(str(bin_ / "infx"), "--version", cwd=dist)
    if shown != f"infx {version}\n":
        raise InfxError(f"The installed infx prints {shown!r} as its version, not {version}.")
    run(str(bin_ / "infx"), "config", "check", cwd=source)
    for name, function in PROGRAMS.items():
        code = f"import sys; from infx.matrix.row_file import {function}; sys.stdout.write({function}())"
        (dist / name).write_text(run(str(bin_ / "python"), "-I", "-c", code, cwd=dist), encoding="utf-8")
        run(str(bin_ / "python"), "-I", "-S", name, "--help", cwd=dist)
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(dist.iterdir())
    ]
    (dist / SUMS).write_text("".join(lines), encoding="utf-8")


def install_locked(folder: Path) -> None:
    """Make an environment with exactly the packages of the lock."""
    venv.create(folder, with_pip=False)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin/python"))
    lock = ROOT / "requirements/run.txt"
    run(*pip, "install", "--quiet", "--require-hashes", "--only-binary", ":all:", "-r", str(lock), cwd=folder)


def run(*command: str, cwd: Path, **variables: str) -> str:
    """Return the standard output of a command that must succeed."""
    done = subprocess.run(
        command, cwd=cwd, env={**os.environ, **variables}, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        words = " ".join(command)
        raise InfxError(f"{words} failed with exit code {done.returncode}:\n{done.stderr.strip()}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

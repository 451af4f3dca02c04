"""Read artifacts from downloaded folders, and from zip files as GitHub delivers them.

Their content is foreign. Nothing is unpacked to disk, no link is followed, and every size is checked before reading.
"""

from __future__ import annotations

import io
import lzma
import os
import stat
import zipfile
import zlib
from collections.abc import Container, Iterator
from pathlib import Path

from infx.files import refuse
from infx.results.artifact import MAX_BYTES, MAX_FILE, MAX_FILES, ArtifactFile, ReadArtifact

MAX_DEPTH = 4
MAX_ZIP = 100_000_000  # bytes of one artifact as GitHub delivers it
_BROKEN_ZIP = (zipfile.BadZipFile, zlib.error, lzma.LZMAError)


def read_folder(folder: Path, wanted: Container[str] | None = None) -> Iterator[ReadArtifact]:
    """Read every folder below `folder` as an artifact, in the order of names, each when the iterator reaches it.

    wanted: names of artifacts; the files of other artifacts are not read.
    """
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        raise refuse(error, folder, "artifacts") from None
    paths = [Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return (
        _read_one(path)
        if wanted is None or _printable(path.name) in wanted
        else ReadArtifact(name=_printable(path.name))
        for path in paths
    )


def _read_one(folder: Path) -> ReadArtifact:
    name = _printable(folder.name)
    try:
        paths = _list_json(folder, 0)
        if len(paths) > MAX_FILES:
            return ReadArtifact(name=name, fault=f"it has more than {MAX_FILES} JSON files")
        if (total := sum(path.lstat().st_size for path in paths)) > MAX_BYTES:
            return ReadArtifact(name=name, fault=_too_large(total, MAX_BYTES))
        return ReadArtifact(name=name, files=tuple(_read_file(path, folder) for path in paths))
    except OSError as error:
        return ReadArtifact(name=name, fault=f"it cannot be read: {error.strerror}")


def _list_json(folder: Path, depth: int) -> list[Path]:
    paths: list[Path] = []
    for entry in sorted(os.scandir(folder), key=lambda item: item.name):
        if entry.is_dir(follow_symlinks=False) and depth < MAX_DEPTH:
            paths += _list_json(Path(entry.path), depth + 1)
        elif entry.name.endswith(".json") and not entry.is_dir(follow_symlinks=False):
            paths.append(Path(entry.path))
        if len(paths) > MAX_FILES:
            break
    return paths


def _read_file(path: Path, root: Path) -> ArtifactFile:
    shown = _printable(path.relative_to(root).as_posix())
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        return ArtifactFile(path=shown, fault="it is a link or a device, not a file")
    if status.st_size > MAX_FILE:
        return ArtifactFile(path=shown, fault=_too_large(status.st_size, MAX_FILE))
    return ArtifactFile(path=shown, data=path.read_bytes(), modified=status.st_mtime)


def read_zip(name: str, data: bytes) -> ReadArtifact:
    """Read an artifact from the zip file that GitHub delivers."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [item for item in archive.infolist() if item.filename.endswith(".json")]
            if len(members) > MAX_FILES:
                return ReadArtifact(name=name, fault=f"it has more than {MAX_FILES} JSON files")
            if (total := sum(item.file_size for item in members)) > MAX_BYTES:
                return ReadArtifact(name=name, fault=_too_large(total, MAX_BYTES))
            return ReadArtifact(name=name, files=tuple(_read_member(archive, item) for item in members))
    except (*_BROKEN_ZIP, NotImplementedError, RuntimeError, ValueError, OSError, EOFError) as error:
        return ReadArtifact(name=name, fault=f"it is not a readable zip file ({type(error).__name__})")


def _read_member(archive: zipfile.ZipFile, item: zipfile.ZipInfo) -> ArtifactFile:
    """Read one file of the archive."""
    # The size in the header may be wrong, so that reading stops after the limit.
    path = _printable(item.filename)
    if item.file_size > MAX_FILE:
        return ArtifactFile(path=path, fault=_too_large(item.file_size, MAX_FILE))
    with archive.open(item) as file:
        data = file.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        return ArtifactFile(path=path, fault=_too_large(len(data), MAX_FILE))
    return ArtifactFile(path=path, data=data)


def _too_large(size: int, limit: int) -> str:
    return f"it has {size:,} bytes, more than the limit of {limit:,}"


def _printable(name: str) -> str:
    """Return a file name as printable text: bytes that are not UTF-8 become replacement characters."""
    return os.fsencode(name).decode(errors="replace")

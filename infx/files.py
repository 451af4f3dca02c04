"""Read and write files that the command line names: completely, or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from infx.errors import UsageError


class NoSuchSourceError(UsageError):
    """Raised when the named file or folder does not exist."""


def read_file(path: str | Path, what: str, *, hint: str | None = None) -> bytes:
    """Return the bytes of a file. Raises UsageError if it cannot be read. what: how errors call the file."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise refuse(error, path, what, hint=hint) from None


def refuse(error: OSError, path: str | Path, what: str, *, hint: str | None = None) -> UsageError:
    """Return the error for a named file or folder that cannot be read."""
    kind = NoSuchSourceError if isinstance(error, FileNotFoundError) else UsageError
    return kind(
        f"The {what} cannot be read: {error.strerror}.", hint=hint or "Check the path.", where=str(path)
    )


def decode_json(data: bytes | str, what: str, path: str | Path) -> Any:
    """Return the value of JSON data from a file. Raises UsageError if it is not JSON."""
    import json

    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The {what} is not JSON: {error}.", where=str(path)) from None


def write_file(path: Path, data: bytes) -> None:
    """Write a file completely or not at all: write a temporary file next to it, then rename that one."""
    import tempfile

    path = path.resolve()
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        new = Path(file.name)
        try:
            file.write(data)
            file.flush()
            new.chmod(mode)
            new.replace(path)
        except BaseException:
            new.unlink(missing_ok=True)
            raise


def write_folder(out: Path, files: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Write all files of a new folder or none: write a temporary folder next to it, then rename that one.

    files: name → parts of the text. Returns: name → SHA-256 of the file, in hexadecimal digits.
    """
    import hashlib
    from tempfile import TemporaryDirectory

    if out.exists():
        raise UsageError("The folder exists already.", hint="Name another one, or remove it.", where=str(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    digests = {}
    with TemporaryDirectory(dir=out.parent) as temporary:
        draft = Path(temporary) / "draft"
        draft.mkdir()
        for name, parts in files.items():
            digest = hashlib.sha256()
            with (draft / name).open("wb") as file:
                for part in parts:
                    data = part.encode()
                    digest.update(data)
                    file.write(data)
            digests[name] = digest.hexdigest()
        draft.rename(out)
    return digests

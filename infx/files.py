"""Files that a command line names: read whole or refused in words, written whole or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infx.errors import UsageError


class NoSuchSourceError(UsageError):
    """What was named is not there."""


def read_file(given: str | Path, what: str, *, hint: str | None = None) -> bytes:
    """Return the bytes of a file that was named. Raises UsageError if it cannot be read."""
    try:
        return Path(given).read_bytes()
    except OSError as error:
        raise refuse(error, given, what, hint=hint) from None


def refuse(error: OSError, given: str | Path, what: str, *, hint: str | None = None) -> UsageError:
    """Return what a command says of a file or folder that was named and cannot be read."""
    kind = NoSuchSourceError if isinstance(error, FileNotFoundError) else UsageError
    return kind(f"The {what} cannot be read: {error.strerror}.", hint=hint, where=str(given))


def decode_json(data: bytes | str, what: str, given: str | Path) -> Any:
    """Return the value of a file that holds JSON. Raises UsageError for another."""
    import json

    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The {what} is not JSON: {error}.", where=str(given)) from None


def write_file(path: Path, data: bytes) -> None:
    """All of it or nothing: into a file beside it, which then takes its name and its permissions."""
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


def write_folder(out: Path, files: Mapping[str, bytes]) -> None:
    """All files or none: written beside the folder and moved into place."""
    from tempfile import TemporaryDirectory

    if out.exists():
        raise UsageError("The folder exists already.", hint="Name another one, or remove it.", where=str(out))
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent) as temporary:
        draft = Path(temporary) / "draft"
        draft.mkdir()
        for name, data in files.items():
            (draft / name).write_bytes(data)
        draft.rename(out)

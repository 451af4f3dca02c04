"""Write the new files of a repository that adopts infx."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from infx.adoption.files import FileState, MadeFile
from infx.errors import UnavailableError
from infx.files import write_file
from infx.phrases import join_words


def write_new_files(root: Path, files: Iterable[MadeFile]) -> list[str]:
    """Write the files that do not exist, each completely or not at all, and return their paths.

    Raises UnavailableError if a file cannot be written; it names the files that were written before.
    """
    written: list[str] = []
    for file in files:
        place = root / file.path
        if file.state is not FileState.NEW or os.path.lexists(place):
            continue
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            write_file(place, file.text.encode())
        except OSError as error:
            before = f"Written before: {join_words(written)}." if written else "No file was written."
            hint = f"{before} After a correction, the same command continues."
            message = f"The file cannot be written: {error.strerror or error}."
            raise UnavailableError(message, hint=hint, where=file.path) from None
        written.append(file.path)
    return written

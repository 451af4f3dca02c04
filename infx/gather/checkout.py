"""Read the scripts and recipes of a checkout for `infx config check`."""

from __future__ import annotations

import os
from pathlib import Path

from infx.matrix.checkout import FOLDER, SINGLE_NODE, Checkout

_MAX_BYTES = 1_000_000  # of a script whose text is read


def read_checkout(root: Path) -> Checkout | None:
    """Return the paths of all files below `FOLDER`, and the texts of scripts; None without the folder.

    Links and large files count as files, but their texts are not read.
    """
    if not (root / FOLDER).is_dir():
        return None
    paths: set[str] = set()
    scripts: dict[str, str] = {}
    for folder, _, names in os.walk(root / FOLDER):
        for name in names:
            file = Path(folder, name)
            path = file.relative_to(root).as_posix()
            paths.add(path)
            if path.startswith(f"{SINGLE_NODE}/") and name.endswith(".sh"):
                scripts[path] = _read_text(file)
    return Checkout(paths=frozenset(paths), scripts=scripts)


def _read_text(file: Path) -> str:
    """Return the text of a file; empty if it is not a plain file, too large, or cannot be read."""
    try:
        if file.is_symlink() or not file.is_file() or file.stat().st_size > _MAX_BYTES:
            return ""
        return file.read_bytes().decode(errors="replace")
    except OSError:
        return ""

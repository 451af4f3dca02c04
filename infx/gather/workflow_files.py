"""Read the workflow and action files of a repository."""

from __future__ import annotations

from pathlib import Path

from infx.errors import UsageError
from infx.workflows.local import find_local_paths


def read_sources(directory: Path) -> dict[str, bytes]:
    """Return path → bytes of workflows and actions. Raises UsageError if there are none.

    The files are the workflows and actions of .github, the root's action, and every local action that these use.
    directory: a repository, its .github folder or its folder of workflows. Paths start at the repository's root.
    """
    folder = directory.resolve()
    if (folder / ".github").is_dir():
        folder = folder / ".github"
    elif folder.name == "workflows":
        folder = folder.parent
    root = folder.parent
    patterns = ((folder, "workflows/*"), (folder, "actions/**/action"), (root, "action"))
    paths = [
        path
        for place, pattern in patterns
        for ending in (".yml", ".yaml")
        for path in place.glob(pattern + ending)
        if path.is_file()
    ]
    if not paths:
        raise UsageError(
            "There are no workflow or action files here.",
            hint="Name a repository that has a .github folder.",
            where=str(directory),
        )
    files = {str(path.relative_to(root)): path.read_bytes() for path in sorted(paths)}
    unread = list(files.values())
    while unread:
        for path in sorted(find_local_paths(unread.pop()) - set(files)):
            if (root / path).is_file() and (root / path).resolve().is_relative_to(root):
                files[path] = (root / path).read_bytes()
                unread.append(files[path])
    return files

"""Read and write refs and commits as git's files, because a process for each would take most of a request's time."""

from __future__ import annotations

import hashlib
import os
import zlib
from collections.abc import Sequence
from pathlib import Path


def read_refs(repository: Path) -> dict[str, str] | None:
    """Return name → SHA of every ref, sorted; None if only git can tell, because refs are packed or symbolic."""
    if (repository / "packed-refs").exists():
        return None
    refs = {}
    for folder, _, names in os.walk(repository / "refs"):
        for name in names:
            path = Path(folder, name)
            if not name.endswith(".lock"):
                refs[path.relative_to(repository).as_posix()] = path.read_text(encoding="ascii").strip()
    return None if any(len(sha) != 40 for sha in refs.values()) else dict(sorted(refs.items()))


def write_ref(repository: Path, ref: str, sha: str | None) -> bool:
    """Write a ref, or delete it (None), under git's own lock; return False if only git can do that."""
    path = repository / ref
    lock = path.with_name(f"{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with lock.open("x", encoding="ascii") as file:
            file.write(f"{sha}\n")
    except OSError:
        return False
    try:
        if sha is not None:
            lock.replace(path)
        elif not (repository / "packed-refs").exists():
            path.unlink()
        else:
            return False
    except OSError:
        return False
    finally:
        lock.unlink(missing_ok=True)
    return True


def write_commit(repository: Path, tree: str, parents: Sequence[str], message: str, who: str) -> str:
    """Write a commit as a loose object, and return its SHA. who: a name, an address and a time, as git writes them."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {who}", f"committer {who}", "", message]
    text = "\n".join(lines).encode()
    data = b"commit %d\0" % len(text) + text
    sha = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    path = repository / "objects" / sha[:2] / sha[2:]
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}")
        unfinished.write_bytes(zlib.compress(data, 1))
        unfinished.replace(path)
    return sha

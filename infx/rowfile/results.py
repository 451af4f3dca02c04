"""The files that a row command leaves in its folder: which are the row's results, and which are missing."""

from __future__ import annotations

import os


def find_results(folder: str, patterns: list[str]) -> dict[str, tuple[int, int, int]]:
    """Return the regular files of a folder whose names match. Links are not results.

    Returns: name → inode, time of the last change in nanoseconds, size in bytes; writing changes one of them.
    """
    states = {}
    for entry in os.scandir(folder):
        if any(_matches(entry.name, pattern) for pattern in patterns) and entry.is_file(
            follow_symlinks=False
        ):
            stat = entry.stat(follow_symlinks=False)
            states[entry.name] = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    return states


def gather_results(
    folder: str, out: str, patterns: list[str], earlier: dict[str, tuple[int, int, int]], started_at: float
) -> list[str]:
    """Copy the results that the command has written, and return their names, sorted.

    earlier: what `find_results` returned before the command started. started_at: seconds since 1970.
    """
    os.makedirs(out, exist_ok=True)
    after = (started_at - 1) * 1e9  # a second of grace, because clocks of file systems are coarse
    names = sorted(
        name
        for name, state in find_results(folder, patterns).items()
        if state != earlier.get(name) and state[1] >= after
    )
    if not os.path.samefile(folder, out):
        for name in names:
            _copy(os.path.join(folder, name), os.path.join(out, name))
    return names


def find_missing(names: list[str], required: list[str]) -> list[str]:
    """Return the required patterns that no name matches."""
    return [pattern for pattern in required if not any(_matches(name, pattern) for name in names)]


def _matches(name: str, pattern: str) -> bool:
    """Return whether a name matches; a pattern has at most one `*`. `fnmatch` would need a third of a row's start."""
    start, star, end = pattern.partition("*")
    if not star:
        return name == pattern
    return len(name) >= len(start) + len(end) and name.startswith(start) and name.endswith(end)


def _copy(source: str, target: str) -> None:
    with open(source, "rb") as reader, open(target, "wb") as writer:
        while block := reader.read(1 << 20):
            writer.write(block)

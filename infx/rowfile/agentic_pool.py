"""The size of the KV cache, in tokens, from the lines that servers print when they start."""

from __future__ import annotations

import os
import re
from typing import Iterable, Iterator

_VLLM_SIZE = re.compile(r"GPU KV cache size: ([0-9][0-9,]{0,20}) tokens")
_VLLM_ENGINE = re.compile(r"\((EngineCore\w*)")
_SGLANG_SIZE = re.compile(r"\bmax_total_num_tokens=([0-9]{1,18})\b")
_SGLANG_RANK = re.compile(r"\b(?:DP|PP|TP|EP)[0-9]+\b")
_SGLANG_RANKS = re.compile(r"\bdp_size=([0-9]{1,6})\b")
_PARENTS = 3  # folders above the results in which the log of a job's watcher may be


def read_logs(folder: str) -> Iterator[str]:
    """Yield the lines of the server's log in the folder of results, and of the watcher's logs there and above."""
    yield from _read_lines(os.path.join(folder, "server.log"))
    place = os.path.abspath(folder)
    for _ in range(_PARENTS + 1):
        for name in _list(place):
            if name.startswith("watchtower-") and name.endswith(".out"):
                yield from _read_lines(os.path.join(place, name))
        if place == os.path.dirname(place):
            return
        place = os.path.dirname(place)


def parse_vllm_pool(lines: Iterable[str]) -> int | None:
    """Return the sum over engines of the last size that each printed.

    A line without the name of an engine counts only if no line has one.
    """
    sizes: dict[str, int] = {}
    untagged = None
    for line in lines:
        size = _VLLM_SIZE.search(line)
        if size is None:
            continue
        tokens = int(size[1].replace(",", ""))
        engine = _VLLM_ENGINE.search(line)
        if engine is None:
            untagged = tokens
        else:
            sizes[engine[1]] = tokens
    return sum(sizes.values()) if sizes else untagged


def parse_sglang_pool(lines: Iterable[str]) -> int | None:
    """Return the sum over ranks of the last size that each printed.

    If a single rank printed its size, all ranks have that size; the server prints the number of ranks in its arguments.
    """
    sizes: dict[str, int] = {}
    ranks = 1
    for line in lines:
        size = _SGLANG_SIZE.search(line)
        if size is not None:
            sizes[_name_rank(line[: size.start()])] = int(size[1])
        number = _SGLANG_RANKS.search(line) if "dp_size=" in line else None
        ranks = int(number[1]) if number else ranks
    if len(sizes) == 1:
        return sum(sizes.values()) * max(ranks, 1)
    return sum(sizes.values()) if sizes else None


def _name_rank(line: str) -> str:
    """Return the data-parallel rank that printed a line; without one, the tag of the process."""
    tags = _SGLANG_RANK.findall(line)
    return next((tag for tag in tags if tag.startswith("DP")), " ".join(tags))


def _read_lines(path: str) -> Iterator[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            yield from lines
    except OSError:
        return  # the size is a note in the aggregate; nothing is judged by it


def _list(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []

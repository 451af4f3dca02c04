"""Parse each of the project's own Python files once for all tests that read them."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable, Collection, Iterable
from functools import cache
from pathlib import Path
from typing import TypeVar

from tests.conftest import ROOT

_Found = TypeVar("_Found", bound=Collection[object])


@cache
def walk(source: str) -> tuple[ast.AST, ...]:
    """Return every node of a source, the module first, in the order of `ast.walk`."""
    nodes = tuple(ast.walk(ast.parse(source)))
    gc.freeze()  # the collector would look at a million nodes again and again
    return nodes


def find_in_files(paths: Iterable[Path], find: Callable[[str], _Found]) -> dict[str, _Found]:
    """Return path → what a function finds in the text of the file, without the files in which it finds nothing."""
    found = {
        path.relative_to(ROOT).as_posix(): find(path.read_text(encoding="utf-8")) for path in sorted(paths)
    }
    return {path: things for path, things in found.items() if things}

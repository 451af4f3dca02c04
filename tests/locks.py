"""Read the locks in requirements/, and hide the modules that the lock of the actions lacks."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import packages_distributions

import pytest

from tests.conftest import ROOT


def read_lock(name: str) -> dict[str, str]:
    """Return the line of each package of a lock, with version, marker and hashes, without comments."""
    text = (ROOT / "requirements" / f"{name}.txt").read_text()
    lines = re.sub(r"\s*\\\n\s*|\n\s*#[^\n]*", " ", text).splitlines()
    return {line.partition("==")[0]: line.strip() for line in lines if line.strip()}


def find_left_out() -> set[str]:
    """Return the modules of the packages that `pip install` adds and the actions do not install."""
    left_out = read_lock("run").keys() - read_lock("actions").keys()
    return {
        module
        for module, names in packages_distributions().items()
        if {name.lower().replace("_", "-") for name in names} & left_out
    }


@contextmanager
def hidden(names: set[str]) -> Iterator[None]:
    """Make every import of these modules fail, even of modules that were imported before."""
    with pytest.MonkeyPatch.context() as patch:
        for name in {*names, *(name for name in sys.modules if name.partition(".")[0] in names)}:
            patch.setitem(sys.modules, name, None)
        yield

"""The library that draws charts in a browser: plotly.js, as the package plotly from PyPI contains it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from infx.errors import UsageError

_FILE = "package_data/plotly.min.js"


def read_library() -> str:
    """Return the script. Raises UsageError if the package is not installed."""
    spec = find_spec("plotly")  # importing the package takes longer than all the rest
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(folder, _FILE)
        if file.is_file():
            return file.read_text(encoding="utf-8")
    raise UsageError(
        "A page with charts needs the package plotly, which is not installed.",
        hint="Install infx with the extra page: pip install 'infx[page]'.",
    )

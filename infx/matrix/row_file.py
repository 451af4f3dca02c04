"""The row file: the modules of `infx.rowfile` as one program, which travels with the plan."""

from __future__ import annotations

from importlib.resources import files
from io import BytesIO
from zipfile import ZIP_STORED, ZipFile, ZipInfo

ROW_FILE = "row.pyz"
_PACKAGE = "rowfile"
_MAIN = b"""\
import sys

if sys.version_info < (3, 8):
    sys.stderr.write("error: the row file needs Python 3.8 or newer on this machine; set INFX_PYTHON to one.\\n")
    sys.exit(2)

from rowfile.main import main

sys.exit(main())
"""
_EPOCH = (1980, 1, 1, 0, 0, 0)  # a zip file has no earlier time


def pack_row_file() -> bytes:
    """Return the program as a zip file that Python runs; equal bytes for equal sources."""
    buffer = BytesIO()
    modules = sorted(
        (path for path in files("infx").joinpath(_PACKAGE).iterdir() if path.name.endswith(".py")),
        key=lambda path: path.name,
    )
    with ZipFile(buffer, "w", ZIP_STORED) as archive:
        archive.writestr(ZipInfo("__main__.py", _EPOCH), _MAIN)
        for module in modules:
            archive.writestr(ZipInfo(f"{_PACKAGE}/{module.name}", _EPOCH), module.read_bytes())
    return buffer.getvalue()

"""Compare tables of the docs with code or files; `INFX_REFRESH=1` rewrites the tables."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

REFRESH = os.environ.get("INFX_REFRESH") == "1"  # read at import, because tests run without INFX_ variables


def compare_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """Compare lines with the table of a page between `<!-- table: <name> -->` and `<!-- end -->`."""
    text = page.read_text(encoding="utf-8")
    table = re.search(rf"(?<=<!-- table: {name} -->\n).*?(?=<!-- end -->)", text, re.DOTALL)
    assert table is not None, f"{page.name} has no place for the table {name}"
    expected = "".join(f"{line}\n" for line in lines)
    if REFRESH:
        page.write_text(text[: table.start()] + expected + text[table.end() :], encoding="utf-8")
    assert table[0] == expected, "INFX_REFRESH=1 pytest tests/workflows rewrites the tables"

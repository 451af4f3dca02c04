"""Tables of the docs that are drawn from code or files. `INFX_REFRESH=1` draws them anew."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

REFRESH = os.environ.get("INFX_REFRESH") == "1"  # read now: tests see no INFX_ variables


def compare_table(page: Path, name: str, lines: Sequence[str]) -> None:
    """The table of a page, between `<!-- table: <name> -->` and `<!-- end -->`, is just these lines."""
    text = page.read_text(encoding="utf-8")
    found = re.search(rf"(?<=<!-- table: {name} -->\n).*?(?=<!-- end -->)", text, re.DOTALL)
    assert found is not None, f"{page.name} has no place for the table {name}"
    drawn = "".join(f"{line}\n" for line in lines)
    if REFRESH:
        page.write_text(text[: found.start()] + drawn + text[found.end() :], encoding="utf-8")
    assert found[0] == drawn, "INFX_REFRESH=1 pytest tests/workflows draws the tables anew"

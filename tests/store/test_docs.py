"""docs/store.md against what it describes."""

from __future__ import annotations

import re

from infx.store import files
from infx.store.tables import metadata
from tests.pages import read

PAGE = read("docs/store.md")


def test_the_page_lists_every_table_with_its_columns() -> None:
    listed = {
        table: set(re.findall(r"`(\w+)`", rest))
        for table, rest in re.findall(r"(?m)^\| `(infx_\w+)` \| (.*)$", PAGE)
    }
    assert listed == {name: set(table.columns.keys()) for name, table in metadata.tables.items()}


def test_the_page_and_the_branch_list_every_folder() -> None:
    folders = {files.RUNS, files.PUBLICATIONS, files.SERIES, files.WITHDRAWALS}
    for text in (PAGE.partition("## The files of the branch")[2], files.README_TEXT):
        assert set(re.findall(r"(?m)^[|-] `(\w+)/", text)) == folders

"""docs/launching.md: the tables of supervise.py agree with the code, and its recipe works."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from infx.matrix.row_file import pack_supervise
from infx.rowfile import supervise_codes as codes
from infx.rowfile import supervise_spec
from infx.rowfile.record import SUPERVISED
from tests.conftest import ROOT
from tests.rowfile.playing import find_python
from tests.rowfile.supervising import SERVER

PAGE = (ROOT / "docs/launching.md").read_text(encoding="utf-8")
TABLES = dict(re.findall(r"(?ms)^<!-- table: (\S+) -->\n(.*?)^<!-- end -->$", PAGE))
RECIPES = dict(re.findall(r"(?ms)^```bash (recipe\S*)\n(.*?)^```$", PAGE))
# Results of the row, and a server; a client that writes what its arguments say.
VLLM = """\
#!/bin/sh
case $1 in
  serve) exec python3 -I -S "$SERVER" "$4" engine;;
  bench) echo "$*"; for word; do last=$word; done; echo {} > "$last"; exit 7;;
esac
"""


def read_table(name: str) -> dict[str, list[str]]:
    lines = TABLES[name].splitlines()[2:]
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split(" | ")] for line in lines]
    return {row[0].strip(): row[1:] for row in rows}


def test_the_table_of_fields_is_complete() -> None:
    defaults = {
        **{f"limits.{name}": value for name, value in supervise_spec.LIMIT_DEFAULTS.items()},
        **{f"ready.{name}": value for name, value in supervise_spec.READY_DEFAULTS.items()},
        **supervise_spec.DEFAULTS,
    }
    ready = {f"ready.{name}" for name in supervise_spec.READY_FIELDS}
    table = read_table("supervise-fields")
    assert set(table) == supervise_spec.FIELDS | supervise_spec.PROCESS_FIELDS | ready | set(defaults)
    for name, default in defaults.items():
        if name != "workers":  # a paragraph below the table
            expected = {True: "true"}.get(default, str(default)) if default not in ([], {}) else "none"
            assert table[name][0] == expected, name


def test_the_table_of_exit_codes_is_complete() -> None:
    table = {int(code): cells[0] for code, cells in read_table("supervise-codes").items()}
    assert table == codes.CODES


def test_exit_codes_differ_from_those_of_a_launch() -> None:
    launch = PAGE.partition("| what happens | exit code | cause |")[2].partition("\n\n")[0]
    numbers = {int(number) for line in launch.splitlines() for number in re.findall(r"\b\d+\b", line)}
    assert {73, 74, 75, 124, 125} <= numbers
    assert not set(codes.CODES) & numbers - {1}


@pytest.mark.parametrize("version", [None, "3.8"])
def test_the_recipe_works(version: str | None, tmp_path: Path) -> None:
    """The program is the packed file, started as an image starts it."""
    python = sys.executable if version is None else find_python(version)
    if python is None:
        pytest.skip(f"This machine has no Python {version}.")
    (tmp_path / "python3").symlink_to(python)
    assert len(RECIPES["recipe"].splitlines()) <= 15
    (tmp_path / "vllm").write_text(VLLM)
    (tmp_path / "vllm").chmod(0o755)
    (tmp_path / "server.py").write_text(SERVER)
    (tmp_path / "supervise.py").write_text(pack_supervise())
    (tmp_path / "recipe.sh").write_text(RECIPES["recipe"])
    variables = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "INFX_SUPERVISE": str(tmp_path / "supervise.py"),
        "SERVER": str(tmp_path / "server.py"),
        "RESULT_FILENAME": "result",
        "MODEL": "acme/m1",
        "CONC": "4",
        "ISL": "10",
        "OSL": "20",
        "TP": "2",
    }
    done = subprocess.run(
        ["bash", "recipe.sh"], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 7, done.stderr  # the client's
    record = json.loads((tmp_path / SUPERVISED).read_text())
    assert f"--base-url http://127.0.0.1:{record['ports']['engine']} " in done.stdout
    assert (tmp_path / "result.json").exists()


def test_the_recipe_before_has_the_same_arguments() -> None:
    before, after = (set(re.findall(r"--[a-z-]+", RECIPES[name])) for name in ("recipe-before", "recipe"))
    assert before - {"--silent", "--fail"} == after

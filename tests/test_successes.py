"""Check that docs/architecture.md lists every function that can return a success, and its evidence."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.sources import walk

PACKAGE = ROOT / "infx"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LINE = re.compile(r"\[[a-z_/]+\.py\]\(\.\./(infx/[a-z_/]+\.py)\) `(\w+)` \| (.+) \|")

GRANTS = {
    "StatusState.SUCCESS",
    "Status.PASS",
    "CheckStatus.PASS",
    "State.PRESENT",
    "RowState.PRESENT",
    "Reason.READY",
    "ReuseVerdict.REUSE",
    "CheckState.GREEN",
    "RequestAnswer.ACCEPTED",
    "MergeOutcome.MERGED",
    "Health.OK",
}
CALLS = {"passed", "not_applicable"}
# These functions compare with a success of another function, or build the value that checks return.
READERS = {
    "signed_off", "describe_collection", "_render_counts", "is_good", "passed", "limit_to_warning",
    "is_healthy", "_make_cells",
}  # fmt: skip


# A refusal raises, so these return without a value.
SILENT = {("infx/rowfile/again.py", "check_again")}


def find_grants(path: Path) -> set[tuple[str, str]]:
    """Return the file and the name of each function that mentions a success."""
    grants = set()
    for function in walk(path.read_text(encoding="utf-8")):
        if isinstance(function, ast.FunctionDef) and function.name not in READERS:
            nodes = list(ast.walk(function))
            called = {
                node.func.id
                for node in nodes
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            }
            mentioned = {ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute)}
            if called & CALLS or mentioned & GRANTS:
                grants.add((path.relative_to(ROOT).as_posix(), function.name))
    return grants


def list_files() -> list[Path]:
    return [path for path in PACKAGE.rglob("*.py") if not {"hub", "demo"} & set(path.parts)]


def test_every_function_that_grants_a_success_is_listed() -> None:
    granted = {grant for path in list_files() for grant in find_grants(path)}
    assert granted | SILENT == {(path, name) for path, name, _ in LINE.findall(PAGE)}


def test_every_listed_success_names_its_evidence() -> None:
    lines = LINE.findall(PAGE)
    assert len(lines) > 30
    assert all(len(evidence.split()) >= 4 for *_, evidence in lines)


@pytest.mark.parametrize(
    "source",
    [
        "def judge():\n    return StatusState.SUCCESS\n",
        "def judge():\n    return not_applicable('Nothing was looked at.')\n",
        "class Row:\n    def state(self):\n        return RowState.PRESENT\n",
    ],
)
def test_a_new_function_with_a_success_is_found(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.test_successes.ROOT", tmp_path)
    path = tmp_path / "new.py"
    path.write_text(source)
    assert len(find_grants(path)) == 1

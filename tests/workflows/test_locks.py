"""Compare the locks, and check that the commands of the actions import only packages that the actions install."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator

import pytest

from tests.conftest import ROOT
from tests.locks import find_left_out, hidden, read_lock

DEMO = {"infx/cli/console.py", "infx/cli/demo.py", "infx/play/tell.py"} | {
    str(path.relative_to(ROOT)) for path in ROOT.glob("infx/demo/**/*.py")
}


def test_the_lock_of_the_actions_lacks_only_unused_packages() -> None:
    """The demo uses rich, pygments and plotly; flit-core builds infx, which the actions only copy."""
    run, actions = read_lock("run"), read_lock("actions")
    assert run.keys() - actions.keys() == {"rich", "pygments", "flit-core", "plotly", "narwhals", "packaging"}
    assert actions == {name: run[name] for name in actions}


def test_only_the_lock_for_sql_has_the_packages_for_a_database() -> None:
    sql, actions = read_lock("sql"), read_lock("actions")
    assert {"sqlalchemy", "psycopg", "psycopg-binary"} <= sql.keys() - read_lock("run").keys()
    assert actions == {name: sql[name] for name in actions}


def test_the_lock_for_pages_adds_plotly_to_the_lock_of_the_actions() -> None:
    """A job that makes a page adds this lock to the one of the actions, so both must have the same versions."""
    page, actions = read_lock("page"), read_lock("actions")
    assert page.keys() - actions.keys() == {"plotly", "narwhals", "packaging"}
    assert actions == {name: page[name] for name in actions}
    assert "plotly" not in read_lock("sql")


@pytest.mark.parametrize("name", ["run", "actions", "sql", "page", "dev", "uv"])
def test_every_package_has_its_hashes(name: str) -> None:
    lock = read_lock(name)
    assert lock
    assert [name for name, line in lock.items() if "--hash=sha256:" not in line] == []


def find_imports(source: str) -> Iterator[str]:
    """Yield every module that a file imports, also in functions and for types only."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_only_the_demo_imports_packages_that_the_actions_lack() -> None:
    left_out = find_left_out()
    assert {"rich", "pygments", "flit_core"} <= left_out
    importing = {
        str(path.relative_to(ROOT))
        for path in ROOT.glob("infx/**/*.py")
        for name in find_imports(path.read_text())
        if name.partition(".")[0] in left_out or name.startswith(("infx.demo", "infx.cli.demo"))
    }
    assert importing <= DEMO
    assert "infx/cli/demo.py" in importing  # the search finds an import that is there


def test_a_hidden_module_is_not_found() -> None:
    """The test of the demo runs the commands of the workflows with these modules hidden."""
    importlib.import_module("rich.console")
    with hidden({"rich"}):
        for name in ("rich", "rich.console", "rich.table"):
            with pytest.raises(ModuleNotFoundError):
                importlib.import_module(name)
    importlib.import_module("rich.console")

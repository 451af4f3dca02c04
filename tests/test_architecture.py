"""What import-linter cannot see: that its lists are complete, and that the core does not ask its surroundings."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

PACKAGE = ROOT / "infx"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = [re.findall(r"\w+", layer) for layer in CONTRACTS[0]["layers"]]
EDGES = {"apply", "gather", "git", "actions", "artifacts", "github", "hub"}
PROGRAMS = {"results/sample.py"}  # run by itself in a row's job; nothing imports it


def modules() -> set[str]:
    """The modules and packages directly below infx."""
    return {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }


RUNNER_SIDE = {"rowfile"}  # a program of its own, packed into one file
CORE = (modules() & {name for layer in LAYERS[5:] for name in layer}) - {"__init__", *RUNNER_SIDE}


def test_every_module_has_a_layer() -> None:
    placed = {name for layer in LAYERS for name in layer}
    assert modules() - placed == {"__init__", "__main__"}
    assert {name for layer in LAYERS[1:5] for name in layer} == EDGES


def test_the_ban_on_processes_and_connections_covers_the_whole_core() -> None:
    core, edges = CONTRACTS[1], CONTRACTS[2]
    assert set(core["source_modules"]) == {f"infx.{name}" for name in CORE}
    assert {"click", "subprocess", "socket", "http", "github", "requests"} <= set(core["forbidden_modules"])
    assert set(edges["source_modules"]) == {f"infx.{name}" for name in EDGES & modules()}
    assert "allow_indirect_imports" not in core


def core_files() -> Iterator[Path]:
    for name in sorted(CORE):
        folder = PACKAGE / name
        files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
        yield from (path for path in files if str(path.relative_to(PACKAGE)) not in PROGRAMS)


# The clock, the environment, the terminal and the working directory: facts that edges gather and pass on.
ASKING = {
    "os.environ", "os.getenv", "os.environb", "os.getcwd", "os.system", "os.popen", "Path.cwd", "Path.home",
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.sleep", "sys.argv",
    "sys.stdin", "sys.stdout", "sys.stderr", "sys.exit", "print", "input", "exec", "eval",
}  # fmt: skip


def dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{dotted(value)}.{name}"
        case _:
            return "?"


def asked(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute | ast.Name):
            name = dotted(node)
            found |= {bad for bad in ASKING if name == bad or ("." in bad and name.endswith(f".{bad}"))}
        elif isinstance(node, ast.ImportFrom):
            found |= {bad for alias in node.names if (bad := f"{node.module}.{alias.name}") in ASKING}
    return found


@pytest.mark.parametrize("path", list(core_files()), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_the_core_asks_nothing_of_its_surroundings(path: Path) -> None:
    assert asked(path.read_text()) == set()


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("import os\nx = os.environ['A']", {"os.environ"}),
        ("from os import environ", {"os.environ"}),
        ("import datetime\ndatetime.datetime.now()", {"datetime.now"}),
        ("print(1)", {"print"}),
        ("blueprint(1); os.path.join('a'); now()", set()),
    ],
)
def test_the_search_finds_what_it_looks_for(source: str, found: set[str]) -> None:
    assert asked(source) == found


def test_the_map_names_every_module() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    table = page.partition("## Rooms")[2].partition("## ")[0]
    named = [
        name
        for row in re.findall(r"^\|[^|]*\|([^|]*)\|", table, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(named) == sorted(modules() - {"__init__", "__main__"})


MOST_LINES = 45


def test_no_function_is_longer_than_a_screen() -> None:
    long = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                lines = node.end_lineno - node.lineno + 1
                long += [(str(path.relative_to(PACKAGE)), node.name, lines)] if lines > MOST_LINES else []
    assert long == []


def test_a_public_class_has_its_name_alone() -> None:
    """The hub, a world of its own, may call things what GitHub calls them."""
    homes: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "hub"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in homes.items() if len(paths) > 1} == {}


def find_test_imports(source: str) -> set[str]:
    """Return the test files (`test_*`) that the source imports, each as a dotted name."""
    imported: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            imported |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    return {name for name in imported if re.search(r"(^|\.)test_\w+", name) and name.startswith("tests")}


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_module_imports_a_test_file(path: Path) -> None:
    """Shared values and helpers live in modules of their own, so that a test file can move or go alone."""
    assert find_test_imports(path.read_text(encoding="utf-8")) == set()


@pytest.mark.parametrize(
    ("source", "imports"),
    [
        ("from tests.demo.test_demo import offline", {"tests.demo.test_demo.offline"}),
        ("def f():\n    from tests.demo import test_demo", {"tests.demo.test_demo"}),
        ("import tests.demo.test_demo", {"tests.demo.test_demo"}),
        ("from tests.demo.quiet import test_name\nimport test_x", {"tests.demo.quiet.test_name"}),
        ("from tests.pages import parse\nfrom infx.cli import infx", set()),
    ],
)
def test_the_search_for_imports_of_test_files_finds_them(source: str, imports: set[str]) -> None:
    assert find_test_imports(source) == imports


SCENARIOS = {"act", "security"}  # all of infx, in workflows that are really run and with hostile input


def find_unmirrored(folders: set[str], packages: set[str]) -> set[str]:
    """Return the folders of tests that are named like no package of infx."""
    return folders - packages - SCENARIOS


def test_tests_mirror_the_package() -> None:
    """A reader finds the tests of `infx/matrix/` in `tests/matrix/`."""
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/test_*.py")}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert find_unmirrored(folders, packages) == set()
    assert folders >= SCENARIOS
    assert find_unmirrored({"matrix", "act", "planner"}, {"matrix"}) == {"planner"}


def test_no_test_file_lies_deeper_than_its_folder() -> None:
    places = (ROOT / "tests").rglob("test_*.py")
    assert [str(path) for path in places if len(path.relative_to(ROOT / "tests").parts) > 2] == []


BUILT = {"PullRequest", "Comment", "Run", "Job", "CommitStatus", "Collaborator"}


def find_built(source: str) -> set[str]:
    """Return the values of `infx.model` that a source constructs although `tests/builders.py` does."""
    nodes = list(ast.walk(ast.parse(source)))
    imported = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "infx.model"
        for alias in node.names
    }
    called = {dotted(node.func) for node in nodes if isinstance(node, ast.Call)}
    return imported & called & BUILT


def test_values_of_the_model_are_built_in_one_module() -> None:
    own = {ROOT / "tests/builders.py", ROOT / "tests/test_model.py"}
    files = [path for path in (ROOT / "tests").rglob("*.py") if path not in own]
    assert {
        str(path): built for path in files if (built := find_built(path.read_text(encoding="utf-8")))
    } == {}
    assert find_built((ROOT / "tests/builders.py").read_text(encoding="utf-8")) == BUILT


def imported(source: str, names: set[str]) -> set[str]:
    """The modules among these that a module imports when it is loaded, or only for its types."""
    found = set()
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        for node in ast.iter_child_nodes(waiting.pop()):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                longer = [f"{node.module}.{alias.name}" for alias in node.names]
                found |= {name if name in names else node.module for name in longer}
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                waiting.append(node)
    return found & names


def find_cycle(imports: dict[str, set[str]]) -> list[str]:
    """Modules that all wait for one another, sorted; none is left where they can be loaded one after another."""
    left = {name: set(wanted) - {name} for name, wanted in imports.items()}
    while ready := {name for name, wanted in left.items() if not wanted}:
        left = {name: wanted - ready for name, wanted in left.items() if name not in ready}
    while unneeded := left.keys() - {name for wanted in left.values() for name in wanted}:
        left = {name: wanted for name, wanted in left.items() if name not in unneeded}
    return sorted(left)


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Layers hold packages apart; this holds the modules of one package in an order."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    imports = {name: imported(path.read_text(), set(files)) for name, path in files.items()}
    assert sum(map(len, imports.values())) > len(files)
    assert find_cycle(imports) == []


def test_the_search_for_cycles_finds_one() -> None:
    names = {"infx.a", "infx.b", "infx.c", "infx.d", "infx.e"}
    sources = {
        "infx.a": "from infx import b",
        "infx.b": "if TYPE_CHECKING:\n    from infx.c import C",
        "infx.c": "import infx.a\nimport infx.d",
        "infx.d": "def ask():\n    from infx.a import A",
        "infx.e": "from infx.a import A",
    }
    imports = {name: imported(source, names) for name, source in sources.items()}
    assert find_cycle(imports) == ["infx.a", "infx.b", "infx.c"]


def find_callers(source: str) -> set[str]:
    """The ways in which a file calls the command line by itself: click's runner, the shell's `run`, the script's `main`."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found & {"click.testing", "infx.cli.shell", "infx.cli.main"}


CALLERS = {
    "calling.py",  # for all the others
    "cli/test_demo.py",  # a demo that is killed, and then leaves no temporary folder: `call` has one
    "cli/test_options.py",  # a terminal, which a caught stream is not
    "cli/test_shell.py",  # the shell itself
}


def test_one_test_file_calls_the_command_line_for_all() -> None:
    tests = ROOT / "tests"
    found = {str(path.relative_to(tests)) for path in tests.rglob("*.py") if find_callers(path.read_text())}
    assert found == CALLERS


@pytest.mark.parametrize(
    ("source", "ways"),
    [
        ("from click.testing import CliRunner", {"click.testing"}),
        ("import click.testing", {"click.testing"}),
        ("def test():\n    from infx.cli.shell import run", {"infx.cli.shell"}),
        ("from infx.cli import infx, main", {"infx.cli.main"}),
        ("from infx.cli import infx\nfrom tests.calling import call", set()),
    ],
)
def test_the_search_for_callers_finds_them(source: str, ways: set[str]) -> None:
    assert find_callers(source) == ways

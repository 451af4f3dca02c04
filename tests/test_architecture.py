"""Check what import-linter cannot: that its lists are complete, and that the core does not use its environment."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.sources import find_in_files, walk

PACKAGE = ROOT / "infx"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
LAYERS = [re.findall(r"\w+", layer) for layer in CONTRACTS[0]["layers"]]
EDGES = {"apply", "gather", "git", "actions", "artifacts", "github", "hub", "store"}


def list_modules() -> set[str]:
    """Return the modules and packages directly below infx."""
    return {
        path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }


RUNNER_SIDE = {"rowfile"}  # a program of its own, packed into one file
CORE = (list_modules() & {name for layer in LAYERS[6:] for name in layer}) - {"__init__", *RUNNER_SIDE}


def test_every_module_has_a_layer() -> None:
    placed = {name for layer in LAYERS for name in layer}
    assert list_modules() - placed == {"__init__", "__main__"}
    assert list(LAYERS[1]) == ["play"]
    assert {name for layer in LAYERS[2:6] for name in layer} == EDGES


def test_the_ban_on_processes_and_connections_covers_the_whole_core() -> None:
    core, edges = CONTRACTS[1], CONTRACTS[2]
    assert set(core["source_modules"]) == {f"infx.{name}" for name in CORE}
    assert {"click", "subprocess", "socket", "http", "github", "requests"} <= set(core["forbidden_modules"])
    assert set(edges["source_modules"]) == {f"infx.{name}" for name in EDGES & list_modules()}
    assert "allow_indirect_imports" not in core


def find_core_files() -> Iterator[Path]:
    for name in sorted(CORE):
        folder = PACKAGE / name
        files = sorted(folder.rglob("*.py")) if folder.is_dir() else [folder.with_suffix(".py")]
        yield from files


# Uses of the clock, the environment, the terminal and the working directory. Edges read these and pass the values on.
SURROUNDINGS = {
    "os.environ", "os.getenv", "os.environb", "os.getcwd", "os.system", "os.popen", "Path.cwd", "Path.home",
    "datetime.now", "datetime.utcnow", "datetime.today", "date.today", "time.time", "time.sleep", "sys.argv",
    "sys.stdin", "sys.stdout", "sys.stderr", "sys.exit", "print", "input", "exec", "eval",
}  # fmt: skip


def render_dotted(node: ast.expr) -> str:
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=value, attr=name):
            return f"{render_dotted(value)}.{name}"
        case _:
            return "?"


def find_surroundings(source: str) -> set[str]:
    uses = set()
    for node in walk(source):
        if isinstance(node, ast.Attribute | ast.Name):
            name = render_dotted(node)
            uses |= {bad for bad in SURROUNDINGS if name == bad or ("." in bad and name.endswith(f".{bad}"))}
        elif isinstance(node, ast.ImportFrom):
            uses |= {bad for alias in node.names if (bad := f"{node.module}.{alias.name}") in SURROUNDINGS}
    return uses


def test_the_core_does_not_use_its_surroundings() -> None:
    assert find_in_files(find_core_files(), find_surroundings) == {}


@pytest.mark.parametrize(
    ("source", "uses"),
    [
        ("import os\nx = os.environ['A']", {"os.environ"}),
        ("from os import environ", {"os.environ"}),
        ("import datetime\ndatetime.datetime.now()", {"datetime.now"}),
        ("print(1)", {"print"}),
        ("blueprint(1); os.path.join('a'); now()", set()),
    ],
)
def test_uses_of_the_surroundings_are_found(source: str, uses: set[str]) -> None:
    assert find_surroundings(source) == uses


def test_the_architecture_page_names_every_module() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    table = page.partition("## Layers")[2].partition("## ")[0]
    named = [
        name
        for row in re.findall(r"^\|[^|]*\|([^|]*)\|", table, flags=re.MULTILINE)
        for name in re.findall(r"`(\w+)`", row)
    ]
    assert sorted(named) == sorted(list_modules() - {"__init__", "__main__"})


MOST_LINES = 45


def test_every_function_fits_on_a_screen() -> None:
    long = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in walk(path.read_text()):
            if isinstance(node, ast.FunctionDef) and node.end_lineno is not None:
                lines = node.end_lineno - node.lineno + 1
                long += [(str(path.relative_to(PACKAGE)), node.name, lines)] if lines > MOST_LINES else []
    assert long == []


def test_no_two_public_classes_have_the_same_name() -> None:
    """The hub is left out, because its classes have GitHub's names."""
    paths_by_name: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "hub"):
            continue
        for node in walk(path.read_text()):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                paths_by_name.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert {name: paths for name, paths in paths_by_name.items() if len(paths) > 1} == {}


def find_test_imports(source: str) -> set[str]:
    """Return the test files (`test_*`) that the source imports, each as a dotted name."""
    imported: set[str] = set()
    for node in walk(source):
        if isinstance(node, ast.ImportFrom):
            imported |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
    return {name for name in imported if re.search(r"(^|\.)test_\w+", name) and name.startswith("tests")}


def test_no_module_imports_a_test_file() -> None:
    """Shared values and helpers have their own modules, so that a test file can be moved or deleted alone."""
    assert find_in_files((ROOT / "tests").rglob("*.py"), find_test_imports) == {}


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
def test_imports_of_test_files_are_found(source: str, imports: set[str]) -> None:
    assert find_test_imports(source) == imports


SCENARIOS = {
    "act",
    "security",
    "slurm",
}  # test all of infx: in workflow runs, with hostile input, on a real cluster


def find_unmirrored(folders: set[str], packages: set[str]) -> set[str]:
    """Return the folders of tests whose name is not a package of infx."""
    return folders - packages - SCENARIOS


def test_tests_mirror_the_package() -> None:
    """A reader finds the tests of `infx/matrix/` in `tests/matrix/`."""
    folders = {path.relative_to(ROOT / "tests").parts[0] for path in (ROOT / "tests").glob("*/test_*.py")}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert find_unmirrored(folders, packages) == set()
    assert folders >= SCENARIOS
    assert find_unmirrored({"matrix", "act", "planner"}, {"matrix"}) == {"planner"}


def test_test_files_are_not_in_subfolders() -> None:
    places = (ROOT / "tests").rglob("test_*.py")
    assert [str(path) for path in places if len(path.relative_to(ROOT / "tests").parts) > 2] == []


BUILT = {"PullRequest", "Comment", "Run", "Job", "CommitStatus", "Collaborator"}


def find_built(source: str) -> set[str]:
    """Return the classes of `infx.model` that a source calls instead of `tests/builders.py`."""
    nodes = walk(source)
    imported = {
        alias.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "infx.model"
        for alias in node.names
    }
    called = {render_dotted(node.func) for node in nodes if isinstance(node, ast.Call)}
    return imported & called & BUILT


def test_only_the_builders_module_builds_model_values() -> None:
    allowed = {ROOT / "tests/builders.py", ROOT / "tests/test_model.py"}
    files = [path for path in (ROOT / "tests").rglob("*.py") if path not in allowed]
    assert find_in_files(files, find_built) == {}
    assert find_built((ROOT / "tests/builders.py").read_text(encoding="utf-8")) == BUILT


def find_imports(source: str, names: set[str]) -> set[str]:
    """Return the modules among `names` that a source imports outside functions, also those for types only."""
    imported = set()
    nodes = [walk(source)[0]]
    while nodes:
        for node in ast.iter_child_nodes(nodes.pop()):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                members = [f"{node.module}.{alias.name}" for alias in node.names]
                imported |= {name if name in names else node.module for name in members}
            elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                nodes.append(node)
    return imported & names


def find_cycle(imports: dict[str, set[str]]) -> list[str]:
    """Return the modules that import each other in a circle, sorted."""
    remaining = {name: set(imported) - {name} for name, imported in imports.items()}
    while loadable := {name for name, imported in remaining.items() if not imported}:
        remaining = {
            name: imported - loadable for name, imported in remaining.items() if name not in loadable
        }
    while unneeded := remaining.keys() - {name for imported in remaining.values() for name in imported}:
        remaining = {name: imported for name, imported in remaining.items() if name not in unneeded}
    return sorted(remaining)


def test_modules_do_not_import_each_other_in_a_circle() -> None:
    """The layers order the packages; this test orders the modules of a package."""
    files = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in PACKAGE.rglob("*.py")
    }
    imports = {name: find_imports(path.read_text(), set(files)) for name, path in files.items()}
    assert sum(map(len, imports.values())) > len(files)
    assert find_cycle(imports) == []


def test_a_circle_of_imports_is_found() -> None:
    names = {"infx.a", "infx.b", "infx.c", "infx.d", "infx.e"}
    sources = {
        "infx.a": "from infx import b",
        "infx.b": "if TYPE_CHECKING:\n    from infx.c import C",
        "infx.c": "import infx.a\nimport infx.d",
        "infx.d": "def ask():\n    from infx.a import A",
        "infx.e": "from infx.a import A",
    }
    imports = {name: find_imports(source, names) for name, source in sources.items()}
    assert find_cycle(imports) == ["infx.a", "infx.b", "infx.c"]


def find_callers(source: str) -> set[str]:
    """Return the imports that let a file call the command line: click's runner, the shell's `run`, or `main`."""
    imported = set()
    for node in walk(source):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
    return imported & {"click.testing", "infx.cli.shell", "infx.cli.main"}


CALLERS = {
    "calling.py",  # is used by all other tests
    "cli/test_demo.py",  # needs a demo without the temporary folder of `call`
    "cli/test_options.py",  # needs a terminal, and `call` captures the streams
    "cli/test_shell.py",  # tests the shell itself
}


def test_tests_call_the_command_line_through_one_module() -> None:
    tests = ROOT / "tests"
    callers = find_in_files(tests.rglob("*.py"), find_callers)
    assert {path.removeprefix("tests/") for path in callers} == CALLERS


@pytest.mark.parametrize(
    ("source", "callers"),
    [
        ("from click.testing import CliRunner", {"click.testing"}),
        ("import click.testing", {"click.testing"}),
        ("def test():\n    from infx.cli.shell import run", {"infx.cli.shell"}),
        ("from infx.cli import infx, main", {"infx.cli.main"}),
        ("from infx.cli import infx\nfrom tests.calling import call", set()),
    ],
)
def test_callers_of_the_command_line_are_found(source: str, callers: set[str]) -> None:
    assert find_callers(source) == callers

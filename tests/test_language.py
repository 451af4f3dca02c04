"""Check the words of every text that a person reads: no words that make sentences hard to read, and American spelling.

The list has archaic and literary words, and pronouns that hide who acts. GitHub's own pages use American spelling too.
"""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

from tests.conftest import ROOT
from tests.sources import find_in_files, walk

WORDS = re.compile(
    r"\b(told|said|stands|in vain|anew|besides?|of ours|nobody|somebody)\b",
    re.IGNORECASE,
)
BRITISH = re.compile(
    r"\b(\w*(?:behaviour|colour|favour|honour|neighbour|labell|modell|travell|judgement|catalogue|artefact|defence|licence)\w*"
    r"|(?:author|canonical|normal|recogn|serial|initial|organ|summar|minim|maxim|synchron|capital|categor|final|util)is(?:e|ed|es|ing|ation)"
    r"|analys(?:e|ed|es|ing)|cent(?:re|res)|grey|whilst)\b",
    re.IGNORECASE,
)
SUFFIXES = {".py", ".md", ".yml", ".yaml", ".toml", ".sh"}
NAMES = {"Makefile", "run"}
ELSEWHERE = {  # texts that are not the project's own words
    "tests/test_language.py",  # the list itself
    "perf-changelog.yaml",  # its past entries are immutable
    "infx/demo/data/perf-changelog.yaml",  # a link to it
}
LONGEST_NAME = 70  # characters of a test's name, which pytest prints on one line


def find_files() -> list[str]:
    """Return the tracked text files, relative to the root, or all text files outside a repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    names = listed.stdout.decode().split("\0") if listed.returncode == 0 else []
    paths = names or [
        path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*") if ".venv" not in path.parts
    ]
    return sorted(
        name
        for name in paths
        if (Path(name).suffix in SUFFIXES or Path(name).name in NAMES)
        and name not in ELSEWHERE
        and (ROOT / name).is_file()
    )


FILES = find_files()


def find_hard_words(text: str) -> list[str]:
    """Return the lines' numbers, each with a word that a reader may not know."""
    return [
        f"{number}: {match[0]}"
        for number, line in enumerate(text.splitlines(), start=1)
        for pattern in (WORDS, BRITISH)
        for match in pattern.finditer(line)
    ]


def test_every_file_uses_plain_american_words() -> None:
    assert find_in_files(map(ROOT.joinpath, FILES), find_hard_words) == {}


def test_hard_words_are_found() -> None:
    assert find_hard_words("It works.\nThe neighbour\nwas told.") == ["2: neighbour", "3: told"]


def test_the_files_of_the_project_are_found() -> None:
    assert {"README.md", "Makefile", "infx/policy/default.yaml", "docs/sweeps.md"} <= set(FILES)


def find_long_names(source: str) -> list[str]:
    functions = [node.name for node in walk(source) if isinstance(node, ast.FunctionDef)]
    return [name for name in functions if name.startswith("test_") and len(name) > LONGEST_NAME]


def test_names_of_tests_fit_on_a_line() -> None:
    files = [ROOT / name for name in FILES if Path(name).name.startswith("test_")]
    assert find_in_files(files, find_long_names) == {}
    assert find_long_names(f"def test_{'x' * 70}(): pass") == [f"test_{'x' * 70}"]

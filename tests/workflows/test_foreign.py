"""Check workflows as other people write them: every mistake is found at its line, and there are no false alarms.

Comments in the files name the expected problems: `# found: rule, rule` for errors, `# warned: rule` for warnings.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from infx.errors import Level
from infx.gather.workflow_files import read_sources
from infx.policy.load import default_policy
from infx.workflows.check import check_files

FILES = read_sources(Path(__file__).parent / "foreign/.github")
_MARK = re.compile(r"# (found|warned): ([a-z-]+(?:, [a-z-]+)*)")
LEVELS = {"found": Level.ERROR, "warned": Level.WARNING}


@pytest.mark.parametrize("path", FILES)
def test_the_right_findings_and_no_false_alarm(path: str) -> None:
    expected = {
        (number, rule, LEVELS[mark])
        for number, line in enumerate(FILES[path].decode().splitlines(), 1)
        for mark, rules in _MARK.findall(line)
        for rule in rules.split(", ")
    }
    problems = [problem for problem in check_files(FILES, default_policy()) if problem.path == path]
    actual = [(problem.line, problem.rule, problem.level) for problem in problems]
    assert set(actual) == expected
    assert len(actual) == len(expected)


def test_the_sample_has_good_and_bad_workflows() -> None:
    """The workflows of an ordinary project have almost no mistakes; those of a sweep have nearly all of them."""
    marks = {path.rpartition("/")[2]: len(_MARK.findall(data.decode())) for path, data in FILES.items()}
    assert set(marks) == {"action.yml", "ci.yml", "docs.yml", "release.yml", "sweep.yml", "triage.yml"}
    assert marks["sweep.yml"] > 10
    assert marks["ci.yml"] <= 2
    assert marks["release.yml"] == marks["docs.yml"] == 0

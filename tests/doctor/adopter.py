"""A repository that has adopted infx completely: everything that the doctor looks for is there."""

from __future__ import annotations

import re
from pathlib import Path

from infx.hub import seed
from tests.conftest import ROOT
from tests.repository import Repository

TOOLKIT = "acme/infx"
COMMIT = "1f" * 20  # the commit of infx that the workflows pin
POLICY = """\
repository: acme/bench
identities: ["github-actions[bot]", "bench-bot[bot]"]
sweep: {row-command: [bash, benchmarks/run.sh]}
workflows:
  required-checks: [changelog]
  runner-boundary: Runner group gpu admits only benchmark.yml of main.
"""
HOOKS = f"""\
repos:
  - repo: https://github.com/{TOOLKIT}
    rev: {COMMIT}
    hooks: [{{id: infx-config-check}}, {{id: infx-changelog-validate}}, {{id: infx-workflows-check}}]
"""
OWN = ("ci.yml", "release.yml", "shadow.yml")  # workflows that a complete adopter does not have
CHECKLISTS = ("docs/PR_REVIEW_CHECKLIST.md", "docs/PR_REVIEW_CHECKLIST_zh.md")


def list_workflows() -> dict[str, str]:
    """Return infx's own workflows as another repository has them: with pinned actions instead of its own ones."""
    files = {}
    for path in sorted((ROOT / ".github/workflows").glob("*.yml")):
        if path.name not in OWN:
            text = path.read_text("utf-8")
            files[f".github/workflows/{path.name}"] = re.sub(
                r"\./\.infx/(\.github/actions/\w+)", rf"{TOOLKIT}/\1@{COMMIT}", text
            )
    return files


def list_files() -> dict[str, str]:
    """Return all files of the repository."""
    link = "https://github.com/acme/bench/pull/1"
    return {
        seed.NVIDIA: seed.CONFIG.format(key="dsr1-fp8-h200-sglang", runner="h200", most=64),
        seed.AMD: seed.CONFIG.format(key="dsr1-fp8-mi300x-sglang", runner="mi300x", most=64),
        seed.RUNNERS: seed._RUNNERS,
        seed.CHANGELOG: seed._entry("dsr1-fp8-h200-sglang", "Measure DeepSeek-R1 on H200.", link),
        seed.POLICY: POLICY,
        ".github/CODEOWNERS": "* @mia\n",
        **{path: (ROOT / path).read_text("utf-8") for path in CHECKLISTS},
        "benchmarks/run.sh": "#!/bin/sh\n",
        ".gitattributes": "perf-changelog.yaml merge=infx-changelog\n",
        ".pre-commit-config.yaml": HOOKS,
        **list_workflows(),
    }


def make_adopter(folder: Path) -> Repository:
    """Make a clone of the repository, with a remote and with infx's merge driver."""
    repository = Repository.init(folder)
    repository.commit(list_files())
    repository.git.run("remote", "add", "origin", "https://github.com/acme/bench")
    repository.git.run("config", "merge.infx-changelog.driver", "infx changelog merge-driver %O %A %B %L %P")
    return repository

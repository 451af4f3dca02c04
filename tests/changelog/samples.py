"""Provide the small history that the cases share, and shorthands to judge a head against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from infx.changelog.keys import ConfigKeys
from infx.changelog.links import PullLinks
from infx.changelog.subject import Context
from infx.changelog.validate import ChangelogVerdict, validate
from infx.errors import Level
from infx.policy.stage import Stage

PATH = "perf-changelog.yaml"
KEY = "m1-fp8-h200-vllm"
CONFIGS = ConfigKeys(
    files=(
        ("configs/nvidia.yaml", f"# a comment\n{KEY}:\n  image: x\nm1-fp8-b200-vllm:\n  image: x\n".encode()),
    )
)
LINKS = PullLinks(
    server="https://github.com",
    repository="acme/bench",
    placeholders=("XXX",),
    former_names=("old-acme/bench",),
)
CONTEXT = Context(path=PATH, links=LINKS, number=77, configs=CONFIGS, base_name="origin/main")


RUNNERS = "labels:\n  h200: [h200-a_00]\n"


def config(*keys: str) -> str:
    """Return a master configuration that can be planned, with one row for each key."""
    return "".join(
        f"{key}:\n  image: vllm/vllm-openai:v0.20.0\n  model: acme/m1\n  model-prefix: m1\n  precision: fp8\n"
        "  framework: vllm\n  runner: h200\n  multinode: false\n  scenarios:\n    fixed-seq-len:\n"
        "    - {isl: 8192, osl: 1024, search-space: [{tp: 8, conc-list: [4]}]}\n"
        for key in keys
    )


def link(number: object) -> str:
    return f"https://github.com/acme/bench/pull/{number}"


def entry(pr_link: str = "XXX", *, key: str = KEY, text: str = '"new"', more: str = "") -> bytes:
    """Return one entry, without the empty line before it."""
    return f"- config-keys:\n    - {key}\n{more}  description:\n    - {text}\n  pr-link: {pr_link}\n".encode()


def new(pr_link: str = "XXX", **fields: Any) -> bytes:
    return b"\n" + entry(pr_link, **fields)


BASE = entry(link(10), text='"old one"')


def context(**changes: Any) -> Context:
    return replace(CONTEXT, **changes)


def judge(base: bytes, head: bytes, stage: Stage = Stage.PR, **changes: Any) -> ChangelogVerdict:
    return validate(base, head, context(stage=stage, **changes))


def errors(verdict: ChangelogVerdict) -> list[tuple[str, int | None]]:
    """Return (rule, line) of each error."""
    return [(problem.rule, problem.line) for problem in verdict.problems if problem.level is Level.ERROR]


def words(verdict: ChangelogVerdict) -> str:
    return "\n".join(str(problem) for problem in verdict.problems)

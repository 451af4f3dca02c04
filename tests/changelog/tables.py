"""Write the generated tables of docs/changelog.md: `python -m tests.changelog.tables`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infx.changelog.fix import fix
from infx.changelog.keys import ConfigKeys
from infx.changelog.links import PullLinks
from infx.changelog.rules import descriptions, fields, history, layout, link, text
from infx.changelog.subject import Context
from infx.changelog.validate import validate
from infx.errors import Level, Problem
from infx.git import Git
from tests.conftest import ROOT, SHARED

PAGE = ROOT / "docs/changelog.md"
BUNDLE = SHARED / "data/inferencex/history.bundle"
REPOSITORY = "SemiAnalysisAI/InferenceX"
CHANGELOG = "perf-changelog.yaml"
# In the order in which the page lists them.
RULES = (
    *text.RULES,
    *history.RULES,
    *layout.RULES,
    *descriptions.RULES,
    *fields.RULES,
    *link.RULES,
)
MASTERS = ("configs/nvidia-master.yaml", "configs/amd-master.yaml")


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A real pull request, judged with its own number."""

    number: int
    problems: tuple[Problem, ...]
    repaired: bool | None  # by `--fix`; None if it was valid


def judge_real_pulls(folder: Path) -> Iterator[Judged]:
    Git(folder).run("clone", "--quiet", "--bare", str(BUNDLE), "history.git")
    git = Git(folder / "history.git")
    tags = git.line("tag", "--list", "pr-*-head").split()
    for number in sorted(int(tag.split("-")[1]) for tag in tags):
        wanted = [
            (f"pr-{number}-base", CHANGELOG),
            *((f"pr-{number}-head", path) for path in (CHANGELOG, *MASTERS)),
        ]
        base, head, *masters = git.read_many(wanted)
        links = PullLinks(server="https://github.com", repository=REPOSITORY, placeholders=("XXX",))
        configs = ConfigKeys(
            files=tuple((path, data or b"") for path, data in zip(MASTERS, masters, strict=True))
        )
        context = Context(path=CHANGELOG, links=links, number=number, configs=configs)
        verdict = validate(base, head, context)
        repaired = None if verdict.ok else fix(base, head or b"", context).head is not None
        yield Judged(
            number=number,
            problems=tuple(problem for problem in verdict.problems if problem.level is Level.ERROR),
            repaired=repaired,
        )


def render_pulls(judged: list[Judged]) -> str:
    lines = ["| pull request | verdict | why | repaired by `--fix` |", "| --- | --- | --- | --- |"]
    for pull in judged:
        verdict = "refused" if pull.problems else "valid"
        reasons = "<br>".join(
            f"line {p.line}, `{p.rule}`: {p.message.replace('|', chr(92) + '|')}" for p in pull.problems
        )
        repaired = {None: "", True: "yes", False: "no"}[pull.repaired]
        lines.append(f"| {pull.number} | {verdict} | {reasons} | {repaired} |")
    return "\n".join(lines)


def render_rules() -> str:
    lines = ["| rule | meaning | reason |", "| --- | --- | --- |"]
    lines += [f"| `{rule.id}` | {rule.says} | {rule.why} |" for rule in RULES]
    return "\n".join(lines)


def read_section(name: str) -> str:
    text = PAGE.read_text()
    return text.split(f"<!-- {name} -->\n", 1)[1].split(f"\n<!-- end of {name} -->", 1)[0]


def write_section(name: str, table: str) -> None:
    before, remaining = PAGE.read_text().split(f"<!-- {name} -->\n", 1)
    _, after = remaining.split(f"\n<!-- end of {name} -->", 1)
    PAGE.write_text(f"{before}<!-- {name} -->\n{table}\n<!-- end of {name} -->{after}")


def main() -> None:
    write_section("rules", render_rules())
    with tempfile.TemporaryDirectory() as folder:
        write_section("pulls", render_pulls(list(judge_real_pulls(Path(folder)))))


if __name__ == "__main__":
    main()

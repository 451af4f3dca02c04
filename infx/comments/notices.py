"""Why nothing runs, said on the pull request that waits for it: one comment for each cause, gone with the cause.

Which cause holds is the gate's business (`infx.policy.decide`); here are only the words. A notice whose cause is
gone is deleted, not marked as resolved: what should be there then depends on the facts of now alone, and a cause
that comes back is told anew.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from infx.comments.sticky import Sticky
from infx.errors import Problem
from infx.escape import code, fenced, foreign
from infx.policy.decision import Decision, Reason
from infx.policy.facts import Facts, read_labels
from infx.policy.model import Policy

MAX_LINES = 30  # files or problems of one notice


class Cause(StrEnum):
    """The value stands in the marker."""

    CONFLICT = "conflict"
    LABELS = "labels"
    CHANGELOG = "changelog"
    NO_ENTRY = "no-entry"
    FORK = "fork"
    APPROVAL_VOID = "approval-void"
    TOKEN_LABEL = "token-label"  # noqa: S105 - a name


_BY_REASON = {
    Reason.MERGE_CONFLICT: Cause.CONFLICT,
    Reason.CONFLICTING_LABELS: Cause.LABELS,
    Reason.CHANGELOG_INVALID: Cause.CHANGELOG,
    Reason.CHANGELOG_UNTOUCHED: Cause.NO_ENTRY,
    Reason.APPROVAL_MISSING: Cause.FORK,
    Reason.APPROVAL_STALE: Cause.APPROVAL_VOID,
    Reason.LABEL_STARTED_NOTHING: Cause.TOKEN_LABEL,
}


@dataclass(frozen=True, kw_only=True)
class Ground:
    """What a notice speaks of. problems: of the changelog. clone_url: from where the base branch can be fetched."""

    policy: Policy
    facts: Facts
    problems: tuple[Problem, ...]
    clone_url: str

    @property
    def base(self) -> str:
        return self.policy.base_branch

    @property
    def head_sha(self) -> str:
        return self.facts.pull.head_sha if self.facts.pull else ""


def find_causes(decision: Decision, problems: Sequence[Problem], *, is_open: bool) -> tuple[Cause, ...]:
    """The causes that hold, in a fixed order. A broken changelog is told whether or not a label is on, because
    it will not mend itself; everything else only to those who asked for a sweep.
    """
    if not is_open:
        return ()
    reasons = {decision.reason, *decision.also}
    found = {cause for reason, cause in _BY_REASON.items() if reason in reasons}
    if problems:
        found.add(Cause.CHANGELOG)
    return tuple(cause for cause in Cause if cause in found)


def make_notices(ground: Ground, causes: Sequence[Cause]) -> tuple[Sticky, ...]:
    """A comment for every cause there is: with a text for those that hold, with None for the others."""
    return tuple(
        Sticky(
            key=f"notice {cause}",
            marker=ground.policy.comments.notices.marker.replace("{cause}", cause),
            text=render(ground, cause) if cause in causes else None,
        )
        for cause in Cause
    )


def render(ground: Ground, cause: Cause) -> str:
    english, chinese = _RENDERERS[cause](ground)
    return f"{english.strip()}\n\n---\n\n{chinese.strip()}\n"


def _conflict(ground: Ground) -> tuple[str, str]:
    files = ground.facts.conflicts
    shown = _list([code(path) for path in files])
    only_changelog = files == (ground.policy.changelog,)
    merge = f"git fetch {ground.clone_url} {ground.base}\ngit merge FETCH_HEAD\n"
    if only_changelog:
        commands = fenced(merge + "infx changelog resolve\ngit commit --no-edit\ngit push")
        fix = f"Both sides appended to it, which a program can put in order:\n\n{commands}"
        fix_chinese = f"双方都在末尾追加了记录，程序可以自动排好顺序：\n\n{commands}"
    else:
        commands = fenced(merge + "# resolve the files above\ngit commit\ngit push")
        fix = f"Merge {code(ground.base)}, resolve the conflict and push:\n\n{commands}"
        fix_chinese = f"请合并 {code(ground.base)}，解决冲突后再推送：\n\n{commands}"
    return (
        f"**No sweep can start: this branch conflicts with {code(ground.base)}.** GitHub starts no workflow for a "
        f"pull request that it cannot merge; a push or a label has no effect until then.\n\n{shown}\n\n{fix}",
        f"**无法启动 sweep：此分支与 {code(ground.base)} 冲突。** GitHub 不会为无法合并的 PR 启动任何工作流；"
        f"解决冲突之前，推送或添加标签都不起作用。\n\n{shown}\n\n{fix_chinese}",
    )


def _labels(ground: Ground) -> tuple[str, str]:
    on = ground.facts.pull.labels if ground.facts.pull else ()
    primary = [code(name) for name in read_labels(on, ground.policy.labels).primary_names]
    return (
        f"**No sweep starts: {len(primary)} labels ask for different ones**, {' and '.join(primary)}. "
        "Keep the one you mean and take the others off.",
        f"**不会启动 sweep：有 {len(primary)} 个互相冲突的标签**：{'、'.join(primary)}。请只保留一个。",
    )


def _changelog(ground: Ground) -> tuple[str, str]:
    problems = ground.problems
    count, path = len(problems), code(ground.policy.changelog)
    shown = _list([_problem(problem) for problem in problems])
    fix = fenced("infx changelog validate --fix")
    plural = "problem" if count == 1 else "problems"
    return (
        f"**No sweep starts: {path} has {count} {plural}.**\n\n{shown}\n\n"
        f"This repairs whatever can only be meant one way, and says the rest:\n\n{fix}",
        f"**不会启动 sweep：{path} 有 {count} 处问题**（见上）。以下命令会修复含义唯一的问题，并列出其余的：\n\n{fix}",
    )


def _no_entry(ground: Ground) -> tuple[str, str]:
    path, command = code(ground.policy.changelog), fenced("infx changelog add")
    return (
        f"**No sweep starts: the label is on, but {path} is untouched.** An entry there says which configurations "
        f"run. Append one, or take the label off:\n\n{command}",
        f"**不会启动 sweep：已添加标签，但 {path} 没有改动。** 要运行哪些配置由其中的记录决定。"
        f"请追加一条记录，或移除标签：\n\n{command}",
    )


def _fork(ground: Ground) -> tuple[str, str]:
    command = fenced(f"{ground.policy.sweep.approve_command} {ground.head_sha}")
    return (
        "**No sweep starts yet: this pull request comes from a fork.** Its code runs on the GPU machines only after "
        "somebody with write access has read this revision and approved it with the comment\n\n"
        f"{command}\n\nThe changelog is checked without it.",
        "**暂不启动 sweep：此 PR 来自 fork。** 需要有写权限的人审阅当前版本，并用以下评论批准后，代码才会在 GPU 机器上运行："
        f"\n\n{command}\n\n变更记录的检查不受此限制。",
    )


def _approval_void(ground: Ground) -> tuple[str, str]:
    approved = ground.facts.approval.sha if ground.facts.approval else ""
    command = fenced(f"{ground.policy.sweep.approve_command} {ground.head_sha}")
    return (
        f"**The approval is void: it is for {approved}, and the head is now {ground.head_sha}.** Nobody has approved "
        f"what was pushed since. Somebody with write access can do so after reading it:\n\n{command}",
        f"**批准已失效：批准的是 {approved}，而当前版本是 {ground.head_sha}。** 之后推送的内容尚未获得批准。"
        f"有写权限的人审阅后可以再次批准：\n\n{command}",
    )


def _token_label(ground: Ground) -> tuple[str, str]:
    pull = ground.facts.pull.number if ground.facts.pull else 0
    workflow = ground.policy.sweep.workflow.rpartition("/")[2]
    command = fenced(f"gh workflow run {workflow} -f pr={pull}")
    actor = code(ground.facts.label_actor or "")
    return (
        f"**No sweep started: the label was put on by {actor}**, and what a workflow's token does starts no workflow. "
        f"Take the label off and put it on by hand, or start the sweep with\n\n{command}",
        f"**sweep 没有启动：标签是由 {actor} 添加的**，而工作流令牌的操作不会触发其他工作流。"
        f"请手动移除并重新添加标签，或用以下命令启动：\n\n{command}",
    )


_RENDERERS: dict[Cause, Callable[[Ground], tuple[str, str]]] = {
    Cause.CONFLICT: _conflict,
    Cause.LABELS: _labels,
    Cause.CHANGELOG: _changelog,
    Cause.NO_ENTRY: _no_entry,
    Cause.FORK: _fork,
    Cause.APPROVAL_VOID: _approval_void,
    Cause.TOKEN_LABEL: _token_label,
}


def _problem(problem: Problem) -> str:
    where = f"line {problem.line}: " if problem.line else ""
    hint = f" {foreign(problem.hint)}" if problem.hint else ""
    return f"{where}{foreign(problem.message)}{hint}"


def _list(items: Sequence[str]) -> str:
    lines = [f"- {item}" for item in items[:MAX_LINES]]
    if rest := len(items) - len(lines):
        lines.append(f"- … {rest} more · 另有 {rest} 项")
    return "\n".join(lines)

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
from infx.escape import code, fenced, prose
from infx.phrases import count, join_words
from infx.policy.decision import Decision, Reason
from infx.policy.facts import Facts, read_labels
from infx.policy.model import Policy
from infx.policy.words import dispatch_command
from infx.reuse.command import list_usage

MAX_LINES = 30  # files or problems of one notice
MAX_LINE = 120  # characters of somebody's line that is shown


class Cause(StrEnum):
    """The value stands in the marker."""

    CONFLICT = "conflict"
    LABELS = "labels"
    CHANGELOG = "changelog"
    NO_ENTRY = "no-entry"
    FORK = "fork"
    APPROVAL_VOID = "approval-void"
    TOKEN_LABEL = "token-label"  # noqa: S105 - a name
    LINKS = "links"
    REUSE_COMMAND = "reuse-command"


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
    """What a notice speaks of. problems: of the changelog. clone_url: from where the base branch can be fetched.
    misread: lines of comments that were meant as a reuse command and are not.
    """

    policy: Policy
    facts: Facts
    problems: tuple[Problem, ...]
    clone_url: str
    misread: tuple[str, ...] = ()

    @property
    def base(self) -> str:
        return self.policy.base_branch

    @property
    def head_sha(self) -> str:
        return self.facts.pull.head_sha if self.facts.pull else ""


def find_causes(
    decision: Decision,
    problems: Sequence[Problem],
    *,
    is_open: bool,
    links: bool = False,
    misread: bool = False,
) -> tuple[Cause, ...]:
    """The causes that hold, in a fixed order. A broken changelog is told whether or not a label is on, because
    it will not mend itself; everything else only to those who asked for a sweep.

    links: whether a merge is near and waits for the author to make links canonical. misread: whether somebody tried to
    give a reuse command.
    """
    if not is_open:
        return ()
    reasons = {decision.reason, *decision.also}
    found = {cause for reason, cause in _BY_REASON.items() if reason in reasons}
    if problems:
        found.add(Cause.CHANGELOG)
    if links:
        found.add(Cause.LINKS)
    if misread:
        found.add(Cause.REUSE_COMMAND)
    if Cause.APPROVAL_VOID in found:
        found.discard(Cause.FORK)  # the same, said for the first time
    return tuple(cause for cause in Cause if cause in found)


def make_notices(ground: Ground, causes: Sequence[Cause]) -> tuple[Sticky, ...]:
    """A comment for every cause there is: with a text for those that hold, with None for the others. None at all for
    a conflict of which GitHub does not know yet whether there is one: what was said about it stays.
    """
    pull = ground.facts.pull
    unknown = {Cause.CONFLICT} if pull and pull.is_open and pull.mergeable is None else set()
    return tuple(
        Sticky(
            key=f"notice {cause}",
            marker=ground.policy.comments.notices.marker.replace("{cause}", cause),
            text=render(ground, cause) if cause in causes else None,
        )
        for cause in Cause
        if cause not in unknown
    )


def render(ground: Ground, cause: Cause) -> str:
    """English with the details, then, below a rule, the gist in Chinese: commands and lists are not said twice."""
    english, chinese = _RENDERERS[cause](ground)
    return f"{english.strip()}\n\n---\n\n{chinese.strip()}\n"


def _conflict(ground: Ground) -> tuple[str, str]:
    files, base = ground.facts.conflicts, code(ground.base)
    shown = _list([code(path) for path in files]) or "- *GitHub does not say which files.*"
    merge = f"git fetch {ground.clone_url} {ground.base}\ngit merge FETCH_HEAD\n"
    if files == (ground.policy.changelog,):
        commands = fenced(f"{merge}infx changelog resolve\n{_commit(ground)}\ngit push")
        fix = "Both sides appended to it, and infx can put that in order:"
        chinese = "双方都在变更记录末尾追加了内容，infx 可以自动排好顺序，命令见上。"
    else:
        commands = fenced(f"{merge}# resolve the files above\ngit commit\ngit push")
        fix = f"Merge {base}, resolve the conflict and push:"
        chinese = f"请合并 {base}，解决上面列出的文件的冲突后再推送，命令见上。"
    return (
        f"**No sweep can start: this branch conflicts with {base}.** GitHub starts no workflow for a pull request "
        f"that it cannot merge, so until then a push or a label has no effect. In conflict:\n\n{shown}\n\n{fix}\n\n"
        f"{commands}",
        f"**无法启动 sweep：此分支与 {base} 冲突。** GitHub 不会为无法合并的 PR 启动任何工作流；"
        f"解决冲突之前，推送或添加标签都不起作用。{chinese}",
    )


def _commit(ground: Ground) -> str:
    """A merge that only puts the changelog in order measures nothing new."""
    if any(run.swept for run in ground.facts.runs):
        return f'git commit -m "Merge {ground.base} {ground.policy.sweep.skip_marker}"'
    return "git commit --no-edit"


def _labels(ground: Ground) -> tuple[str, str]:
    on = ground.facts.pull.labels if ground.facts.pull else ()
    primary = [code(name) for name in read_labels(on, ground.policy.labels).primary_names]
    return (
        f"**No sweep starts: {len(primary)} labels ask for different ones**, {join_words(primary)}. "
        "Keep the one you mean and take the others off.",
        f"**不会启动 sweep：有 {len(primary)} 个互相冲突的标签**：{'、'.join(primary)}。请只保留一个。",
    )


def _changelog(ground: Ground) -> tuple[str, str]:
    problems, path = ground.problems, code(ground.policy.changelog)
    shown = _list([_problem(problem) for problem in problems])
    fix = fenced("infx changelog validate --fix")
    return (
        f"**No sweep starts: {path} has {count(len(problems), 'problem')}.**\n\n{shown}\n\n"
        f"This repairs whatever can only be meant one way, and says the rest:\n\n{fix}",
        f"**不会启动 sweep：{path} 有 {len(problems)} 处问题**，详见上文。上面的命令会修复含义唯一的问题，并列出其余的。",
    )


def _no_entry(ground: Ground) -> tuple[str, str]:
    path = code(ground.policy.changelog)
    return (
        f"**No sweep starts: the label is on, but {path} is untouched.** What runs is what an entry there names. "
        f"Append one (`infx changelog add` does), or take the label off.",
        f"**不会启动 sweep：已添加标签，但 {path} 没有改动。** 要运行哪些配置由其中的记录决定。"
        "请用 `infx changelog add` 追加一条记录，或移除标签。",
    )


def _fork(ground: Ground) -> tuple[str, str]:
    command = fenced(f"{ground.policy.sweep.approve_command} {ground.head_sha}")
    return (
        "**No sweep starts yet: this pull request comes from a fork.** Its code gets onto the GPU machines only after "
        f"somebody with write access has read this revision and says so in a comment:\n\n{command}\n\n"
        "The changelog is checked without it.",
        "**暂不启动 sweep：此 PR 来自 fork。** 有写权限的人审阅当前版本并发表上面的评论后，代码才会在 GPU 机器上运行。"
        "变更记录的检查不受此限制。",
    )


def _approval_void(ground: Ground) -> tuple[str, str]:
    approved = ground.facts.approval.sha if ground.facts.approval else ""
    command = fenced(f"{ground.policy.sweep.approve_command} {ground.head_sha}")
    return (
        f"**The approval is void: it is for {approved}, and the head is now {ground.head_sha}.** Nobody has approved "
        f"what was pushed since. Somebody with write access who has read it can:\n\n{command}",
        f"**批准已失效：批准的是 {approved}，而当前版本是 {ground.head_sha}。** 之后推送的内容尚未获得批准；"
        "有写权限的人审阅后，可以用上面的评论再次批准。",
    )


def _token_label(ground: Ground) -> tuple[str, str]:
    pull = ground.facts.pull
    command = fenced(dispatch_command(ground.policy, pull) if pull else "")
    actor = code(ground.facts.label_actor or "")
    return (
        f"**No sweep started: {actor} put the label on**, and what a workflow's token does starts no workflow. "
        f"Take the label off and put it on by hand, or start the sweep with\n\n{command}",
        f"**sweep 没有启动：标签是由 {actor} 添加的**，而工作流令牌的操作不会触发其他工作流。"
        "请手动移除并重新添加标签，或用上面的命令启动。",
    )


def _links(ground: Ground) -> tuple[str, str]:
    pull = ground.facts.pull.number if ground.facts.pull else 0
    path, marker = ground.policy.changelog, ground.policy.sweep.skip_marker
    command = fenced(
        f"infx changelog canonicalize --pr {pull} --write\n"
        f"git commit -m 'Canonical changelog link {marker}' {path}\ngit push"
    )
    return (
        f"**Before the merge, the link in {code(path)} must be canonical.** In the merge queue it is too late: what is "
        f"pushed to a queued pull request is lost. The sweep stays valid.\n\n{command}",
        f"**合并之前，{code(path)} 中的链接必须改为规范形式。** 进入合并队列后再推送的内容会丢失。"
        "请先运行上面的命令；已完成的 sweep 仍然有效。",
    )


def _reuse_command(ground: Ground) -> tuple[str, str]:
    shown = _list([code(line[:MAX_LINE]) for line in ground.misread])
    usage = fenced("\n".join(list_usage(ground.policy.reuse.commands)))
    return (
        f"**No finished sweep is reused: this command is not understood.**\n\n{shown}\n\n"
        f"Write it on a line of its own, the number with the digits 0 to 9, and nothing behind it:\n\n{usage}",
        "**没有复用任何已完成的 sweep：上面的命令无法识别。** 命令必须单独成行，运行编号只用半角数字 0 到 9，"
        "后面不要加其他内容，写法见上。",
    )


_RENDERERS: dict[Cause, Callable[[Ground], tuple[str, str]]] = {
    Cause.CONFLICT: _conflict,
    Cause.LABELS: _labels,
    Cause.CHANGELOG: _changelog,
    Cause.NO_ENTRY: _no_entry,
    Cause.FORK: _fork,
    Cause.APPROVAL_VOID: _approval_void,
    Cause.TOKEN_LABEL: _token_label,
    Cause.LINKS: _links,
    Cause.REUSE_COMMAND: _reuse_command,
}


def _problem(problem: Problem) -> str:
    where = f"line {problem.line}: " if problem.line else ""
    hint = f" {prose(problem.hint)}" if problem.hint else ""
    return f"{where}{prose(problem.message)}{hint}"


def _list(items: Sequence[str]) -> str:
    lines = [f"- {item}" for item in items[:MAX_LINES]]
    if rest := len(items) - len(lines):
        lines.append(f"- … {rest} more · 另有 {rest} 项")
    return "\n".join(lines)

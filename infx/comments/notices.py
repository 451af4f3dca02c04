"""Why nothing runs, said on the pull request that waits for it: one comment for each cause, gone with the cause.

Which cause holds is the gate's business (`infx.gate.decide`); here are only the words. A notice whose cause is
gone is deleted, not marked as resolved: what should be there then depends on the facts of now alone, and a cause
that comes back is told anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from infx.changelog.subject import fix_command, render_repair_hint
from infx.comments.languages import Words, join_inline, words
from infx.comments.sticky import Sticky
from infx.errors import Problem
from infx.escape import code, fenced, prose
from infx.gate.decision import Decision, Reason
from infx.gate.facts import GateFacts, read_labels
from infx.gate.words import dispatch_command
from infx.phrases import count, join_words
from infx.policy.model import Language, Policy
from infx.reuse.command import list_usage

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
class NoticeContext:
    """What a notice speaks of. problems: of the changelog. clone_url: from where the base branch can be fetched.
    misread: lines of comments that were meant as a reuse command and are not.
    """

    policy: Policy
    facts: GateFacts
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


def make_notices(context: NoticeContext, causes: Sequence[Cause]) -> tuple[Sticky, ...]:
    """A comment for every cause there is: with a text for those that hold, with None for the others. None at all for
    a conflict of which GitHub does not know yet whether there is one: what was said about it stays.
    """
    pull = context.facts.pull
    unknown = {Cause.CONFLICT} if pull and pull.is_open and pull.mergeable is None else set()
    return tuple(_make(context, cause, holds=cause in causes) for cause in Cause if cause not in unknown)


def _make(context: NoticeContext, cause: Cause, *, holds: bool) -> Sticky:
    marker = context.policy.comments.notices.marker.replace("{cause}", cause)
    key, languages = f"notice {cause}", context.policy.comments.languages
    if not holds:
        return Sticky(key=key, marker=marker, text=None)
    notice = _RENDERERS[cause](context)
    first, *others = languages
    below = [notice.fix, notice.commands, notice.after]
    after = [text if isinstance(text, str) else text[first] for text in below if text]
    gists = [f"---\n\n{notice.gist[language]}" for language in others]
    return Sticky(
        key=key,
        marker=marker,
        text=notice.lead[first],
        items=notice.items,
        after="\n\n".join([*after, *gists]),
        languages=languages,
    )


@dataclass(frozen=True, kw_only=True)
class Notice:
    """The words of a notice. Commands and lists stand once, in the first language's part.

    Attributes:
        lead: what is wrong, and why.
        items: a list, such as files; the only part that is ever cut.
        fix: what the commands do.
        commands: a code block.
        after: what else there is to know.
        gist: all of it in short, for the languages that are not the first one.
    """

    lead: Words
    gist: Words
    items: tuple[str, ...] = ()
    fix: Words | None = None
    commands: str = ""
    after: Words | None = None


def _conflict(context: NoticeContext) -> Notice:
    files, base = context.facts.conflicts, code(context.base)
    unnamed = words("*GitHub does not say which files.*", "*GitHub 没有说明是哪些文件。*")
    languages = context.policy.comments.languages
    merge = f"git fetch {context.clone_url} {context.base}\ngit merge FETCH_HEAD\n"
    if files == (context.policy.changelog,):
        commands = fenced(f"{merge}infx changelog resolve\n{_commit(context)}\ngit push")
        fix = words(
            "Both sides appended to it, and infx can put that in order:",
            "双方都在变更记录末尾追加了内容，infx 可以自动排好顺序：",
        )
        gist = words(
            "Both sides appended to the changelog, and infx can put that in order; see the commands above.",
            "双方都在变更记录末尾追加了内容，infx 可以自动排好顺序，命令见上。",
        )
    else:
        commands = fenced(f"{merge}# resolve the files above\ngit commit\ngit push")
        fix = words(f"Merge {base}, resolve the conflict and push:", f"请合并 {base}，解决冲突后再推送：")
        gist = words(
            f"Merge {base}, resolve the conflict in the files above and push; see the commands above.",
            f"请合并 {base}，解决上面列出的文件的冲突后再推送，命令见上。",
        )
    english = (
        f"**No sweep can start: this branch conflicts with {base}.** GitHub starts no workflow for a pull request "
        f"that it cannot merge, so until then a push or a label has no effect."
    )
    chinese = (
        f"**无法启动 sweep：此分支与 {base} 冲突。** GitHub 不会为无法合并的 PR 启动任何工作流；"
        f"解决冲突之前，推送或添加标签都不起作用。"
    )
    return Notice(
        lead=words(f"{english} In conflict:", f"{chinese}冲突的文件："),
        items=tuple(code(path) for path in files) or (join_inline(unnamed, languages),),
        fix=fix,
        commands=commands,
        gist=words(f"{english} {gist[Language.ENGLISH]}", f"{chinese}{gist[Language.CHINESE]}"),
    )


def _commit(context: NoticeContext) -> str:
    """A merge that only puts the changelog in order measures nothing new."""
    if any(run.swept for run in context.facts.runs):
        return f'git commit -m "Merge {context.base} {context.policy.sweep.skip_marker}"'
    return "git commit --no-edit"


def _labels(context: NoticeContext) -> Notice:
    on = context.facts.pull.labels if context.facts.pull else ()
    primary = [code(name) for name in read_labels(on, context.policy.labels).primary_names]
    said = words(
        f"**No sweep starts: {count(len(primary), 'label')} ask for different ones**, {join_words(primary)}. "
        "Keep the one you mean and take the others off.",
        f"**不会启动 sweep：有 {len(primary)} 个互相冲突的标签**：{'、'.join(primary)}。请只保留一个。",
    )
    return Notice(lead=said, gist=said)


def _changelog(context: NoticeContext) -> Notice:
    problems, path = context.problems, code(context.policy.changelog)
    number = context.facts.pull.number if context.facts.pull else None
    english = f"**No sweep starts: {path} has {count(len(problems), 'problem')}.**"
    chinese = f"**不会启动 sweep：{path} 有 {len(problems)} 处问题**"
    return Notice(
        lead=words(english, f"{chinese}："),
        items=tuple(_problem(problem, number) for problem in problems),
        fix=words(
            "This repairs whatever can only be meant one way, and says the rest:",
            "下面的命令会修复含义唯一的问题，并列出其余的：",
        ),
        commands=fenced(fix_command(number)),
        gist=words(
            f"{english} They are listed above. The command above repairs whatever can only be meant one way, and says the rest.",
            f"{chinese}，详见上文。上面的命令会修复含义唯一的问题，并列出其余的。",
        ),
    )


def _no_entry(context: NoticeContext) -> Notice:
    path = code(context.policy.changelog)
    said = words(
        f"**No sweep starts: the label is on, but {path} is untouched.** What runs is what an entry there names. "
        f"Append one (`infx changelog add` does), or take the label off.",
        f"**不会启动 sweep：已添加标签，但 {path} 没有改动。** 要运行哪些配置由其中的记录决定。"
        "请用 `infx changelog add` 追加一条记录，或移除标签。",
    )
    return Notice(lead=said, gist=said)


def _fork(context: NoticeContext) -> Notice:
    english, chinese = (
        "**No sweep starts yet: this pull request comes from a fork.**",
        "**暂不启动 sweep：此 PR 来自 fork。**",
    )
    return Notice(
        lead=words(
            f"{english} Its code gets onto the GPU machines only after "
            "somebody with write access has read this revision and says so in a comment:",
            f"{chinese} 有写权限的人审阅当前版本并发表下面的评论后，代码才会在 GPU 机器上运行：",
        ),
        commands=fenced(f"{context.policy.sweep.approve_command} {context.head_sha}"),
        after=words("The changelog is checked without it.", "变更记录的检查不受此限制。"),
        gist=words(
            f"{english} Its code gets onto the GPU machines only after somebody with write access has read this revision "
            "and posts the comment above. The changelog is checked without it.",
            f"{chinese} 有写权限的人审阅当前版本并发表上面的评论后，代码才会在 GPU 机器上运行。变更记录的检查不受此限制。",
        ),
    )


def _approval_void(context: NoticeContext) -> Notice:
    approved = context.facts.approval.sha if context.facts.approval else ""
    english = (
        f"**The approval is void: it is for {approved}, and the head is now {context.head_sha}.** Nobody has approved "
        "what was pushed since."
    )
    chinese = (
        f"**批准已失效：批准的是 {approved}，而当前版本是 {context.head_sha}。** 之后推送的内容尚未获得批准；"
    )
    return Notice(
        lead=words(
            f"{english} Somebody with write access who has read it can:",
            f"{chinese}有写权限的人审阅后，可以用下面的评论再次批准：",
        ),
        commands=fenced(f"{context.policy.sweep.approve_command} {context.head_sha}"),
        gist=words(
            f"{english} Somebody with write access who has read it can, by the comment above.",
            f"{chinese}有写权限的人审阅后，可以用上面的评论再次批准。",
        ),
    )


def _token_label(context: NoticeContext) -> Notice:
    pull, actor = context.facts.pull, code(context.facts.label_actor or "")
    english = (
        f"**No sweep started: {actor} put the label on**, and what a workflow's token does starts no workflow. "
        "Take the label off and put it on by hand, or start the sweep"
    )
    chinese = f"**sweep 没有启动：标签是由 {actor} 添加的**，而工作流令牌的操作不会触发其他工作流。请手动移除并重新添加标签，"
    return Notice(
        lead=words(f"{english} with", f"{chinese}或用下面的命令启动："),
        commands=fenced(dispatch_command(context.policy, pull) if pull else ""),
        gist=words(f"{english} with the command above.", f"{chinese}或用上面的命令启动。"),
    )


def _links(context: NoticeContext) -> Notice:
    pull = context.facts.pull.number if context.facts.pull else 0
    path, marker = context.policy.changelog, context.policy.sweep.skip_marker
    english = (
        f"**Before the merge, the link in {code(path)} must be canonical.** In the merge queue it is too late: what is "
        "pushed to a queued pull request is lost. The sweep stays valid."
    )
    chinese = f"**合并之前，{code(path)} 中的链接必须改为规范形式。** 进入合并队列后再推送的内容会丢失。"
    return Notice(
        lead=words(english, f"{chinese}已完成的 sweep 仍然有效。"),
        commands=fenced(
            f"infx changelog canonicalize --pr {pull} --write\n"
            f"git commit -m 'Canonical changelog link {marker}' {path}\ngit push"
        ),
        gist=words(
            f"{english} Run the commands above first.",
            f"{chinese}请先运行上面的命令；已完成的 sweep 仍然有效。",
        ),
    )


def _reuse_command(context: NoticeContext) -> Notice:
    english, chinese = (
        "**No finished sweep is reused: this command is not understood.**",
        "**没有复用任何已完成的 sweep：命令无法识别。**",
    )
    return Notice(
        lead=words(english, chinese),
        items=tuple(code(line[:MAX_LINE]) for line in context.misread),
        fix=words(
            "Write it on a line of its own, the number with the digits 0 to 9, and nothing behind it:",
            "命令必须单独成行，运行编号只用半角数字 0 到 9，后面不要加其他内容：",
        ),
        commands=fenced("\n".join(list_usage(context.policy.reuse.commands))),
        gist=words(
            f"{english} Write it on a line of its own, the number with the digits 0 to 9, and nothing behind it, as above.",
            f"{chinese} 命令必须单独成行，运行编号只用半角数字 0 到 9，后面不要加其他内容，写法见上。",
        ),
    )


_RENDERERS: dict[Cause, Callable[[NoticeContext], Notice]] = {
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


def _problem(problem: Problem, number: int | None) -> str:
    """Without the command that repairs it, which stands below the list, once."""
    where = f"line {problem.line}: " if problem.line else ""
    hint = (problem.hint or "").replace(render_repair_hint(number), "")
    return where + " ".join(_copyable(text) for text in (problem.message, hint.strip()) if text)


def _copyable(text: str) -> str:
    """Our own sentence; addresses in it become code too, for in plain text a hidden character keeps them inert."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = (re.sub(r"https?://[^\s`]*[^\s`.,;:!?)]", r"`\g<0>`", part) for part in parts[::2])
    return prose("".join(parts))

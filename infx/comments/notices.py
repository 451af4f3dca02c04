"""Render the notices that explain on a pull request why no sweep runs: one comment for each cause.

The gate (`infx.gate.decide`) finds the causes. A notice is deleted when its cause is resolved, so that the wanted
comments depend only on the current facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import StrEnum

from infx.changelog.subject import fix_command, render_repair_hint
from infx.comments.languages import Words, join_inline, words
from infx.comments.reuse_notice import describe_reuse, needs_notice
from infx.comments.sticky import Sticky
from infx.errors import Problem
from infx.escape import code, fenced, prose
from infx.gate.decision import Decision, Reason
from infx.gate.facts import GateFacts, read_labels
from infx.gate.words import dispatch_command
from infx.phrases import count, join_words
from infx.policy.model import Language, Policy
from infx.records import record
from infx.reuse.command import list_usage
from infx.reuse.decision import ReuseDecision

MAX_LINE = 120  # characters shown of a line from a person's comment


class Cause(StrEnum):
    """The cause of a notice. The value is part of the comment's marker."""

    CONFLICT = "conflict"
    LABELS = "labels"
    CHANGELOG = "changelog"
    NO_ENTRY = "no-entry"
    FORK = "fork"
    APPROVAL_VOID = "approval-void"
    TOKEN_LABEL = "token-label"  # noqa: S105 - a name
    LINKS = "links"
    REUSE_COMMAND = "reuse-command"
    REUSE = "reuse"


_BY_REASON = {
    Reason.MERGE_CONFLICT: Cause.CONFLICT,
    Reason.CONFLICTING_LABELS: Cause.LABELS,
    Reason.CHANGELOG_INVALID: Cause.CHANGELOG,
    Reason.CHANGELOG_UNTOUCHED: Cause.NO_ENTRY,
    Reason.APPROVAL_MISSING: Cause.FORK,
    Reason.APPROVAL_STALE: Cause.APPROVAL_VOID,
    Reason.LABEL_STARTED_NOTHING: Cause.TOKEN_LABEL,
}


@record
class NoticeContext:
    """Everything that a notice may mention."""

    policy: Policy
    facts: GateFacts
    problems: tuple[Problem, ...]  # problems of the changelog
    clone_url: str  # where the base branch can be fetched from
    misread: tuple[str, ...] = ()  # lines of comments that look like a reuse command, but are not valid
    reuse: ReuseDecision | None = None
    is_reuse_known: bool = True  # False: there is a command, but no clone to decide about it

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
    reuse: ReuseDecision | None = None,
) -> tuple[Cause, ...]:
    """Return the causes that apply, in a fixed order.

    Args:
        problems: problems of the changelog. Unlike other causes, they are reported even without a sweep label.
        links: whether the merge is near and the author must make links canonical first.
        misread: whether a comment has a reuse command that is not valid.
        reuse: the answer to the reuse command that counts.
    """
    if not is_open:
        return ()
    reasons = {decision.reason, *decision.also}
    causes = {cause for reason, cause in _BY_REASON.items() if reason in reasons}
    if problems:
        causes.add(Cause.CHANGELOG)
    if links:
        causes.add(Cause.LINKS)
    if misread:
        causes.add(Cause.REUSE_COMMAND)
    if needs_notice(reuse):
        causes.add(Cause.REUSE)
    if Cause.APPROVAL_VOID in causes:
        causes.discard(Cause.FORK)  # its notice asks for the same comment
    return tuple(cause for cause in Cause if cause in causes)


def make_notices(context: NoticeContext, causes: Sequence[Cause]) -> tuple[Sticky, ...]:
    """Return a kept comment for every cause: with a text if the cause applies, else with None, so that it is deleted."""
    pull = context.facts.pull
    # An existing notice stays while it is not known whether its cause applies.
    unknown = set()
    if pull and pull.is_open and pull.mergeable is None:
        unknown.add(Cause.CONFLICT)
    if pull and pull.is_open and not context.is_reuse_known:
        unknown.add(Cause.REUSE)
    return tuple(_make(context, cause, holds=cause in causes) for cause in Cause if cause not in unknown)


def _make(context: NoticeContext, cause: Cause, *, holds: bool) -> Sticky:
    marker = context.policy.comments.notices.marker.replace("{cause}", cause)
    key, languages = f"notice {cause}", context.policy.comments.languages
    if not holds:
        return Sticky(key=key, marker=marker, text=None)
    notice = _RENDERERS[cause](context)
    first, *others = languages
    texts = [notice.fix, notice.commands, notice.after]
    after = [text if isinstance(text, str) else text[first] for text in texts if text]
    gists = [f"---\n\n{notice.gist[language]}" for language in others]
    return Sticky(
        key=key,
        marker=marker,
        text=notice.lead[first],
        items=notice.items,
        after="\n\n".join([*after, *gists]),
        languages=languages,
    )


@record
class Notice:
    """The texts of a notice. Commands and lists appear once, in the first language's part.

    Attributes:
        lead: what is wrong, and why.
        items: a list, for example of files; the only part that may be cut.
        fix: what the commands do.
        commands: a code block.
        after: further information.
        gist: a summary in every language except the first.
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
            "Both branches appended to it, so infx can resolve the conflict:",
            "双方都在变更记录末尾追加了内容，infx 可以自动排好顺序：",
        )
        gist = words(
            "Both branches appended to the changelog, so infx can resolve the conflict; see the commands above.",
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
        f"that it cannot merge, so pushes and labels have no effect until the conflict is resolved."
    )
    chinese = (
        f"**无法启动 sweep：此分支与 {base} 冲突。** GitHub 不会为无法合并的 PR 启动任何工作流；"
        f"解决冲突之前，推送或添加标签都不起作用。"
    )
    return Notice(
        lead=words(f"{english} Files in conflict:", f"{chinese}冲突的文件："),
        items=tuple(code(path) for path in files) or (join_inline(unnamed, languages),),
        fix=fix,
        commands=commands,
        gist=words(f"{english} {gist[Language.ENGLISH]}", f"{chinese}{gist[Language.CHINESE]}"),
    )


def _commit(context: NoticeContext) -> str:
    """Return the commit command. A merge that only resolves the changelog skips the sweep if the head was swept."""
    if any(run.swept for run in context.facts.runs):
        return f'git commit -m "Merge {context.base} {context.policy.sweep.skip_marker}"'
    return "git commit --no-edit"


def _labels(context: NoticeContext) -> Notice:
    labels = context.facts.pull.labels if context.facts.pull else ()
    primary = [code(name) for name in read_labels(labels, context.policy.labels).primary_names]
    text = words(
        f"**No sweep started: {count(len(primary), 'conflicting sweep label')}**, {join_words(primary)}. "
        "Keep one and remove the others.",
        f"**不会启动 sweep：有 {len(primary)} 个互相冲突的标签**：{'、'.join(primary)}。请只保留一个。",
    )
    return Notice(lead=text, gist=text)


def _changelog(context: NoticeContext) -> Notice:
    problems, path = context.problems, code(context.policy.changelog)
    number = context.facts.pull.number if context.facts.pull else None
    english = f"**No sweep can start: {path} has {count(len(problems), 'problem')}.**"
    chinese = f"**不会启动 sweep：{path} 有 {len(problems)} 处问题**"
    return Notice(
        lead=words(english, f"{chinese}："),
        items=tuple(_render_problem(problem, number) for problem in problems),
        fix=words(
            "This command fixes unambiguous problems and lists the rest:",
            "下面的命令会修复含义唯一的问题，并列出其余的：",
        ),
        commands=fenced(fix_command(number)),
        gist=words(
            f"{english} See the list above. The command above fixes unambiguous problems and lists the rest.",
            f"{chinese}，详见上文。上面的命令会修复含义唯一的问题，并列出其余的。",
        ),
    )


def _no_entry(context: NoticeContext) -> Notice:
    path = code(context.policy.changelog)
    text = words(
        f"**No sweep can start: the pull request has a sweep label, but does not change {path}.** A sweep runs the "
        f"configurations that new entries name. Append an entry with `infx changelog add`, or remove the label.",
        f"**不会启动 sweep：已添加标签，但 {path} 没有改动。** 要运行哪些配置由其中的记录决定。"
        "请用 `infx changelog add` 追加一条记录，或移除标签。",
    )
    return Notice(lead=text, gist=text)


def _fork(context: NoticeContext) -> Notice:
    english, chinese = (
        "**No sweep can start yet: this pull request comes from a fork.**",
        "**暂不启动 sweep：此 PR 来自 fork。**",
    )
    return Notice(
        lead=words(
            f"{english} Its code runs on the GPU machines only after "
            "someone with write access has reviewed this revision and posted this comment:",
            f"{chinese} 有写权限的人审阅当前版本并发表下面的评论后，代码才会在 GPU 机器上运行：",
        ),
        commands=fenced(f"{context.policy.sweep.approve_command} {context.head_sha}"),
        after=words("The changelog is checked without an approval.", "变更记录的检查不受此限制。"),
        gist=words(
            f"{english} Its code runs on the GPU machines only after someone with write access has reviewed this revision "
            "and posted the comment above. The changelog is checked without an approval.",
            f"{chinese} 有写权限的人审阅当前版本并发表上面的评论后，代码才会在 GPU 机器上运行。变更记录的检查不受此限制。",
        ),
    )


def _approval_void(context: NoticeContext) -> Notice:
    approved = context.facts.approval.sha if context.facts.approval else ""
    english = (
        f"**The approval is no longer valid: it is for {approved}, but the head is now {context.head_sha}.** Later "
        "pushes are not approved."
    )
    chinese = (
        f"**批准已失效：批准的是 {approved}，而当前版本是 {context.head_sha}。** 之后推送的内容尚未获得批准；"
    )
    return Notice(
        lead=words(
            f"{english} Someone with write access who has reviewed the new head can approve it with this comment:",
            f"{chinese}有写权限的人审阅后，可以用下面的评论再次批准：",
        ),
        commands=fenced(f"{context.policy.sweep.approve_command} {context.head_sha}"),
        gist=words(
            f"{english} Someone with write access who has reviewed the new head can approve it with the comment above.",
            f"{chinese}有写权限的人审阅后，可以用上面的评论再次批准。",
        ),
    )


def _token_label(context: NoticeContext) -> Notice:
    pull, actor = context.facts.pull, code(context.facts.label_actor or "")
    english = (
        f"**No sweep started: {actor} added the label**, and events of a workflow's token start no workflow. "
        "Remove the label and add it again by hand, or start the sweep"
    )
    chinese = f"**sweep 没有启动：标签是由 {actor} 添加的**，而工作流令牌的操作不会触发其他工作流。请手动移除并重新添加标签，"
    return Notice(
        lead=words(f"{english} with this command:", f"{chinese}或用下面的命令启动："),
        commands=fenced(dispatch_command(context.policy, pull) if pull else ""),
        gist=words(f"{english} with the command above.", f"{chinese}或用上面的命令启动。"),
    )


def _links(context: NoticeContext) -> Notice:
    pull = context.facts.pull.number if context.facts.pull else 0
    path, marker = context.policy.changelog, context.policy.sweep.skip_marker
    english = (
        f"**Before the merge, the link in {code(path)} must be canonical.** In the merge queue it is too late, because "
        "pushes to a queued pull request are lost. The sweep stays valid."
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
        "**No finished sweep was reused: this command is not valid.**",
        "**没有复用任何已完成的 sweep：命令无法识别。**",
    )
    return Notice(
        lead=words(english, chinese),
        items=tuple(code(line[:MAX_LINE]) for line in context.misread),
        fix=words(
            "Write the command on its own line, the number with the digits 0 to 9, and nothing after it:",
            "命令必须单独成行，运行编号只用半角数字 0 到 9，后面不要加其他内容：",
        ),
        commands=fenced("\n".join(list_usage(context.policy.reuse.commands))),
        gist=words(
            f"{english} Write the command on its own line, the number with the digits 0 to 9, and nothing after it, as above.",
            f"{chinese} 命令必须单独成行，运行编号只用半角数字 0 到 9，后面不要加其他内容，写法见上。",
        ),
    )


def _reuse(context: NoticeContext) -> Notice:
    assert context.reuse is not None, "the cause is found in the decision"
    answer = describe_reuse(context.reuse)
    languages = context.policy.comments.languages
    fix = {language: f" {answer.fix[language]}" if answer.fix else "" for language in languages}
    return Notice(
        lead=answer.lead,
        items=answer.details,
        fix=answer.fix,
        commands=fenced(answer.command) if answer.command else "",
        gist={language: f"{answer.lead[language]}{fix[language]}" for language in languages},
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
    Cause.REUSE: _reuse,
}


def _render_problem(problem: Problem, number: int | None) -> str:
    """Render a problem without the command that fixes it, because the notice shows that command below the list."""
    where = f"line {problem.line}: " if problem.line else ""
    hint = (problem.hint or "").replace(render_repair_hint(number), "")
    return where + " ".join(_render_copyable(text) for text in (problem.message, hint.strip()) if text)


def _render_copyable(text: str) -> str:
    """Render a sentence of infx. URLs become code, because plain text would hide a character in them to make them inert."""
    parts = re.split(r"(`[^`]*`)", text)
    parts[::2] = (re.sub(r"https?://[^\s`]*[^\s`.,;:!?)]", r"`\g<0>`", part) for part in parts[::2])
    return prose("".join(parts))

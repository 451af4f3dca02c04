"""Word the answer to a reuse command that is refused, or accepted although the run covers only a part of the plan."""

from __future__ import annotations

from collections.abc import Mapping

from infx.comments.languages import Words, words
from infx.escape import prose
from infx.phrases import count
from infx.policy.model import Language
from infx.records import record
from infx.reuse.decision import ReuseDecision, ReuseReason

_CLAUSES: Mapping[ReuseReason, Words] = {
    ReuseReason.EXCLUDING_LABEL: words(
        "a label asks for a sweep that cannot serve a merge", "有标签要求的 sweep 不能用于合并"
    ),
    ReuseReason.NO_ROWS: words("this pull request plans no rows", "此 PR 没有计划任何行"),
    ReuseReason.NO_SUITABLE_RUN: words("this pull request has no suitable run", "此 PR 没有合适的运行"),
    ReuseReason.RUN_NOT_FOUND: words("the named run does not exist", "指定的运行不存在"),
    ReuseReason.OTHER_WORKFLOW: words("the named run is not a sweep", "指定的运行不是 sweep"),
    ReuseReason.NOT_COMPLETED: words("the named run has not completed", "指定的运行尚未结束"),
    ReuseReason.CONCLUSION: words("the named run did not end normally", "指定的运行没有正常结束"),
    ReuseReason.NO_HEAD: words("the named run does not tell its commit", "指定的运行没有提交信息"),
    ReuseReason.OTHER_PULL: words(
        "the named run belongs, or may belong, to another pull request", "指定的运行属于或可能属于其他 PR"
    ),
    ReuseReason.NOT_IN_PULL: words(
        "the named run measured a commit that is not in this pull request", "指定的运行测量的提交不在此 PR 中"
    ),
    ReuseReason.COMMITS_UNKNOWN: words(
        "the commit of the named run is not proven to be in this pull request",
        "无法确认指定的运行测量的提交在此 PR 中",
    ),
    ReuseReason.NO_RESULTS: words(
        "the named run has no results, or they have expired", "指定的运行没有结果，或结果已过期"
    ),
    ReuseReason.QUALIFICATION: words(
        "the named run holds results of a native qualification",
        "指定的运行包含 native qualification 的结果",
    ),
    ReuseReason.OTHER_PLAN: words(
        "the named run has rows that its own commit does not plan", "指定的运行含有其提交未计划的行"
    ),
}
_UNKNOWN = words("the coverage of the merge's plan is unknown", "无法得知覆盖了合并计划的多少行")
_NAME_IT = words(
    "To reuse the run all the same, name it in a comment, with this command.",
    "如仍要复用该运行，请在评论中用这条命令指定它。",
)
_FIXES: Mapping[ReuseReason, Words] = {
    ReuseReason.EXCLUDING_LABEL: words(
        "Remove the label, or dispatch a sweep of the merge.", "请移除该标签，或为合并单独运行 sweep。"
    ),
    ReuseReason.NO_SUITABLE_RUN: words(
        "Start a sweep, and ask again once it is green.", "请启动 sweep，成功后再次请求。"
    ),
    ReuseReason.COVERAGE_PARTIAL: words("Sweep the rows that it does not cover.", "请补跑未覆盖的行。"),
    ReuseReason.COVERAGE_UNKNOWN: words("Sweep the rows that it does not cover.", "请补跑未覆盖的行。"),
}
_NAME_ANOTHER = words(
    "Name another run, or start a sweep and name it once it has completed.",
    "请指定其他运行，或启动 sweep，完成后再指定该运行。",
)
_COMPLETE = words("To complete it, sweep the other rows.", "补跑其余的行即可补全。")


@record
class ReuseWords:
    """The texts of the answer.

    Attributes:
        lead: the answer and its kind of reason.
        details: the exact reasons, as every check reports them, in English.
        fix: what to do; None if there is nothing to do.
        command: a comment that heals the reason; "" if there is none.
    """

    lead: Words
    details: tuple[str, ...]
    fix: Words | None = None
    command: str = ""


def needs_notice(decision: ReuseDecision | None) -> bool:
    """Return whether a command that counts is refused, or its run covers only a part of the plan."""
    if decision is None or decision.command is None:
        return False
    return decision.source is None or decision.is_incomplete


def describe_reuse(decision: ReuseDecision) -> ReuseWords:
    """Return the words of a notice that `needs_notice`."""
    passed = tuple(f"run `{one.run.id}`: {one.fault.words}" for one in decision.passed_over)
    details = tuple(prose(text) for text in passed or (decision.words,))
    if decision.source is not None:
        number = decision.source.id
        opening = words(
            f"**Run {number} is reused, but it is incomplete:", f"**将复用运行 {number}，但结果不完整："
        )
        if decision.coverage is not None:
            details = (prose(f"run `{number}` covers {decision.coverage.words}"),)
        return ReuseWords(lead=_join(opening, _describe_coverage(decision)), details=details, fix=_COMPLETE)
    is_gap = decision.reason in {ReuseReason.COVERAGE_PARTIAL, ReuseReason.COVERAGE_UNKNOWN}
    clause = _describe_coverage(decision) if is_gap else _CLAUSES.get(decision.reason, _UNKNOWN)
    lead = _join(words("**No finished sweep is reused:", "**没有复用任何已完成的 sweep："), clause)
    if decision.pin:
        return ReuseWords(lead=lead, details=details, fix=_NAME_IT, command=decision.pin)
    fix = None if decision.reason is ReuseReason.NO_ROWS else _FIXES.get(decision.reason, _NAME_ANOTHER)
    return ReuseWords(lead=lead, details=details, fix=fix)


def _join(opening: Words, clause: Words) -> Words:
    return words(
        f"{opening[Language.ENGLISH]} {clause[Language.ENGLISH]}.**",
        f"{opening[Language.CHINESE]}{clause[Language.CHINESE]}。**",
    )


def _describe_coverage(decision: ReuseDecision) -> Words:
    coverage = decision.coverage
    if coverage is None:
        return _UNKNOWN
    covered = f"{len(coverage.covered):,}"
    return words(
        f"the coverage is {covered} of {count(coverage.total, 'row')}",
        f"合并计划的 {coverage.total:,} 行中只覆盖了 {covered} 行",
    )

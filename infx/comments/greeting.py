"""The greeting that explains the process once on each pull request that changes benchmarks."""

from __future__ import annotations

from collections.abc import Collection

from infx.comments.languages import join_sections, words
from infx.comments.sticky import Sticky
from infx.escape import code
from infx.policy.model import Language, Policy
from infx.records import record

RERUN_URL = "https://docs.github.com/en/actions/managing-workflow-runs/re-running-workflows-and-jobs"

_THANKS = words("Thank you for the contribution!", "感谢您的贡献！")
_REVIEW = words(
    "- **Review.** If this changes files that someone other than a repository admin or the core team owns, ask one eligible "
    "{codeowner} to complete the {checklist} before you contact a core maintainer. "
    "The template must be followed exactly, with the phrase `{phrase}` in English, because that starts the verification.",
    "- **评审。** 如果本次改动涉及仓库管理员或核心团队以外的人所负责的文件，请先请一位符合条件的 "
    "{codeowner} 完成{checklist}，再联系核心维护者。"
    "必须严格按照模板填写，并保留英文原句 `{phrase}`，否则不会触发验证。",
)
_CHECKLIST = words("latest checklist", "最新的检查清单")
_OTHERS = words(
    ", or {other} only when jobs must go on after a failure",
    "；仅当某个任务失败后其余任务仍须继续时，才使用 {other}",
)
_REST = words(
    """\
- **Sweep.** Sweeps run on labeled pull requests only. Add {recommended} (strongly recommended){others}.
- **Changelog.** Append an entry to {changelog}; write {placeholder} as its `pr-link`.
- **After the merge.** Make sure that all Actions jobs pass. A transient failure often passes on a \
[re-run of the failed jobs]({rerun}).""",
    """\
- **测试。** 只有带标签的 PR 才会运行 sweep。请添加 {recommended}（强烈推荐）{others}。
- **变更记录。** 请在 {changelog} 末尾追加一条记录，`pr-link` 写 {placeholder}。
- **合并之后。** 作者需要确认所有 Actions 任务都通过。偶发的失败通常[重新运行失败的任务]({rerun})即可通过。""",
)


@record
class GreetingLinks:
    """URLs of files; None for a file that the base branch does not have."""

    codeowners: str | None
    checklist: str | None


def list_linked(policy: Policy) -> tuple[str, ...]:
    """Return the files that the greeting links if the base branch has them."""
    return (policy.comments.greeting.codeowners, policy.comments.greeting.checklist)


def make_links(policy: Policy, repository: str, server: str, present: Collection[str]) -> GreetingLinks:
    """Return the URLs on the base branch. server: such as https://github.com. present: files of the branch."""
    blob = f"{server}/{repository}/blob/{policy.base_branch}"
    codeowners, checklist = (f"{blob}/{path}" if path in present else None for path in list_linked(policy))
    return GreetingLinks(codeowners=codeowners, checklist=checklist)


def render(policy: Policy, links: GreetingLinks, phrase: str) -> str:
    """Render the greeting in all languages. phrase: how a sign-off begins, in English, because programs parse it."""
    languages = policy.comments.languages
    return join_sections(
        {language: _render_in(language, policy, links, phrase) for language in languages}, languages
    )


def _render_in(language: Language, policy: Policy, links: GreetingLinks, phrase: str) -> str:
    """Render the greeting in one language. Without a checklist the greeting does not mention reviews."""
    recommended, other = _pick_labels(policy)
    values = {
        "recommended": code(recommended),
        "others": _OTHERS[language].format(other=code(other)) if other else "",
        "changelog": code(policy.changelog),
        "placeholder": code(policy.pr_link.placeholders[0]),
        "rerun": RERUN_URL,
    }
    points = [_REST[language].format(**values)]
    if links.checklist:
        owner = f"[CODEOWNER]({links.codeowners})" if links.codeowners else "CODEOWNER"
        checklist = f"[{_CHECKLIST[language]}]({links.checklist})"
        points.insert(0, _REVIEW[language].format(codeowner=owner, checklist=checklist, phrase=phrase))
    return f"{_THANKS[language]}\n\n" + "\n".join(points)


def _pick_labels(policy: Policy) -> tuple[str, str | None]:
    """Return the recommended label, and the label that differs only in continuing after a failure."""
    primary = policy.labels.primary
    name = next((n for n, label in primary.items() if label.recommended), next(iter(primary)))
    best = primary[name]
    twin = (best.scope, best.canary, not best.fail_fast)
    others = (n for n, label in primary.items() if (label.scope, label.canary, label.fail_fast) == twin)
    return name, next(others, None) if best.fail_fast else None


def make_greeting(policy: Policy, links: GreetingLinks, phrase: str) -> Sticky:
    """Return the greeting as a kept comment."""
    greeting = policy.comments.greeting
    return Sticky(
        key="greeting",
        marker=greeting.marker,
        text=render(policy, links, phrase),
        adopt=greeting.adopt,
        languages=policy.comments.languages,
    )

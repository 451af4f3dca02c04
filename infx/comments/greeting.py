"""What the bot says once to everybody who opens a pull request about benchmarks, in English and Chinese."""

from __future__ import annotations

from dataclasses import dataclass

from infx.comments.sticky import Sticky
from infx.escape import code
from infx.policy.model import Policy

RERUN_URL = "https://docs.github.com/en/actions/managing-workflow-runs/re-running-workflows-and-jobs"

_ENGLISH = """\
Thank you for the contribution!

- **Review.** If this changes files that somebody other than a repository admin or the core team owns, ask one eligible \
[CODEOWNER]({codeowners}) to complete the [latest checklist]({checklist}) before you contact a core maintainer. \
The template must be followed exactly, with the phrase `{phrase}` in English, because that starts the verification.
- **Sweep.** Sweeps run on labelled pull requests only. Add {recommended} (strongly recommended){others}.
- **Changelog.** Append an entry to {changelog}; write {placeholder} as its `pr-link`.
- **After the merge.** You are expected to see every Actions job pass. A transient failure often passes on a \
[re-run of the failed jobs]({rerun}).
"""
_ENGLISH_OTHERS = ", or {other} only when jobs must go on after a failure"

_CHINESE = """\
感谢您的贡献！

- **评审。** 如果本次改动涉及仓库管理员或核心团队以外的人所负责的文件，请先请一位符合条件的 \
[CODEOWNER]({codeowners}) 完成[最新的检查清单]({checklist})，再联系核心维护者。\
必须严格按照模板填写，并保留英文原句 `{phrase}`，否则不会触发验证。
- **测试。** 只有带标签的 PR 才会运行 sweep。请添加 {recommended}（强烈推荐）{others}。
- **变更记录。** 请在 {changelog} 末尾追加一条记录，`pr-link` 写 {placeholder}。
- **合并之后。** 作者需要确认所有 Actions 任务都通过。偶发的失败通常[重新运行失败的任务]({rerun})即可通过。
"""
_CHINESE_OTHERS = "；仅当某个任务失败后其余任务仍须继续时，才使用 {other}"


@dataclass(frozen=True, kw_only=True)
class Links:
    codeowners: str
    checklist: str


def make_links(policy: Policy, repository: str, server: str) -> Links:
    """Addresses on the base branch. server: such as https://github.com."""
    greeting = policy.comments.greeting
    blob = f"{server}/{repository}/blob/{policy.base_branch}"
    return Links(codeowners=f"{blob}/{greeting.codeowners}", checklist=f"{blob}/{greeting.checklist}")


def render(policy: Policy, links: Links, phrase: str) -> str:
    """phrase: how a sign-off begins; it stays English in both languages, because programs look for it."""
    recommended, other = _pick_labels(policy)
    values = {
        "codeowners": links.codeowners,
        "checklist": links.checklist,
        "phrase": phrase,
        "recommended": code(recommended),
        "changelog": code(policy.changelog),
        "placeholder": code(policy.pr_link.placeholders[0]),
        "rerun": RERUN_URL,
    }
    others = [text.format(other=code(other)) if other else "" for text in (_ENGLISH_OTHERS, _CHINESE_OTHERS)]
    english = _ENGLISH.format(**values, others=others[0])
    chinese = _CHINESE.format(**values, others=others[1])
    return f"{english}\n---\n\n{chinese}"


def _pick_labels(policy: Policy) -> tuple[str, str | None]:
    """The recommended label, and the one that differs from it only in going on after a failure."""
    primary = policy.labels.primary
    name = next((n for n, label in primary.items() if label.recommended), next(iter(primary)))
    best = primary[name]
    twin = (best.scope, best.canary, not best.fail_fast)
    others = (n for n, label in primary.items() if (label.scope, label.canary, label.fail_fast) == twin)
    return name, next(others, None) if best.fail_fast else None


def make_greeting(policy: Policy, links: Links, phrase: str) -> Sticky:
    greeting = policy.comments.greeting
    return Sticky(
        key="greeting", marker=greeting.marker, text=render(policy, links, phrase), adopt=greeting.adopt
    )

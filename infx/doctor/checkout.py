"""Judge a checkout: the policy, the files that it names, and the settings of the clone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from infx.doctor import rules
from infx.doctor.facts import CheckoutFacts, CheckSummary
from infx.doctor.lines import (
    DoctorRule,
    ReportLine,
    Unseen,
    make_advice,
    make_missing,
    make_ok,
    make_unknown,
    make_wrong,
)
from infx.doctor.workflow_files import SIGNOFF_ACTIONS, judge_workflows
from infx.errors import Problem
from infx.model import is_same_repository
from infx.phrases import count, join_some
from infx.policy.load import default_policy
from infx.policy.model import Policy

HOOKS = ("infx config check", "infx changelog validate", "infx workflows check")
_OPTIONAL = ("clusters", "models", "eval_thresholds", "golden_al", "priorities")


def judge_broken_policy(path: str, problems: Iterable[Problem]) -> list[ReportLine]:
    """Return the only line of a repository whose policy is not valid: nothing else can be judged."""
    messages = [str(problem) for problem in problems]
    what = f"{path} has {count(len(messages), 'problem')}: {messages[0]}"
    return [make_wrong(rules.POLICY, what, f"Correct {path}, then run this command again.")]


def judge_checkout(facts: CheckoutFacts, policy: Policy) -> list[ReportLine]:
    """Return the lines about a checkout."""
    return [
        *_judge_policy(facts),
        *_judge_name(facts, policy),
        *_judge_files(facts, policy),
        _judge_check(rules.CONFIG, facts.config, "infx config check"),
        _judge_check(rules.CHANGELOG, facts.changelog, "infx changelog validate"),
        _judge_check(rules.WORKFLOWS, facts.workflows, "infx workflows check"),
        *judge_workflows(facts, policy),
        *_judge_signoff_files(facts, policy),
        *_judge_row_command(facts, policy),
        *_judge_clone(facts, policy),
    ]


def _judge_policy(facts: CheckoutFacts) -> Iterator[ReportLine]:
    path = facts.policy_path
    if facts.has_policy:
        yield make_ok(rules.POLICY, f"{path} is valid.")
    else:
        fix = f"Run `infx init`, or write {path} (docs/adopting.md, step 2)."
        yield make_missing(rules.POLICY, f"There is no {path}; the packaged default applies.", fix)
    match facts.base_policy:
        case Unseen():
            yield make_unknown(rules.BASE_POLICY, f"The policy on {facts.base}", facts.base_policy)
        case None:
            fix = "Merge the policy before the workflows."
            yield make_missing(rules.BASE_POLICY, f"{facts.base} has no {path}.", fix)
        case True:
            yield make_ok(rules.BASE_POLICY, f"{facts.base} has the same {path}.")
        case _:
            what = (
                f"{facts.base} has another version of {path}, which workflows use until this one is merged."
            )
            yield make_ok(rules.BASE_POLICY, what)


def _judge_name(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    name = facts.repository
    if name is None:
        fix = f"Set `repository` in {facts.policy_path} to owner/name."
        yield make_missing(rules.REPOSITORY, "No policy and no remote names the repository.", fix)
        return
    names = (name, *policy.former_names)
    if facts.remotes and not any(is_same_repository(remote, name) for remote in facts.remotes):
        what = f"The repository is {name}, but the remotes of this clone are {join_some(facts.remotes, 3)}."
        fix = f"Correct `repository` in {facts.policy_path}, or add a remote for {names[0]}."
        yield make_wrong(rules.REPOSITORY, what, fix)
        return
    yield make_ok(rules.REPOSITORY, f"The repository is {name}.")


def list_files(policy: Policy) -> tuple[tuple[str, str], ...]:
    """Return key and path of each file that must exist: an optional file only if the policy names another path."""
    default = default_policy()
    needed = [("changelog", policy.changelog), ("runners", policy.runners)]
    needed += [("master-configs", path) for path in policy.master_configs]
    for field in _OPTIONAL:
        path = getattr(policy, field)
        if path != getattr(default, field):
            needed.append((field.replace("_", "-"), path))
    return tuple(needed)


def _judge_files(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    files = list_files(policy)
    missing = [(key, path) for key, path in files if path not in facts.existing]
    for key, path in missing:
        fix = f"Add the file, or name another one in {facts.policy_path} (`{key}`)."
        yield make_missing(rules.FILE, f"There is no {path}, which the policy names as `{key}`.", fix)
    if not missing:
        yield make_ok(rules.FILE, f"All {count(len(files), 'file')} that the policy names exist.")


def _judge_check(rule: DoctorRule, summary: CheckSummary | Unseen, command: str) -> ReportLine:
    if isinstance(summary, Unseen):
        return make_unknown(rule, f"The result of `{command}`", summary)
    warnings = f" and {count(summary.warnings, 'warning')}" if summary.warnings else ""
    if not summary.errors:
        return make_ok(rule, f"`{command}` finds no error{warnings}.")
    what = f"`{command}` finds {count(summary.errors, 'error')}{warnings}. The first: {summary.first}"
    return make_wrong(rule, what, f"Run `{command}` and correct what it reports.")


def _judge_signoff_files(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    if not SIGNOFF_ACTIONS & facts.use.actions.keys():
        return
    checklist = policy.signoff.paths.checklists[0]
    for rule, problem, right, fix in (
        (rules.CODEOWNERS, facts.codeowners, "CODEOWNERS can be read.", "Correct .github/CODEOWNERS."),
        (rules.CHECKLIST, facts.checklist, f"{checklist} can be read.", f"Correct {checklist}."),
    ):
        yield make_ok(rule, right) if problem is None else make_wrong(rule, problem, fix)


def list_row_files(policy: Policy) -> tuple[str, ...]:
    """Return the words of the row command that look like files of the repository."""
    words = policy.sweep.row_command
    return tuple(
        word.removeprefix("./")
        for word in words
        if not word.startswith(("-", "/")) and ("/" in word or word.endswith((".sh", ".py")))
    )


def _judge_row_command(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    if (
        policy.clusters in facts.existing
    ):  # then rows run the scripts of their cluster, which `infx config check` checks
        return
    command = " ".join(policy.sweep.row_command)
    missing = [path for path in list_row_files(policy) if path not in facts.existing]
    if not missing:
        yield make_ok(rules.ROW_COMMAND, f"The row command is `{command}`.")
    for path in missing:
        what = f"The row command is `{command}`, but there is no {path}."
        fix = f"Add the script, or set `sweep.row-command` in {facts.policy_path}."
        yield make_missing(rules.ROW_COMMAND, what, fix)


def _judge_clone(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    if facts.driver is not None:
        fix = "infx changelog install-driver"
        if not facts.driver.has_attribute:
            what = f"No git attribute selects infx's merge driver for {policy.changelog}."
            yield make_advice(rules.MERGE_DRIVER, what, fix)
        elif not facts.driver.has_command:
            what = "The merge driver is selected, but this clone has no command for it."
            yield make_advice(rules.MERGE_DRIVER, what, fix)
        else:
            yield make_ok(rules.MERGE_DRIVER, f"git merges {policy.changelog} with infx in this clone.")
    if facts.hooks is not None:
        missing = [command for command in HOOKS if not _has_hook(facts.hooks, command)]
        if missing:
            what = f".pre-commit-config.yaml does not run {join_some([f'`{name}`' for name in missing], 3)}."
            fix = "Add infx's hooks to .pre-commit-config.yaml (docs/workflows.md)."
            yield make_missing(rules.PRE_COMMIT, what, fix)
        else:
            yield make_ok(rules.PRE_COMMIT, "pre-commit runs infx's checks.")


def _has_hook(hooks: Iterable[str], command: str) -> bool:
    hook = command.replace(" ", "-")
    return any(name == hook or command in name for name in hooks)

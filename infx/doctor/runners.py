"""Judge runners: whether they are registered, and what keeps a pull request's own workflow off them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from infx.doctor import rules
from infx.doctor.github_facts import GitHubFacts
from infx.doctor.lines import ReportLine, Unseen, make_missing, make_ok, make_unknown, make_wrong
from infx.doctor.settings import GitHubRunner
from infx.phrases import count, join_some
from infx.policy.model import Policy

ALL_EXTERNAL = "all_external_contributors"


def judge_runners(facts: GitHubFacts, policy: Policy) -> Iterator[ReportLine]:
    """Yield the lines about runners and their protection."""
    yield from _judge_labels(facts)
    yield _judge_access(facts, policy)
    if facts.private_forks is not None:
        yield _judge_private_forks(facts)


def _find_usable(facts: GitHubFacts) -> tuple[list[GitHubRunner], Unseen | None]:
    """Return the runners that this repository may surely use, and why others were not seen."""
    own, shared, groups = facts.runners, facts.organization_runners, facts.groups
    unseen = next((part for part in (own, shared, groups) if isinstance(part, Unseen)), None)
    usable = [] if isinstance(own, Unseen) else list(own)
    if isinstance(shared, Unseen) or isinstance(groups, Unseen):
        return usable, unseen
    # Runners of other groups of the organization never get this repository's jobs.
    visible = {group.id for group in groups}
    usable += [runner for runner in shared if runner.group in visible]
    if any(runner.group is None for runner in shared):
        unseen = unseen or Unseen(reason="GitHub does not say to which groups some runners belong.")
    return usable, unseen


def _judge_labels(facts: GitHubFacts) -> Iterator[ReportLine]:
    if not facts.labels_of_runners:
        reason = "The runners file names none, or cannot be read."
        yield make_unknown(rules.RUNNER, "The labels of runners", Unseen(reason=reason))
        return
    runners, unseen = _find_usable(facts)
    page = f"{facts.web}/settings/actions/runners"
    online = {label.lower() for runner in runners if runner.is_online for label in runner.labels}
    registered = {label.lower() for runner in runners for label in runner.labels}
    absent = [label for label in facts.labels_of_runners if label.lower() not in registered]
    offline = [
        label
        for label in facts.labels_of_runners
        if label.lower() in registered and label.lower() not in online
    ]
    for label in offline:
        yield make_wrong(rules.RUNNER, f"Every runner with the label {label} is offline.", page)
    if absent and unseen is not None:
        yield make_unknown(rules.RUNNER, f"Runners with {_join(absent)}", unseen)
    else:
        for label in absent:
            what = f"No runner with the label {label} is registered for this repository."
            yield make_missing(rules.RUNNER, what, page)
    if not absent and not offline:
        labels = count(len(facts.labels_of_runners), "label")
        yield make_ok(rules.RUNNER, f"Runners are online for all {labels} of the runners file.")


def _join(labels: Sequence[str]) -> str:
    return f"the labels {join_some(labels, 4)}" if len(labels) > 1 else f"the label {labels[0]}"


def _judge_access(facts: GitHubFacts, policy: Policy) -> ReportLine:
    """Judge the protection: groups of runners with selected workflows, or an approval of all outside contributors."""
    by_groups = _is_restricted(facts, policy)
    if by_groups is True:
        what = f"Only workflows of {policy.base_branch} get the runners, by their groups."
        return make_ok(rules.RUNNER_ACCESS, what)
    if facts.approval == ALL_EXTERNAL:
        return make_ok(rules.RUNNER_ACCESS, "All outside contributors need an approval.")
    forks = facts.private_forks
    if forks is not None and not isinstance(forks, Unseen) and not forks.runs:
        return make_ok(rules.RUNNER_ACCESS, "Pull requests from forks run no workflow.")
    for unseen in (by_groups, facts.approval, forks):
        if isinstance(unseen, Unseen):
            return make_unknown(rules.RUNNER_ACCESS, "The protection of the runners", unseen)
    what = "Neither a group of runners nor an approval keeps the workflows of pull requests off the runners."
    repository = facts.repository.name
    if policy.workflows.runner_boundary:
        reason = f"The policy states another protection ({policy.workflows.runner_boundary})"
        return make_unknown(rules.RUNNER_ACCESS, "The protection of the runners", Unseen(reason=reason))
    if facts.repository.is_private:
        fix = f"{facts.web}/settings/actions"
    else:
        path = f"repos/{repository}/actions/permissions/fork-pr-contributor-approval"
        fix = f"gh api --method PUT {path} -f approval_policy={ALL_EXTERNAL}"
    return make_wrong(rules.RUNNER_ACCESS, what, fix)


def _is_restricted(facts: GitHubFacts, policy: Policy) -> bool | Unseen:
    """Return whether all runners that rows use are in groups that admit only workflows of the base branch."""
    labels = {label.lower() for label in facts.labels_of_runners}
    runners, unseen = _find_usable(facts)
    if unseen is not None:
        return unseen
    if isinstance(facts.groups, Unseen):
        return facts.groups
    groups = {group.id: group for group in facts.groups}
    used = [runner for runner in runners if labels & {label.lower() for label in runner.labels}]
    prefix = f"{facts.repository.name}/.github/workflows/".lower()
    suffix = f"@refs/heads/{policy.base_branch}".lower()
    for runner in used:
        group = groups.get(runner.group) if runner.group is not None else None
        if group is None or not group.workflows:
            return False
        own = [name.lower() for name in group.workflows if name.lower().startswith(prefix)]
        if not own or not all(name.endswith(suffix) for name in own):
            return False
    return bool(used)


def _judge_private_forks(facts: GitHubFacts) -> ReportLine:
    forks, page = facts.private_forks, f"{facts.web}/settings/actions"
    if isinstance(forks, Unseen) or forks is None:
        unseen = forks or Unseen(reason="GitHub does not say it.")
        return make_unknown(rules.FORK_WORKFLOWS, "What pull requests from forks may do", unseen)
    gets = [
        words
        for has, words in (
            (forks.gets_writing_token, "a token that writes"),
            (forks.gets_secrets, "the repository's secrets"),
        )
        if has and forks.runs
    ]
    if gets:
        what = f"A pull request from a fork gets {' and '.join(gets)}."
        return make_wrong(rules.FORK_WORKFLOWS, what, page)
    return make_ok(rules.FORK_WORKFLOWS, "Pull requests from forks get neither secrets nor a writing token.")

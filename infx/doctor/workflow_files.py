"""Judge the workflow files of a checkout."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from infx.doctor import rules
from infx.doctor.facts import CheckoutFacts
from infx.doctor.lines import ReportLine, Unseen, make_missing, make_ok, make_unknown, make_wrong
from infx.doctor.usage import RemoteUse
from infx.phrases import count, join_some
from infx.policy.model import Policy

SIGNOFF_ACTIONS = frozenset({"signoff"})
_STEP = "docs/adopting.md, step 3"
# action → the workflow of infx that uses it
_SWEEP = {"gate": "run-sweep.yml", "plan": "sweep.yml", "rows": "benchmark.yml"}
_ALWAYS = {**_SWEEP, "changelog": "changelog.yml", "reconcile": "reconcile.yml"}


def judge_workflows(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    """Return the lines about workflow files."""
    yield from _judge_needed(facts, policy)
    if not facts.use.infx_workflows:  # the other rules have nothing to look at
        return
    yield from _judge_base(facts)
    yield from _judge_pins(facts, policy)
    yield from _judge_version(facts)
    yield _judge_boundary(facts, policy)


def _judge_needed(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    needed = dict(_ALWAYS)
    if policy.publish.target is not None:
        needed["publish"] = "publish.yml"
    if policy.publish.stage.target is not None:
        needed["stage"] = "stage.yml"
    missing = [(action, file) for action, file in needed.items() if not _is_used(action, facts)]
    for action, file in missing:
        fix = f"Run `infx init`, or copy .github/workflows/{file} from infx ({_STEP})."
        yield make_missing(rules.NEEDED_WORKFLOW, f"No workflow uses the action `{action}`.", fix)
    named = {"sweep.workflow": policy.sweep.workflow}
    if "publish" in facts.use.actions:
        named["publish.workflow"] = policy.publish.workflow
    if facts.use.actions.keys() & SIGNOFF_ACTIONS:
        named["signoff.relay-workflow"] = policy.signoff.relay_workflow
    absent = {key: path for key, path in named.items() if path not in facts.use.paths}
    for key, path in absent.items():
        fix = f"Add it ({_STEP}), or correct `{key}` in {facts.policy_path}."
        yield make_missing(rules.NEEDED_WORKFLOW, f"There is no {path}, which the policy names.", fix)
    if not missing and not absent:
        used = count(len(facts.use.infx_workflows), "workflow")
        yield make_ok(rules.NEEDED_WORKFLOW, f"Everything that the policy needs is in {used}.")


def _is_used(action: str, facts: CheckoutFacts) -> bool:
    """Return whether a workflow uses an action; for the changelog, one that pull requests start by themselves."""
    paths = facts.use.actions.get(action, ())
    return any(action != "changelog" or "pull_request" in facts.use.events[path] for path in paths)


def _judge_base(facts: CheckoutFacts) -> Iterator[ReportLine]:
    if isinstance(facts.base_paths, Unseen):
        yield make_unknown(rules.BASE_WORKFLOWS, f"The workflows on {facts.base}", facts.base_paths)
        return
    missing = sorted(facts.use.infx_workflows - facts.base_paths)
    if missing:
        what = f"{facts.base} does not have {join_some(missing, 3)}."
        yield make_missing(
            rules.BASE_WORKFLOWS, what, "Merge the workflows into the base branch, after the policy."
        )
    else:
        yield make_ok(rules.BASE_WORKFLOWS, f"{facts.base} has the workflows that use infx.")


def _judge_pins(facts: CheckoutFacts, policy: Policy) -> Iterator[ReportLine]:
    loose = [use for use in facts.use.remote if not use.is_pinned and not _is_own(use, facts, policy)]
    for use in loose:
        fix = f"Replace `@{use.ref}` by the full commit, in {use.path}."
        yield make_wrong(rules.PIN, f"{use.path} uses {use.uses or 'an action'}, which is not a commit.", fix)
    commits = sorted({ref for _, ref in facts.use.toolkits})
    if len(commits) > 1:
        what = f"The workflows use infx at {join_some(commits, 3)}."
        yield make_wrong(rules.PIN, what, "Use a single commit of infx in all workflows.")
    elif not loose:
        pinned = count(
            len({use.uses for use in facts.use.remote}), "action or workflow", "actions and workflows"
        )
        yield make_ok(rules.PIN, f"{pinned} of other repositories: all are named by a commit.")


def _is_own(use: RemoteUse, facts: CheckoutFacts, policy: Policy) -> bool:
    """Return whether a workflow of this repository is called at the base branch, as a runner group requires."""
    own_names = {name.lower() for name in (facts.repository, policy.repository) if name}
    return use.repository.lower() in own_names and use.ref in {
        policy.base_branch,
        f"refs/heads/{policy.base_branch}",
    }


def _judge_version(facts: CheckoutFacts) -> Iterator[ReportLine]:
    if (
        len({ref for _, ref in facts.use.toolkits}) != 1
    ):  # nothing is pinned, or `pin` reports several commits
        return
    repository, commit = min(facts.use.toolkits)
    fix = f"pip install {shlex.quote(f'git+https://github.com/{repository}@{commit}')}"
    if isinstance(facts.installed, Unseen):
        unseen = Unseen(reason=facts.installed.reason, fix=fix)
        yield make_unknown(rules.VERSION, "The commit of this infx", unseen)
    elif facts.installed != commit:
        what = f"This infx is {facts.installed}, and the workflows pin {commit}."
        yield make_wrong(rules.VERSION, what, fix)
    else:
        yield make_ok(rules.VERSION, f"This infx is {commit}, which the workflows pin.")


def _judge_boundary(facts: CheckoutFacts, policy: Policy) -> ReportLine:
    if boundary := policy.workflows.runner_boundary:
        return make_ok(rules.RUNNER_BOUNDARY, f"The policy states: {boundary}")
    if isinstance(facts.workflows, Unseen):
        return make_unknown(rules.RUNNER_BOUNDARY, "The jobs on GPU runners", facts.workflows)
    if "runner-boundary" not in facts.workflows.rules:
        what = "No pull request can edit the file that defines a job on a self-hosted runner."
        return make_ok(rules.RUNNER_BOUNDARY, what)
    fix = f"Protect the runners (docs/adopting.md, step 5), and describe it in {facts.policy_path} (`workflows.runner-boundary`)."
    return make_missing(
        rules.RUNNER_BOUNDARY, "The policy does not state what protects the GPU runners.", fix
    )

"""Requests about merges: the rules of a branch, the checks of a commit, the merge itself and the merge queue."""

from __future__ import annotations

import json
from typing import Any

from infx.github import convert
from infx.github.endpoints import Endpoints
from infx.github.errors import UnexpectedReplyError
from infx.model import BranchRules, CheckRun, Conclusion, MergeMethod, QueueEvent, QueueState, RequiredCheck

_QUEUE = """
query($owner: String!, $name: String!, $number: Int!) {
  rateLimit { cost }
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      id
      isInMergeQueue
      timelineItems(last: 50, itemTypes: [ADDED_TO_MERGE_QUEUE_EVENT, REMOVED_FROM_MERGE_QUEUE_EVENT]) {
        nodes {
          __typename
          ... on AddedToMergeQueueEvent { createdAt actor { __typename login } }
          ... on RemovedFromMergeQueueEvent { createdAt reason actor { __typename login } }
        }
      }
    }
  }
}
"""
_ENQUEUE = """
mutation($pull: ID!, $head: GitObjectID!) {
  enqueuePullRequest(input: {pullRequestId: $pull, expectedHeadOid: $head}) { mergeQueueEntry { id } }
}
"""
_VIEWER = "query { rateLimit { cost } viewer { login } }"


class Merging(Endpoints):
    def branch_rules(self, branch: str) -> BranchRules:
        """Read what rulesets and classic protection require of a branch."""
        # A rule has no id, and a ruleset may have several rules of a type.
        rules = self._list(
            lambda item: item,
            "rules",
            "branches",
            branch,
            identity=lambda rule: json.dumps(rule, sort_keys=True),
        )
        classic = self._get(_parse_protection, "branches", branch)
        return convert.convert(lambda rules: _parse_rules(rules, classic), rules)

    def check_runs(self, sha: str) -> list[CheckRun]:
        """Read the newest check run of each name and app on a commit."""
        runs = self._list(
            _parse_check_run,
            "commits",
            sha,
            "check-runs",
            parameters={"filter": "latest"},
            field="check_runs",
            counted=True,
        )
        # GitHub's filter is for each suite, so a check that ran again in another run is listed twice.
        newest = {(run.name, run.app_id): run for run in sorted(runs, key=lambda run: run.id)}
        return list(newest.values())

    def app_id(self, slug: str) -> int | None:
        """Return the id of an app, which statuses do not name; None if the app is private or unknown."""
        app = self._seek(lambda: self.connection.read(f"/apps/{slug}").data)
        return None if app is None else convert.convert(lambda app: int(app["id"]), app)

    def merge(self, number: int, *, sha: str, method: MergeMethod) -> str:
        """Merge a pull request whose head is `sha`, and return the merge's SHA. Raises ConflictError if GitHub refuses."""
        data = self._write("PUT", "pulls", number, "merge", body={"sha": sha, "merge_method": method.value})
        return convert.convert(lambda data: convert.require_text(data["sha"]), data)

    def queue_state(self, number: int) -> QueueState:
        """Read whether a pull request is queued, and when it was queued and left the queue."""
        owner, _, name = self.repository.partition("/")
        data = self.connection.query(_QUEUE, {"owner": owner, "name": name, "number": number})
        return convert.convert(_parse_queue_state, data)

    def enqueue(self, node_id: str, *, sha: str) -> None:
        """Add a pull request whose head is `sha` to its merge queue. Raises ConflictError if GitHub refuses."""
        data = self.connection.mutate(_ENQUEUE, {"pull": node_id, "head": sha})
        convert.convert(lambda data: data["enqueuePullRequest"]["mergeQueueEntry"], data)

    def viewer(self) -> str:
        """Return the login of the token's account; REST does not answer this question to a workflow's token."""
        data = self.connection.query(_VIEWER, {})
        return convert.convert(lambda data: convert.require_text(data["viewer"]["login"]), data)


def _parse_rules(rules: list[Any], classic: BranchRules) -> BranchRules:
    """Combine rulesets with classic protection: both apply."""
    checks, is_strict = list(classic.checks), classic.is_strict
    methods, queue = set(MergeMethod), None
    for rule in rules:
        parameters = rule.get("parameters") or {}
        match rule["type"]:
            case "required_status_checks":
                is_strict |= bool(parameters["strict_required_status_checks_policy"])
                checks += [_parse_required(check) for check in parameters["required_status_checks"]]
            case "merge_queue":
                queue = MergeMethod(parameters["merge_method"].lower())
            case "pull_request" if allowed := parameters.get("allowed_merge_methods"):
                methods &= {MergeMethod(name.lower()) for name in allowed}
    allowed_methods = tuple(method for method in MergeMethod if method in methods)
    return BranchRules(
        checks=tuple(dict.fromkeys(checks)), is_strict=is_strict, methods=allowed_methods, queue=queue
    )


def _parse_required(check: Any) -> RequiredCheck:
    app_id = check.get("integration_id", check.get("app_id"))
    return RequiredCheck(context=check["context"], app_id=None if app_id in {None, -1} else int(app_id))


def _parse_protection(data: Any) -> BranchRules:
    """Convert the protection that the answer about a branch shows, which needs no administrator's token."""
    protection = (data.get("protection") or {}).get("required_status_checks") or {}
    if protection.get("enforcement_level") == "off":
        return BranchRules()
    checks = [_parse_required(check) for check in protection.get("checks") or ()]
    named = {check.context for check in checks}
    checks += [RequiredCheck(context=name) for name in protection.get("contexts") or () if name not in named]
    return BranchRules(checks=tuple(checks), is_strict=bool(protection.get("strict")))


def _parse_check_run(data: Any) -> CheckRun:
    conclusion = data.get("conclusion")
    app = data.get("app")
    known = set(Conclusion)
    return CheckRun(
        id=data["id"],
        name=convert.require_text(data["name"]),
        status=data["status"],
        # an unknown conclusion must not count as green
        conclusion=None
        if conclusion is None
        else Conclusion(conclusion)
        if conclusion in known
        else Conclusion.FAILURE,
        app_id=app["id"] if app else None,
        url=data.get("html_url") or "",
    )


def _parse_queue_state(data: Any) -> QueueState:
    pull = (data.get("repository") or {}).get("pullRequest")
    if pull is None:
        raise UnexpectedReplyError("GitHub's answer lacks the pull request.")
    return QueueState(
        node_id=convert.require_text(pull["id"]),
        is_queued=bool(pull["isInMergeQueue"]),
        events=tuple(_parse_queue_event(node) for node in pull["timelineItems"]["nodes"]),
    )


def _parse_queue_event(node: Any) -> QueueEvent:
    actor = node.get("actor")
    return QueueEvent(
        added=node["__typename"] == "AddedToMergeQueueEvent",
        actor=convert.parse_actor(actor),
        created_at=convert.parse_moment(node["createdAt"]),
        reason=str(node.get("reason") or ""),
    )

"""The rules of the base branch decide about a merge, with GitHub's refusals."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from infx.hub import Hub
from infx.hub.refusal import Refused
from infx.hub.rules import ACTIONS_APP, QueueRule

APP, OTHER = "bench-bot[bot]", "other-bot[bot]"
RULES = "Repository rule violations found\n\n"


def refusal(hub: Hub, **how: Any) -> str:
    """Return GitHub's words for a merge that must be refused with 405."""
    with pytest.raises(Refused) as refused:
        hub.merge_pull(77, **how)
    assert refused.value.status == 405
    return refused.value.message


def head(hub: Hub) -> str:
    return hub.state.pulls[77].head_sha


def get(hub: Hub, path: str, token: str | None = None) -> Any:
    headers = {} if token is None else {"Authorization": f"token {token}"}
    return requests.get(f"{hub.api}/repos/acme/bench{path}", headers=headers, timeout=5)


def test_a_missing_pending_or_failing_check_is_named(hub: Hub) -> None:
    hub.add_ruleset("changelog")
    assert refusal(hub) == f'{RULES}Required status check "changelog" is expected.'
    for state, words in (("pending", "in progress"), ("failure", "failing"), ("error", "failing")):
        hub.set_status(head(hub), "changelog", state)
        assert refusal(hub) == f'{RULES}Required status check "changelog" is {words}.'
    hub.set_status(head(hub), "changelog", "success")
    assert hub.merge_pull(77)


def test_several_missing_checks_are_counted(hub: Hub) -> None:
    hub.add_ruleset("a", "b")
    hub.protect("b", "c")
    hub.set_status(head(hub), "a", "success")
    assert refusal(hub) == f"{RULES}2 of 3 required status checks are expected."


def test_classic_protection_refuses_in_other_words(hub: Hub) -> None:
    hub.protect("changelog")
    assert refusal(hub) == 'Required status check "changelog" is expected.'


def test_only_the_required_app_can_make_a_bound_check_green(hub: Hub) -> None:
    bound = hub.app_id(APP)
    assert bound is not None
    hub.add_ruleset(("infx/signoff", bound))
    for login in ("mia", OTHER, "github-actions[bot]"):
        hub.set_status(head(hub), "infx/signoff", "success", by=login)
        assert refusal(hub).endswith('"infx/signoff" is expected.')
    hub.set_status(head(hub), "infx/signoff", "success", by=APP)
    hub.set_status(head(hub), "infx/signoff", "failure", by=OTHER)  # does not count
    assert hub.merge_pull(77)


@pytest.mark.parametrize("conclusion", ["success", "skipped", "neutral"])
def test_a_job_is_a_check_of_github_actions(hub: Hub, conclusion: str) -> None:
    hub.add_ruleset(("changelog", ACTIONS_APP))
    run = hub.add_run("changelog.yml", pull=77)
    job = hub.add_job(run.id, "changelog", conclusion=None)
    assert refusal(hub).endswith("is in progress.")
    hub.finish_job(job.id, "cancelled")
    assert refusal(hub).endswith("is failing.")
    hub.finish_run(run.id)
    hub.rerun(run.id)
    hub.add_job(run.id, "changelog", conclusion=conclusion)
    assert hub.merge_pull(77)


def test_a_check_and_a_status_of_one_name_are_both_required(hub: Hub) -> None:
    hub.add_ruleset("changelog")
    hub.add_job(hub.add_run(pull=77).id, "changelog")
    hub.set_status(head(hub), "changelog", "failure")
    assert refusal(hub).endswith("is failing.")


def test_a_check_of_an_earlier_head_does_not_count(hub: Hub) -> None:
    hub.add_ruleset("changelog")
    hub.set_status(head(hub), "changelog", "success")
    hub.push("feat-x", {"late": "x"})
    assert refusal(hub).endswith("is expected.")


def test_a_status_of_the_test_merge_decides(hub: Hub) -> None:
    hub.add_ruleset("changelog")
    hub.set_status(head(hub), "changelog", "success")
    hub.compute_merge(hub.state.pulls[77])
    merge_sha = hub.state.pulls[77].merge_sha
    assert merge_sha is not None
    hub.set_status(merge_sha, "changelog", "failure")
    assert refusal(hub).endswith("is failing.")


def test_a_strict_rule_needs_the_base_branch_in_the_head(hub: Hub) -> None:
    hub.add_ruleset(strict=True)
    hub.push("main", {"other.md": "x"}, by="mia")
    assert refusal(hub) == f"{RULES}This branch is not up to date with the base branch."
    hub.merge_base_branch(77)
    assert hub.merge_pull(77)


def test_merge_methods_that_are_not_allowed(hub: Hub) -> None:
    hub.allow_methods("squash", "rebase")
    assert refusal(hub, method="merge") == "Merge commits are not allowed on this repository."
    hub.add_ruleset(methods=["squash"])
    assert refusal(hub, method="rebase") == f"{RULES}Rebase merges are not allowed."
    assert hub.merge_pull(77, method="squash")


def test_a_rebase_writes_every_commit_but_no_merge(hub: Hub) -> None:
    hub.allow_methods("rebase")
    hub.push("main", {"other.md": "x"}, by="mia")
    hub.merge_base_branch(77)
    hub.push("feat-x", {"late.md": "x"}, "third")
    start = hub.git.resolve("refs/heads/main")
    merged = hub.merge_pull(77, method="rebase")
    commits = [hub.git.commit(sha) for sha in hub.git.commits_between(start, merged)]
    assert [(commit.message, len(commit.parents)) for commit in commits] == [("second", 1), ("third", 1)]
    changed = {change.path for sha in [merged] if start for change in hub.git.changes(start, sha)}
    assert changed == {"README.md", "docs/new.md", "late.md"}


def test_a_merge_commit_has_githubs_words(hub: Hub) -> None:
    merged = hub.git.commit(hub.merge_pull(77, method="merge"))
    assert merged.message == "Merge pull request #77 from acme/feat-x\n\nAdd two"


def test_a_branch_with_a_queue_takes_no_direct_merge(hub: Hub) -> None:
    hub.add_ruleset(queue=QueueRule())
    assert refusal(hub) == f"{RULES}Changes must be made through the merge queue"


def test_a_moved_head_is_a_conflict(hub: Hub) -> None:
    old = head(hub)
    hub.push("feat-x", {"late": "x"})
    token = {"Authorization": f"token {hub.user_token('mia')}"}
    answer = requests.put(
        f"{hub.api}/repos/acme/bench/pulls/77/merge", headers=token, json={"sha": old}, timeout=5
    )
    assert (answer.status_code, answer.json()["message"].split(".")[0]) == (409, "Head branch was modified")


def test_rules_of_a_branch(hub: Hub) -> None:
    """A name may have a slash; GitHub also answers for a branch that does not exist."""
    hub.add_ruleset(("changelog", ACTIONS_APP), "infx/sweep", branch="rel/1", queue=QueueRule(build=2))
    rules = {rule["type"]: rule.get("parameters") for rule in get(hub, "/rules/branches/rel/1").json()}
    assert rules["required_status_checks"]["required_status_checks"] == [
        {"context": "changelog", "integration_id": ACTIONS_APP},
        {"context": "infx/sweep"},
    ]
    assert (rules["merge_queue"]["merge_method"], rules["merge_queue"]["max_entries_to_build"]) == (
        "SQUASH",
        2,
    )
    assert get(hub, "/rules/branches/main").json() == []


def test_classic_protection_is_only_summarized_for_most_tokens(hub: Hub) -> None:
    hub.protect("infx/sweep")
    app = hub.app_token(APP, contents="read")
    assert get(hub, "/branches/main/protection", app).status_code == 403
    summary = get(hub, "/branches/main", app).json()["protection"]["required_status_checks"]
    assert summary["checks"] == [{"context": "infx/sweep", "app_id": None}]
    assert get(hub, "/branches/feat-x", app).json()["protection"]["enabled"] is False
    admin = hub.app_token(APP, administration="read")
    assert get(hub, "/branches/main/protection", admin).status_code == 200
    assert get(hub, "/branches/feat-x/protection", admin).json()["message"] == "Branch not protected"


def test_check_runs_are_the_newest_jobs_of_each_run(hub: Hub) -> None:
    run = hub.add_run("changelog.yml", pull=77)
    hub.add_job(run.id, "changelog", conclusion="failure")
    hub.finish_run(run.id, "failure")
    hub.rerun(run.id)
    newest = hub.add_job(run.id, "changelog")
    other = hub.add_job(hub.add_run(pull=77).id, "changelog", status="queued", conclusion=None)

    def ids(query: str = "") -> list[int]:
        shown = get(hub, f"/commits/{head(hub)}/check-runs{query}").json()["check_runs"]
        return [item["id"] for item in shown]

    assert ids() == [newest.id, other.id]
    assert len(ids("?filter=all")) == 3
    assert ids("?status=queued") == [other.id]
    assert ids("?check_name=none") == []
    assert ids("?app_id=7") == []


def test_workflows_are_the_files_on_the_default_branch(hub: Hub) -> None:
    hub.push(
        "main",
        {
            ".github/workflows/x.yml": 'name: "Publish it"\non: push\n',
            ".github/workflows/y.yaml": "on: push\n",
        },
        by="mia",
    )
    shown = {
        item["path"].rsplit("/")[-1]: item for item in get(hub, "/actions/workflows").json()["workflows"]
    }
    assert {name: item["name"] for name, item in shown.items()} == {
        "run-sweep.yml": "run-sweep",
        "x.yml": "Publish it",
        "y.yaml": ".github/workflows/y.yaml",
    }
    by_id = get(hub, f"/actions/workflows/{shown['x.yml']['id']}").json()
    assert by_id == get(hub, "/actions/workflows/x.yml").json() == shown["x.yml"]
    assert get(hub, "/actions/workflows/none.yml").status_code == 404


def test_merge_methods_are_shown_to_those_who_may_push(hub: Hub) -> None:
    hub.allow_methods("squash")
    shown = get(hub, "", hub.app_token(APP, contents="write")).json()
    assert (shown["allow_squash_merge"], shown["allow_merge_commit"]) == (True, False)
    assert "allow_squash_merge" not in get(hub, "", hub.app_token(APP, contents="read")).json()


def test_a_repository_dispatch_is_recorded_and_starts_runs(hub: Hub) -> None:
    token = {"Authorization": f"token {hub.workflow_token(contents='write')}"}
    body: Any = {"event_type": "ingest", "client_payload": {"key": "a"}}
    url = f"{hub.api}/repos/acme/bench/dispatches"
    assert requests.post(url, headers=token, json=body, timeout=5).status_code == 204
    event = hub.state.events[-1]
    assert (event.name, event.action, event.starts_runs) == ("repository_dispatch", "ingest", True)
    assert event.payload["client_payload"] == {"key": "a"}
    body["client_payload"] = {"key": "x" * 65_536}
    assert requests.post(url, headers=token, json=body, timeout=5).status_code == 422

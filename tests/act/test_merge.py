"""Run the workflow that merges a pull request, for the comment of a maintainer."""

from __future__ import annotations

from pathlib import Path

from infx.hub.hub import Hub
from tests.act.bench import make_payload
from tests.act.harness import Act


def test_a_comment_merges_a_pull_request_with_the_apps_token(hub: Hub, tmp_path: Path) -> None:
    """The job's own token publishes the statuses, and the App's token merges."""
    hub.push("feat-x", {"notes.txt": "words\n"})
    pull = hub.open_pull("feat-x")
    comment = hub.comment(pull.number, f"/merge {pull.head_sha}", by="mia")
    issue = {"number": pull.number, "pull_request": {}}
    event = make_payload(
        hub,
        action="created",
        issue=issue,
        comment={"id": comment.id, "body": comment.body},
        sender={"login": "mia"},
    )
    outcome = Act(hub, tmp_path).run("merge.yml", "issue_comment", event, variables={"INFX_APP_ID": "1"})
    assert outcome.jobs == {"merge": ["success"]}, outcome.log[-3000:]
    assert pull.merged_by == "bench-bot[bot]"
    assert {status.creator for status in hub.state.statuses} == {"github-actions[bot]"}
    assert [reaction.content for reaction in comment.reactions] == ["+1"]
    assert "is merged as" in "\n".join(outcome.summaries)

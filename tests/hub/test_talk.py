"""Comments, reviews, reactions, statuses and runs on the hub."""

from __future__ import annotations

import io
import zipfile

import pytest

from infx.github.api import GitHub
from infx.github.errors import (
    GitHubError,
    LockedError,
    NotFoundError,
    PermissionDeniedError,
    UnexpectedReplyError,
    ValidationError,
)
from infx.hub import Fault, FaultKind, Hub
from infx.hub.routes.actions import MOST_RUNS
from infx.model import CommentKind, CommentReference, Conclusion, ReviewState, StatusState


def test_300_comments_take_three_pages(hub: Hub, github: GitHub) -> None:
    for number in range(300):
        hub.comment(77, f"comment {number}")
    hub.clear_log()
    comments = github.issue_comments(77)
    assert [comment.body for comment in comments] == [f"comment {number}" for number in range(300)]
    assert (hub.reads, hub.writes) == (3, 0)


def test_the_limit_of_a_comment_is_counted_in_characters(github: GitHub) -> None:
    fits = github.create_comment(77, "é" * 65_536)
    assert len(fits.body) == 65_536
    for body in ("é" * 65_537, "", " \n"):
        with pytest.raises(ValidationError):
            github.create_comment(77, body)
        with pytest.raises(ValidationError):
            github.edit_comment(fits.id, body)


def test_deleted_accounts_and_empty_bodies(hub: Hub, github: GitHub) -> None:
    hub.comment(77, "hi", by=None)
    hub.comment(77, None, by="cody")
    first, second = github.issue_comments(77)
    assert (first.author.login, second.body) == ("ghost", "")


def test_the_author_of_a_comment_is_the_tokens_account(hub: Hub, github: GitHub) -> None:
    comment = github.create_comment(77, "hello")
    assert comment.author.login == "github-actions[bot]"
    assert comment.pull_number == 77


def test_each_kind_of_comment_has_separate_ids(hub: Hub, github: GitHub) -> None:
    comment = hub.comment(77, "one")
    line = hub.review_comment(77, "two", path="README.md")
    whole = hub.review(77, "three", state="APPROVED")
    numbers = {
        CommentKind.ISSUE: comment.id,
        CommentKind.REVIEW_COMMENT: line.id,
        CommentKind.REVIEW: whole.id,
    }
    for kind, number in numbers.items():
        read = github.comment(_reference(kind, number))
        assert (read.kind, read.id) == (kind, number)
        for other in set(numbers.values()) - {number}:
            with pytest.raises(NotFoundError, match="are numbered separately"):
                github.comment(_reference(kind, other))
    (review,) = github.reviews(77)
    assert (review.review_state, review.commit_sha) == (
        ReviewState.APPROVED,
        hub.state.pulls[77].head_sha,
    )


def _reference(kind: CommentKind, number: int) -> CommentReference:
    return CommentReference(repository="acme/bench", pull_number=77, kind=kind, id=number)


def test_one_reaction_of_a_kind_and_account(hub: Hub, github: GitHub) -> None:
    comment = hub.comment(77, "/use 5")
    first = github.add_reaction(comment.id, "+1")
    assert github.add_reaction(comment.id, "+1") == first
    hub.react(comment.id, "+1", by="cody")
    assert [(r.content, r.author) for r in comment.reactions] == [
        ("+1", "github-actions[bot]"),
        ("+1", "cody"),
    ]
    with pytest.raises(ValidationError):
        github.add_reaction(comment.id, "shrug")


def test_only_the_token_s_own_reaction_is_removed(hub: Hub, github: GitHub) -> None:
    comment = hub.comment(77, "/use 5")
    own = github.add_reaction(comment.id, "+1")
    theirs, _ = hub.react(comment.id, "+1", by="cody")
    with pytest.raises(PermissionDeniedError):
        github.remove_reaction(comment.id, theirs.id)
    github.remove_reaction(comment.id, own.id)
    github.remove_reaction(comment.id, own.id)  # gone already
    assert [(r.content, r.author.login) for r in github.reactions(comment.id)] == [("+1", "cody")]
    hub.delete_comment(comment.id)
    github.remove_reaction(comment.id, theirs.id)  # gone with its comment
    with pytest.raises(NotFoundError):
        github.add_reaction(comment.id, "+1")


def test_a_404_is_not_believed_if_the_comment_or_reaction_exists(hub: Hub, github: GitHub) -> None:
    comment = hub.comment(77, "/use 5")
    own = github.add_reaction(comment.id, "+1")
    hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, writes=True))
    with pytest.raises(UnexpectedReplyError, match="But it exists"):
        github.add_reaction(comment.id, "-1")
    hub.faults.add(Fault(kind=FaultKind.NOT_FOUND, writes=True))
    with pytest.raises(UnexpectedReplyError, match="But it exists"):
        github.remove_reaction(comment.id, own.id)


def test_a_comment_names_the_kinds_of_its_reactions(hub: Hub, github: GitHub) -> None:
    comment = hub.comment(77, "/use 5")
    for content in ("rocket", "-1", "+1"):
        hub.react(comment.id, content, by="cody")
    hub.comment(77, "plain")
    of_rest = [seen.reactions for seen in github.issue_comments(77)]
    of_graphql = [seen.reactions for seen in github.overviews([77])[77].comments]
    assert of_rest == of_graphql == [("+1", "-1", "rocket"), ()]


def test_statuses(hub: Hub, github: GitHub) -> None:
    sha = hub.state.pulls[77].head_sha
    for state, words in ((StatusState.PENDING, "waiting"), (StatusState.SUCCESS, "é" * 140)):
        github.create_status(sha, context="infx/sweep", state=state, description=words)
    hub.set_status(sha, "other", "failure", by="coverage[bot]")
    statuses = {status.context: status for status in github.statuses(sha)}
    assert statuses["infx/sweep"].state is StatusState.SUCCESS
    assert statuses["infx/sweep"].creator.login == "github-actions[bot]"
    assert statuses["other"].creator.login == "coverage[bot]"
    for wrong in ({"description": "x" * 141}, {"description": "🚀"}, {"context": "x" * 256}):
        texts = {"context": "c", "description": "d", **wrong}
        with pytest.raises(ValidationError):
            github.create_status(sha, state=StatusState.ERROR, **texts)


def test_a_workflow_token_cannot_comment_in_a_locked_conversation(hub: Hub, github: GitHub) -> None:
    mine = github.create_comment(77, "before")
    hub.state.pulls[77].locked = True
    with pytest.raises(LockedError, match="issue is locked"):
        github.create_comment(77, "after")
    assert github.edit_comment(mine.id, "edited").body == "edited"


def test_a_context_has_at_most_a_thousand_statuses(hub: Hub, github: GitHub) -> None:
    sha = hub.state.pulls[77].head_sha
    for _ in range(1000):
        hub.set_status(sha, "infx/sweep", "pending")
    with pytest.raises(ValidationError, match="maximum number of statuses"):
        github.create_status(sha, context="infx/sweep", state=StatusState.ERROR, description="x")


def test_runs_newest_first_and_filtered(hub: Hub, github: GitHub) -> None:
    first = hub.add_run(pull=77, run_id=300, status="completed", conclusion="success")
    second = hub.add_run(pull=77, run_id=301)
    other = hub.add_run("ci.yml", branch="main", event="push")
    assert [run.id for run in github.runs()] == [other.id, second.id, first.id]
    assert [run.id for run in github.runs(workflow="run-sweep.yml")] == [second.id, first.id]
    assert [run.id for run in github.runs(branch="feat-x", status="success")] == [first.id]
    assert [run.id for run in github.runs(head_sha=second.head_sha, newest=1)] == [second.id]
    assert [run.id for run in github.runs(event="push")] == [other.id]
    assert github.run(second.id).pull_numbers == (77,)
    assert github.runs(workflow="none.yml") == []


def test_a_cut_list_of_runs_is_noticed(hub: Hub, github: GitHub, monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub cuts a filtered list at 1,000 runs; this test sets a lower limit to save time."""
    assert MOST_RUNS == 1000
    monkeypatch.setattr("infx.hub.routes.actions.MOST_RUNS", 120)
    for _ in range(121):
        hub.add_run(pull=77, status="completed", conclusion="success")
    with pytest.raises(GitHubError, match="delivered 120 of 121"):
        github.runs(branch="feat-x")
    assert len(github.runs(branch="feat-x", newest=110)) == 110
    assert len(github.runs()) == 121


def test_jobs_of_attempts(hub: Hub, github: GitHub) -> None:
    run = hub.add_run(pull=77)
    hub.add_job(run.id, "row 1", conclusion="failure", runner="h200-cw_00")
    hub.finish_run(run.id, "failure")
    hub.rerun(run.id)
    hub.add_job(run.id, "row 1", conclusion="success")
    assert github.run(run.id).attempt == 2
    (latest,) = github.jobs(run.id)
    assert (latest.attempt, latest.conclusion) == (2, Conclusion.SUCCESS)
    first, second = github.jobs(run.id, every_attempt=True)
    assert (first.attempt, first.conclusion) == (1, Conclusion.FAILURE)
    assert second == latest


def test_artifacts_of_two_attempts(hub: Hub, github: GitHub) -> None:
    run = hub.add_run(pull=77)
    hub.add_artifact(run.id, "results", {"a.json": "1"})
    newer = hub.add_artifact(run.id, "results", {"a.json": "2"})
    (found,) = github.artifacts(run.id)
    assert found.id == newer.id
    data = github.download_artifact(found.id)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.read("a.json") == b"2"
    with pytest.raises(GitHubError, match="exceeds the limit of 10 bytes"):
        github.download_artifact(found.id, limit=10)


def test_cancelling(hub: Hub, github: GitHub) -> None:
    run = hub.add_run(pull=77)
    job = hub.add_job(run.id, "row", conclusion=None)
    assert github.cancel_run(run.id) is True
    assert github.cancel_run(run.id) is False
    assert github.run(run.id).conclusion is Conclusion.CANCELLED
    assert hub.state.jobs[job.id].conclusion == "cancelled"


def test_dispatching(hub: Hub, github: GitHub) -> None:
    started = github.dispatch_workflow("run-sweep.yml", ref="main", inputs={"pr": "77"})
    run = github.run(started.id)
    assert (run.event, run.status, run.url) == ("workflow_dispatch", "queued", started.url)
    assert hub.state.runs[run.id].inputs == {"pr": "77"}
    with pytest.raises(ValidationError):
        github.dispatch_workflow("run-sweep.yml", ref=run.head_sha, inputs={})
    many = {f"input-{number}": "x" for number in range(26)}
    with pytest.raises(ValidationError, match="inputs"):
        github.dispatch_workflow("run-sweep.yml", ref="main", inputs=many)
    with pytest.raises(NotFoundError):
        github.dispatch_workflow("none.yml", ref="main", inputs={})

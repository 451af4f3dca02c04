"""Merges on the hub, from the push to the stored rows and the event that the target gets."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from infx.cli.store import open_results
from infx.store.open import open_store
from tests.publish.world import OWN, Publishing


def reuse(publishing: Publishing, **more: Any) -> str:
    """Sweep pull request 77, ask for reuse, merge it, and return the merge."""
    publishing.sweep(**more)
    publishing.world.ask()
    return publishing.merge()


def test_a_reused_sweep_is_stored_and_sent(publishing: Publishing) -> None:
    sha = reuse(publishing)
    called = publishing.publish("--sha", sha)
    assert called.code == 0, called.err
    run = next(run for run in publishing.world.hub.state.runs.values() if run.event == "pull_request")
    # Four rows: two configurations, each with the concurrencies 4 and 8.
    assert sorted((row.run, row.attempt, row.conc) for row in publishing.rows) == [
        (run.id, 1, 4), (run.id, 1, 4), (run.id, 1, 8), (run.id, 1, 8),
    ]  # fmt: skip
    assert {row.commit for row in publishing.rows} == {run.head_sha}
    ((name, payload, login),) = publishing.sent
    key = payload.pop("key")
    assert (name, login) == ("ingest-results", "publisher[bot]")
    assert payload == {"source-run-id": str(run.id), "merge-run-id": str(OWN)}
    newest, before = publishing.statuses(sha)
    assert (before.state, before.description) == ("pending", f"sending {key}")
    assert (newest.state, newest.description) == (
        "success",
        f"Published 4 results of run {run.id}; acme/app got the event ({key})",
    )


def test_a_published_merge_is_left_alone(publishing: Publishing) -> None:
    sha = reuse(publishing)
    assert publishing.publish("--sha", sha).code == 0
    publishing.world.hub.clear_log()
    called = publishing.publish("--sha", sha)
    assert called.code == 0
    assert "were published before" in called.err
    assert (len(publishing.sent), len(publishing.rows), publishing.world.hub.writes) == (1, 4, 0)


def test_without_a_target_results_are_only_stored(publishing: Publishing) -> None:
    publishing.follow(target=None)
    sha = reuse(publishing)
    called = publishing.publish("--sha", sha)
    assert called.code == 0, called.err
    assert (len(publishing.rows), publishing.sent) == (4, [])
    (status,) = publishing.statuses(sha)
    assert status.state == "success"


def test_without_a_token_the_event_is_missing_and_says_so(publishing: Publishing) -> None:
    sha = reuse(publishing)
    publishing.has_token = False
    called = publishing.publish("--sha", sha)
    assert called.code == 1
    assert "The event was not sent: there is no token for acme/app." in called.err
    assert publishing.statuses(sha)[0].state == "failure"
    publishing.has_token = True
    assert publishing.publish("--sha", sha).code == 0
    assert (len(publishing.rows), len(publishing.sent)) == (4, 1)


def test_a_push_event_names_its_merges(publishing: Publishing) -> None:
    publishing.sweep()
    publishing.world.ask()
    event = publishing.world.merge()
    validated = publishing.validate(event=event)
    assert validated.code == 0, validated.err
    assert validated.outputs["merges"] == "1"
    metadata = json.loads((publishing.world.folder / "out" / "changelog_metadata.json").read_text())
    assert (metadata["base_ref"], metadata["head_ref"]) == (event[1]["before"], event[1]["after"])
    assert [entry["pr-link"] for entry in metadata["entries"]] == ["https://github.com/acme/bench/pull/77"]
    assert publishing.deliver(validated).code == 0
    assert len(publishing.sent) == 1


def test_a_merge_without_entries_needs_nothing(publishing: Publishing) -> None:
    hub = publishing.world.hub
    hub.push("words", {"README.md": "Words\n"}, "words")
    hub.open_pull("words", number=78)
    hub.merge_pull(78)
    validated = publishing.validate(event=publishing.world.last_push())
    assert (validated.code, validated.outputs["merges"]) == (0, "0")
    assert "No merge of this push changes the changelog." in validated.err


def test_the_policy_may_publish_nothing(publishing: Publishing) -> None:
    publishing.follow("nothing")
    validated = publishing.validate("--sha", reuse(publishing))
    assert (validated.code, validated.outputs["merges"]) == (0, "0")
    assert "the policy says on-merge: nothing" in validated.err


def test_a_merge_that_reuses_nothing_is_refused(publishing: Publishing) -> None:
    publishing.sweep()
    sha = publishing.merge()
    called = publishing.publish("--sha", sha)
    assert called.code == 1
    assert "no one with authority asked for the reuse of a finished sweep" in called.err
    assert (publishing.statuses(sha)[0].state, publishing.rows) == ("failure", [])


def test_the_merge_s_own_sweep_is_awaited_and_published(publishing: Publishing) -> None:
    publishing.follow("reuse-or-sweep")
    rows = publishing.world.rows()
    sha = publishing.merge()
    called = publishing.publish("--sha", sha)
    assert (called.code, publishing.statuses(sha)[0].state) == (0, "pending")
    run = publishing.world.hub.add_run(event="push", branch="main", head_sha=sha)
    called = publishing.publish("--sha", sha)
    assert (called.code, publishing.rows, publishing.sent) == (0, [], [])
    assert f"run {run.id}, has not completed" in str(publishing.statuses(sha)[0].description)
    for row in rows:
        publishing.world.add_row(run, row)
    publishing.upload(run, rows)
    publishing.world.hub.finish_run(run.id, "success")
    called = publishing.publish("--sha", sha)
    assert called.code == 0, called.err
    assert {(row.run, row.commit) for row in publishing.rows} == {(run.id, sha)}
    assert len(publishing.sent) == 1


def test_a_failed_sweep_of_the_merge_is_not_published(publishing: Publishing) -> None:
    publishing.follow("reuse-or-sweep")
    rows = publishing.world.rows()
    sha = publishing.merge()
    run = publishing.world.hub.add_run(event="push", branch="main", head_sha=sha)
    publishing.upload(run, rows)
    publishing.world.hub.finish_run(run.id, "failure")
    called = publishing.publish("--sha", sha)
    assert (called.code, publishing.rows, publishing.sent) == (1, [], [])
    assert "ended as failure" in str(publishing.statuses(sha)[0].description)


def test_a_green_sweep_that_lacks_a_planned_row_is_refused(publishing: Publishing) -> None:
    """A green conclusion alone proves nothing: a workflow may have skipped a job."""
    publishing.follow("reuse-or-sweep")
    rows = publishing.world.rows()
    sha = publishing.merge()
    run = publishing.world.hub.add_run(event="push", branch="main", head_sha=sha)
    for row in rows[1:]:
        publishing.world.add_row(run, row)
    publishing.upload(run, rows[1:])
    publishing.world.hub.finish_run(run.id, "success")
    called = publishing.publish("--sha", sha)
    assert (called.code, publishing.rows) == (1, [])
    assert f"The merge plans the row {rows[0].id}, which did not succeed in its sweep." in called.err


def test_a_run_that_is_no_push_to_the_base_branch_is_not_the_merge_s_sweep(publishing: Publishing) -> None:
    publishing.follow("reuse-or-sweep")
    rows = publishing.world.rows()
    sha = publishing.merge()
    run = publishing.world.hub.add_run(event="push", branch="feat-x", head_sha=sha)
    for row in rows:
        publishing.world.add_row(run, row)
    publishing.upload(run, rows)
    publishing.world.hub.finish_run(run.id, "success")
    called = publishing.publish("--sha", sha)
    assert (called.code, publishing.rows) == (0, [])
    assert "no sweep of its own yet" in called.err


def test_a_named_run_with_a_gap_publishes_what_it_has(publishing: Publishing) -> None:
    run = publishing.sweep(failing=[1])
    publishing.world.ask(f"/use {run.id}")
    sha = publishing.merge()
    called = publishing.publish("--sha", sha)
    assert called.code == 0, called.err
    assert len(publishing.rows) == 3
    assert "incomplete: 3 of 4 rows (1 missing)" in str(publishing.statuses(sha)[0].description)


def test_rows_of_a_follow_up_keep_their_run_and_attempt(publishing: Publishing) -> None:
    world = publishing.world
    rows = world.rows()
    first = publishing.sweep(failing=[1])
    title = f"PR 77 at {world.head()}, completes run {first.id}"
    second = world.sweep(
        rows=rows[1:2], pull=None, branch="main", event="workflow_dispatch", title=title, artifacts=()
    )
    publishing.upload(second, rows[1:2], [rows[0], *rows[2:]])
    world.ask()
    sha = publishing.merge()
    called = publishing.publish("--sha", sha)
    assert called.code == 0, called.err
    runs = {row.row_id: row.run for row in publishing.rows}
    assert runs == {row.id: second.id if row is rows[1] else first.id for row in rows}
    assert publishing.sent[0][1]["source-run-id"] == str(second.id)


def test_rows_of_a_later_attempt_keep_it(publishing: Publishing) -> None:
    world = publishing.world
    rows = world.rows()
    run = publishing.sweep(failing=[1])
    world.hub.rerun(run.id)
    world.add_row(run, rows[1])
    publishing.upload(run, rows)
    world.hub.finish_run(run.id, "success")
    world.ask()
    assert publishing.publish("--sha", publishing.merge()).code == 0
    attempts = {row.row_id: row.attempt for row in publishing.rows}
    assert attempts == {row.id: 2 if row is rows[1] else 1 for row in rows}


def test_a_commit_that_is_not_a_merge_is_refused(publishing: Publishing) -> None:
    publishing.sweep()
    head = publishing.world.head()
    publishing.world.hub.merge_pull(77, method="merge")
    called = publishing.validate("--sha", head)
    assert called.code == 2
    assert "is not a merge into main" in called.err


def test_two_merges_of_one_push_are_published_each(publishing: Publishing) -> None:
    """As after a merge group of two pull requests; the second one has nothing to reuse."""
    publishing.sweep()
    publishing.world.ask()
    hub = publishing.world.hub
    before = hub.tip("main")
    publishing.merge()
    text = (hub.git.file("main", "perf-changelog.yaml") or ("", "", b""))[2].decode()
    link = "https://github.com/acme/bench/pull/78"
    entry = f'\n- config-keys:\n    - m3-fp8-h200-vllm\n  description:\n    - "again"\n  pr-link: {link}\n'
    hub.push("more", {"perf-changelog.yaml": text + entry}, "more", start="main")
    hub.open_pull("more", number=78)
    hub.merge_pull(78, method="squash")
    name, payload = publishing.world.last_push()
    validated = publishing.validate(event=(name, {**payload, "before": before}))
    assert validated.code == 0, validated.err
    delivered = publishing.deliver(validated)
    assert delivered.code == 1
    assert len(publishing.rows) == 4
    assert re.search(r"\(#77\): The results are published", delivered.err)
    assert re.search(r"\(#78\): The results are not published", delivered.err)


def test_the_default_store_is_a_branch(publishing: Publishing, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writing job pushes to it; a second publication changes nothing."""
    monkeypatch.setattr("infx.cli.store.open_results", open_results)
    sha = reuse(publishing)
    validated = publishing.validate("--sha", sha)
    assert publishing.deliver(validated).code == 0
    tip = publishing.world.hub.git.resolve("refs/heads/infx-results")
    assert tip is not None
    store = open_store("branch:infx-results", publishing.world.clone, author="github-actions[bot]")
    (summary,) = store.list_publications()
    assert (summary.commit, summary.origin, summary.row_count) == (sha, "reused", 4)
    publishing.world.hub.state.statuses.clear()  # as if the success had been lost
    assert publishing.deliver(validated).code == 0
    assert publishing.world.hub.git.resolve("refs/heads/infx-results") == tip

"""Merges on the hub, from the push to the stored rows and the event that the target gets."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.publish.world import OWN, Publishing


def reuse(publishing: Publishing, **more: Any) -> str:
    """Sweep pull request 77, ask for reuse, merge it, and return the merge."""
    publishing.sweep(**more)
    publishing.world.ask()
    return publishing.merge()


def test_a_reused_sweep_is_stored_and_told(publishing: Publishing) -> None:
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
        f"Published 4 results of run {run.id}; acme/app was told ({key})",
    )

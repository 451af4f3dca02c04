"""The two halves of infx publish: one only reads, the other sees only validated JSON and writes."""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from infx import actions
from infx.cli.gate import read_event
from infx.cli.options import find_policy_path
from infx.cli.report import print_json, print_problems, print_text
from infx.errors import UsageError
from infx.files import read_file, write_file
from infx.gather.local import Receive
from infx.policy.model import Policy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from infx.apply.publish import DeliveryReport, Publisher
    from infx.errors import InfxError
    from infx.gate.event import Event
    from infx.gather.clone import GitClone
    from infx.github.api import GitHub
    from infx.publish.facts import PushedMerge
    from infx.publish.handover import Handover

TARGET_TOKEN = "INFX_TARGET_TOKEN"  # noqa: S105 - the name of a variable
HANDOVER, METADATA = "publish.json", "changelog_metadata.json"


def validate(
    receive: Receive, sha: str | None, policy: Policy, github: GitHub, *, recovers: bool
) -> Handover:
    """Return the decisions about the merges of a push, or about one merge, with validated results."""
    from infx.gather.publish import PublicationReader
    from infx.publish.handover import Handover

    event = read_event(receive) if sha is None else None
    clone = _open_clone(policy, github)
    merges, tip = _find_merges(event, sha, policy, github, clone)
    readers = (
        PublicationReader(
            github=github,
            policy=policy,
            clone=clone,
            policy_path=find_policy_path(),
            merge=merge,
            tip=tip,
            recovers=recovers,
        )
        for merge in merges
    )
    run = actions.find_summary_run(os.environ)
    return Handover(
        repository=github.repository,
        run=run,
        base=merges[0].base if merges else "",
        head=tip,
        merges=tuple(reader.read() for reader in readers),
    )


def _open_clone(policy: Policy, github: GitHub) -> GitClone:
    from infx.gather.clone import open_clone
    from infx.git import Git
    from infx.github.api import read_token
    from infx.reconcile.facts import RepositoryContext

    place = RepositoryContext(server=policy.pr_link.server, repository=github.repository)
    clone = open_clone(Git(Path.cwd()), place, read_token(os.environ))
    if clone is None:
        raise UsageError(
            "The plans of merges are recomputed from git, and this folder is not a clone of the repository.",
            hint="Run it in a clone with the whole history.",
        )
    clone.deepen(policy.base_branch)
    clone.fetch(policy.base_branch, [])
    return clone


def _find_merges(
    event: Event | None, sha: str | None, policy: Policy, github: GitHub, clone: GitClone
) -> tuple[Sequence[PushedMerge], str]:
    """Return the merges, oldest first, and the newest commit of their push."""
    from infx.gate.event import EventName
    from infx.gather.merges import MergeFinder

    finder = MergeFinder(clone.git, policy, github.pulls_of_commit)
    if sha is not None:
        return finder.find_pushed(sha, None), sha
    assert event is not None, "without a SHA the event is read"
    if event.name is not EventName.PUSH:
        raise UsageError("The event is not a push.", hint="Name the merge with --sha.")
    if event.ref != f"refs/heads/{policy.base_branch}" or not (event.head_sha or "").strip("0"):
        return (), event.head_sha or ""
    return finder.find_pushed(event.head_sha or "", event.before), event.head_sha or ""


def write_out(handover: Handover, out: Path | None, policy: Policy) -> None:
    """Write the file for the job that delivers, and the outputs of the step."""
    from infx.publish.decide import PublishVerdict
    from infx.publish.handover import hash_handover, render_handover, render_metadata

    if out is None:
        return
    data = render_handover(handover)
    out.mkdir(parents=True, exist_ok=True)
    write_file(out / HANDOVER, data)
    verdicts = [merge.verdict for merge in handover.merges]
    if PublishVerdict.PUBLISH in verdicts:
        write_file(
            out / METADATA, render_metadata(handover.base, handover.head, _read_entries(handover, policy))
        )
    work = sum(verdict is not PublishVerdict.NOTHING for verdict in verdicts)
    actions.write_outputs(os.environ, {"sum": hash_handover(data), "merges": str(work)})


def _read_entries(handover: Handover, policy: Policy) -> list[object]:
    """Return the entries that the push adds, in the form in which a plan has them."""
    from infx.changelog.delta import read_delta
    from infx.git import Git
    from infx.matrix.render import render_entry

    path = policy.changelog
    before, after = Git(Path.cwd()).read_many([(handover.base, path), (handover.head, path)])
    return [render_entry(entry) for entry in read_delta(before or b"", after or b"", path).entries]


def read_handover(path: Path, digest: str | None, repository: str) -> Handover:
    """Return what the other job has validated. Raises UsageError unless it is that file."""
    from infx.publish.handover import parse_handover

    data = read_file(path, "file")
    if digest is None:
        raise UsageError(
            "--from needs the SHA-256 of the file.",
            hint="Give --sum, the output of the job that wrote the file.",
        )
    return parse_handover(data, str(path), digest=digest, repository=repository)


def deliver(handover: Handover, policy: Policy, github: GitHub, *, recovers: bool, as_json: bool) -> int:
    """Deliver the merges, print what happened, and return the exit code."""
    from infx.apply.publish import deliver_all

    publisher = make_publisher(handover, policy, github, recovers=recovers)
    reports, failures = deliver_all(publisher, handover.merges)
    _show(reports, failures, as_json=as_json)
    codes = [1 for report in reports if not report.is_good] + [error.exit_code for _, error in failures]
    return max(codes, default=0)


def make_publisher(handover: Handover, policy: Policy, github: GitHub, *, recovers: bool) -> Publisher:
    from infx.apply.publish import Publisher
    from infx.cli.store import open_results

    target = policy.publish.target
    if target is not None and handover.run is None:
        raise UsageError(
            f"Only a run of a workflow can send an event to {target}, because the target reads the changelog's entries there.",
            hint=f"Run gh workflow run {policy.publish.workflow_file} -f sha=SHA instead.",
        )
    run, attempt = os.environ.get("GITHUB_RUN_ID", ""), os.environ.get("GITHUB_RUN_ATTEMPT", "1")
    server = policy.pr_link.server
    own = f"{run}-{attempt}" if run else uuid.uuid4().hex
    page = f"{server}/{github.repository}" + (f"/actions/runs/{run}" if run else "")
    return Publisher(
        github=github,
        policy=policy,
        store=open_results(policy),
        target=connect_target(target, github),
        claim=f"{page}#{own}",
        merge_run=handover.run,
        now=github.ask_time(),
        recovers=recovers,
    )


def connect_target(target: str | None, github: GitHub) -> GitHub | None:
    """Return a client for the repository that takes events; None without a token for it."""
    from infx.github.api import connect

    if target is None:
        return None
    if target.lower() == github.repository.lower():  # the workflow's own token may dispatch here
        return github
    token = os.environ.get(TARGET_TOKEN, "").strip()
    if not token:
        return None
    from infx.cli.github import wait

    environ = {**os.environ, "GH_TOKEN": token}
    return connect(target, environ=environ, sleep=wait)


def _show(
    reports: Sequence[DeliveryReport], failures: Sequence[tuple[str, InfxError]], *, as_json: bool
) -> None:
    from infx.escape import prose

    lines = [line for report in reports for line in report.words.splitlines()]
    lines += [f"{sha[:12]}: {error.message}" for sha, error in failures]
    actions.write_summary(os.environ, "### Published\n\n" + "".join(f"- {prose(line)}\n" for line in lines))
    print_problems([problem for _, error in failures for problem in error.problems], os.environ)
    print_text("\n".join(lines), os.environ, err=as_json)
    if as_json:
        shown = [{"sha": report.sha, "words": report.words, "good": report.is_good} for report in reports]
        print_json({"merges": shown, "failed": [sha for sha, _ in failures]})

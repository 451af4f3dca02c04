"""infx publish: deliver the results of merges."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx import actions
from infx.cli.github import Connect, github_options
from infx.cli.options import (
    Digest,
    FullSha,
    OutputPath,
    event_options,
    examples,
    format_option,
    policy_option,
)
from infx.cli.report import print_json, print_text
from infx.gather.local import Receive
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.publish.handover import Handover

HANDOVER, METADATA = "publish.json", "changelog_metadata.json"


@examples(
    "infx publish --sha 0123456789012345678901234567890123456789 --dry-run",
    "infx publish --event event.json --out publish",
    "infx publish --from publish/publish.json --sum e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
)
@click.command()
@event_options
@click.option("--sha", type=FullSha(), metavar="SHA", help="A merge, instead of the push of an event.")
@click.option(
    "--recover", is_flag=True, help="Send an event again of which it is unknown whether it was sent."
)
@click.option(
    "--out",
    type=OutputPath(folder=True),
    metavar="DIRECTORY",
    help="Only read and validate; write the results to this folder, for --from.",
)
@click.option(
    "--from",
    "handover_file",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Only deliver: the file publish.json that --out wrote.",
)
@click.option(
    "--sum",
    "digest",
    type=Digest(),
    metavar="HEX",
    help="SHA-256 of that file, from the output of the job that wrote it.",
)
@click.option("--dry-run", is_flag=True, help="Read and validate, but write nothing.")
@policy_option
@github_options
@format_option
@click.pass_context
def publish(
    ctx: click.Context,
    receive: Receive,
    sha: str | None,
    recover: bool,
    out: Path | None,
    handover_file: Path | None,
    digest: str | None,
    dry_run: bool,
    connect: Connect,
    policy: Policy,
    as_json: bool,
) -> None:
    """Deliver the results of merges: store them, and tell the policy's target.

    Without --out and --from, one call does both. In workflows a job without a token that writes validates, and
    another job delivers.
    """
    from infx.cli.publish_jobs import deliver, read_handover, validate, write_out

    if handover_file is not None:
        handover = read_handover(handover_file, digest, connect().repository)
    else:
        handover = validate(receive, sha, policy, connect(), recovers=recover)
    if dry_run or out is not None:
        write_out(handover, out, policy)
        show(handover, as_json=as_json)
        return
    ctx.exit(deliver(handover, policy, connect(), recovers=recover, as_json=as_json))


def show(handover: Handover, *, as_json: bool) -> None:
    """Print the decisions; on Actions, also write them to the step's summary."""
    from infx.escape import prose
    from infx.saved import to_json

    lines = [merge.sentence for merge in handover.merges] or ["No merge of this push changes the changelog."]
    lines += [f"  {problem}" for merge in handover.merges for problem in merge.problems]
    actions.write_summary(os.environ, "### Publication\n\n" + "".join(f"- {prose(line)}\n" for line in lines))
    print_text("\n".join(lines), os.environ, err=as_json)
    if as_json:
        merges = [to_json(merge) for merge in handover.merges]
        print_json({"merges": [{**merge, "rows": len(merge["rows"])} for merge in merges]})

"""infx hub: run the embedded stand-in for GitHub as a separate process."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.options import OutputPath, RepositoryName, examples, find_infx
from infx.cli.signals import exit_on_signals

if TYPE_CHECKING:
    from infx.hub import Hub


@click.group()
def hub() -> None:
    """Try commands against a stand-in for GitHub."""


@examples("infx hub serve --port 0")
@hub.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    metavar="N",
    help="Port to listen on; 0 for any free port.",
)
@click.option(
    "--repo",
    type=RepositoryName(),
    default="acme/bench",
    show_default=True,
    metavar="OWNER/NAME",
    help="Name of the repository.",
)
@click.option("--empty", is_flag=True, help="Start without sample pull requests.")
@click.option(
    "--folder",
    type=OutputPath(folder=True),
    help="Folder for its git repository. Default: a temporary folder, removed at the end.",
)
def serve(port: int, repo: str, folder: Path | None, *, empty: bool) -> None:
    """Serve a stand-in for GitHub's REST API until it is interrupted."""
    from infx.errors import UnavailableError
    from infx.hub import Hub
    from infx.hub.seed import add_people, seed

    try:
        served = Hub(folder, repository=repo, port=port)
    except OSError as error:
        if error.filename:
            raise  # the error is about --folder, not about the port
        raise UnavailableError(
            f"Port {port} cannot be used: {error.strerror}.", hint="Give another --port."
        ) from None
    with exit_on_signals(0), served:
        add_people(served)
        samples = [] if empty else seed(served)
        click.echo(describe(served, [(sample.number, sample.words) for sample in samples]))
        try:
            served.wait()
        except KeyboardInterrupt:
            click.echo("Stopped.", err=True)


def describe(served: Hub, samples: list[tuple[int, str]]) -> str:
    """Return the lines that explain how to use the hub from another terminal."""
    scopes = {"pull_requests": "write", "statuses": "write", "actions": "write"}
    bot = served.workflow_token({**scopes, "contents": "read", "checks": "read"})
    mia = served.user_token("mia")
    lines = [
        f"{served.repository} is served at {served.api}; interrupt to stop.",
        "",
        *(f"  pull request {number} {words}" for number, words in samples),
        "",
        "In another terminal:",
        "",
        f"  export GITHUB_API_URL={served.api} GH_TOKEN={bot}   # a workflow's token",
        f"  git clone {shlex.quote(str(served.git.path))} bench && cd bench",
        *(
            f"  {find_infx()} {command} --pr {samples[0][0]}"
            for command in ("explain", "reconcile")
            if samples
        ),
        "",
        f"GH_TOKEN={mia} is mia, who may do everything.",
    ]
    return "\n".join(lines)

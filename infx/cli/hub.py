"""infx hub: run the embedded stand-in for GitHub as a separate process, and play pull requests on it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.options import OutputPath, RepositoryName, examples
from infx.cli.signals import exit_on_signals

if TYPE_CHECKING:
    from infx.hub import Hub

PORT = 8765
SAMPLE_NAME = "acme/bench"


@click.group()
def hub() -> None:
    """Try commands against a stand-in for GitHub."""


@examples("infx hub serve --port 0", "infx hub serve --from .", "infx hub serve --from . --branch my-branch")
@hub.command()
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    metavar="N",
    help="Port to listen on; 0 for any free port.",
)
@click.option(
    "--from",
    "source",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Serve the repository of this clone, with a pull request for each local branch. The clone is only read.",
)
@click.option(
    "--branch",
    "branches",
    multiple=True,
    metavar="NAME",
    help="With --from: open a pull request for this branch only. May be repeated.",
)
@click.option(
    "--repo",
    type=RepositoryName(),
    metavar="OWNER/NAME",
    help=f"Name of the repository. Default: the policy's or the remote's with --from, else {SAMPLE_NAME}.",
)
@click.option("--empty", is_flag=True, help="Start without sample pull requests.")
@click.option(
    "--folder",
    type=OutputPath(folder=True),
    help="Folder for its git repository. Default: a temporary folder, removed at the end.",
)
def serve(
    port: int,
    source: Path | None,
    branches: tuple[str, ...],
    repo: str | None,
    folder: Path | None,
    *,
    empty: bool,
) -> None:
    """Serve a stand-in for GitHub's REST API until it is interrupted."""
    from infx.cli.hub_start import start

    if source is None and branches:
        raise click.UsageError("--branch needs --from.")
    if source is not None and empty:
        raise click.UsageError("--empty and --from exclude each other.")
    with exit_on_signals(0):
        served, words = start(port, source, branches, repo, folder, is_empty=empty)
        with served:
            click.echo(words)
            _wait(served)


def _wait(served: Hub) -> None:
    try:
        served.wait()
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)


@examples("infx hub play 12", "infx hub play 12 --folder played")
@hub.command()
@click.argument("number", type=click.IntRange(1), metavar="N")
@click.option(
    "--url",
    envvar="GITHUB_API_URL",
    default=f"http://127.0.0.1:{PORT}",
    show_default=True,
    metavar="URL",
    help="Address of the hub, as infx hub serve prints it.",
)
@click.option(
    "--folder",
    type=OutputPath(folder=True),
    help="Folder for checkouts, plans, logs and results. Default: a temporary folder, removed at the end.",
)
def play(number: int, url: str, folder: Path | None) -> int:
    """Play the workflows of pull request N on this machine: the changelog check, the sweep with its rows, the comments.

    The rows run one after another, with the repository's own row command or launch.
    """
    from infx.cli.hub_play import play_pull

    with exit_on_signals():
        return play_pull(number, url, folder)

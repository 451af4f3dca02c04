"""infx demo: play the whole life of pull requests on this machine."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from infx.cli.console import make_console
from infx.cli.options import OutputPath, examples, find_infx
from infx.cli.signals import exit_on_signals

if TYPE_CHECKING:
    from rich.console import Console

    from infx.demo.play import Play

_GUIDE = "docs/adopting.md"


class _SceneName(click.Choice[str]):
    """The name of a scene, in upper or lower case."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert(value.upper(), param, ctx)


@examples("infx demo --html demo.html", "infx demo --scene B --keep")
@click.command()
@click.option("--scene", type=_SceneName(["A", "B", "C", "D"]), help="Play only this scene.")
@click.option("--step", is_flag=True, help="Wait for a key between scenes.")
@click.option("--html", type=OutputPath(), help="Write a page with the pull requests to this file.")
@click.option("--keep", is_flag=True, help="Leave the hub running at the end, and print its address.")
def demo(scene: str | None, step: bool, html: Path | None, keep: bool) -> None:
    """Play six pull requests from the first push to published results, offline.

    A hub on this machine replaces GitHub; the commands are those that the workflows run. Takes less than a minute.
    """
    console = make_console("infx demo")
    from infx.demo.play import play
    from infx.page.library import read_library

    if html:
        read_library()  # a missing package ends the demo before it starts, not after it
    started = time.perf_counter()
    with (
        exit_on_signals(),
        tempfile.TemporaryDirectory(prefix="infx-demo-") as folder,
        play(Path(folder)) as story,
    ):
        _play(story, console, scene, step=step)
        if html:
            html.write_text(story.page(), encoding="utf-8")
        seconds = time.perf_counter() - started
        _print(console, f"\n{story.counts()}, {seconds:.0f} s.\n\nWhat to try next:\n")
        _print(console, "\n".join(_describe_next_steps(html)))
        if keep:
            _keep(story, console)


def _play(story: Play, console: Console, scene: str | None, *, step: bool) -> None:
    from infx.play.tell import RowProgress, Teller

    teller = Teller(console)
    story.begin(teller.tell, RowProgress(console))
    for number, (name, act) in enumerate(story.scenes(scene).items()):
        if step and number:
            click.pause("\nPress a key for the next scene …")
        teller.print_title(name, act.words)
        act.play()


def _keep(story: Play, console: Console) -> None:
    _print(console, story.explain_next_steps(find_infx()))
    try:
        with exit_on_signals(0):
            story.hub.wait()
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)


def _describe_next_steps(html: Path | None) -> Iterator[str]:
    """Return lines that fit into 80 columns, unless a file's name is long."""
    infx = find_infx(Path.cwd())
    yield from _list(
        (str(html) if html else f"{infx} demo --html demo.html", "what went wrong, and what infx did"),
        (f"{infx} demo --step --scene A", "one scene at a time"),
        (f"{infx} demo --keep", "try commands; the hub keeps running"),
        *([(_GUIDE, "adopt infx in your repository")] if Path(_GUIDE).is_file() else []),
    )
    anywhere = find_infx()
    yield f"\nIn a clone of your own repository{'' if anywhere == 'infx' else f', where infx is {anywhere}'}:\n"
    yield from _list(
        ("infx config check", "find errors before a GPU is used"),
        ("infx explain --pr N", "see why a sweep did or did not start"),
        ("infx signoff verify --pr N", "verify a reviewer's sign-off"),
    )


def _list(*steps: tuple[str, str]) -> Iterator[str]:
    width = max(len(command) for command, _ in steps[1:])
    return (f"  {command:<{width}}  {words}" for command, words in steps)


def _print(console: Console, text: str) -> None:
    """Print text without wrapping it: a wrapped command cannot be copied."""
    console.print(text, highlight=False, markup=False, soft_wrap=True)

"""infx demo: the whole life of a pull request on this machine."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import click


@click.command()
@click.option("--scene", type=click.Choice(["A", "B", "C"], case_sensitive=False), help="Only this one.")
@click.option("--step", is_flag=True, help="Wait for a key between scenes.")
@click.option("--html", type=click.Path(path_type=Path, dir_okay=False), help="Write the page to this file.")
@click.option("--keep", is_flag=True, help="Leave the hub running at the end, and say where.")
def demo(scene: str | None, step: bool, html: Path | None, keep: bool) -> None:
    """Play three pull requests from the first push to the merge, offline.

    A hub on this machine stands in for GitHub; everything else is what the workflows run. Takes less than a minute.
    """
    from rich.console import Console

    from infx.demo.play import play
    from infx.demo.tell import RowProgress, Teller

    console = Console()
    teller = Teller(console)
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="infx-demo-") as folder, play(Path(folder)) as story:
        story.begin(teller.tell, RowProgress(console))
        for name, act in story.scenes(scene).items():
            teller.title(name, act.words)
            act.play()
            if step:
                click.pause("\nPress a key for what comes next …")
        if html:
            html.write_text(story.page(), encoding="utf-8")
        console.print(f"\n{story.summary(time.perf_counter() - started)}", highlight=False)
        console.print(_next_steps(html), highlight=False, markup=False)
        if keep:
            console.print(story.how_to_go_on(), highlight=False, markup=False)
            story.hub.wait()


def _next_steps(html: Path | None) -> str:
    page = f"  open {html}                 what each pull request looked like in the end\n" if html else ""
    return (
        f"\nWhat to try next:\n{page}"
        "  infx demo --step --scene A       one scene at a time\n"
        "  infx demo --keep                 go on by hand, with a hub that stays\n"
        "  infx explain --pr N              ask why a sweep did or did not start\n"
        "  docs/adopting.md                 move a repository over in an afternoon"
    )

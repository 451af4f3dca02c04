"""`infx demo`: its options, single scenes, and a hub that keeps running. tests/demo tests the content."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

import click
import pytest

from infx.cli import infx
from infx.cli.shell import run
from infx.demo.play import play
from infx.demo.story import Story
from infx.github.api import connect
from tests.calling import call
from tests.conftest import ROOT
from tests.demo.quiet import Quiet, offline


@pytest.fixture
def acts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the scenes by empty ones, and return a list of the calls."""
    happened: list[str] = []

    def act(name: str) -> Callable[[Story], None]:
        def scene(_: Story) -> None:
            happened.append(name)

        scene.__doc__ = f"Nothing happens in {name}.\n\nReally."
        return scene

    for name in "abcd":
        monkeypatch.setattr(Story, f"scene_{name}", act(name.upper()))
    monkeypatch.setattr(Story, "set_the_stage", lambda _: happened.append("stage"))
    monkeypatch.setattr(click, "pause", lambda *_: happened.append("pause"))
    return happened


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ["stage", "A", "B", "C", "D"]),
        (["--step"], ["stage", "A", "pause", "B", "pause", "C", "pause", "D"]),
        (["--scene", "B"], ["stage", "B"]),
        (["--scene", "c", "--step"], ["stage", "C"]),
    ],
)
def test_scenes_and_the_key_between_them(arguments: list[str], expected: list[str], acts: list[str]) -> None:
    called = call("demo", *arguments)
    assert called.code == 0
    assert acts == expected
    titles = re.findall(r"(?m)^Scene (.)  Nothing happens in \1\.$", called.out)
    assert titles == [act for act in expected if act in "ABCD"]


def test_an_unknown_scene_is_a_usage_error(acts: list[str]) -> None:
    called = call("demo", "--scene", "e")
    assert called.code == 2
    assert "'E' is not one of 'A', 'B', 'C', 'D'." in called.err
    assert acts == []


def test_the_end_lists_what_to_try_next(acts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands name the path of infx if it is not on PATH, and the lines fit a terminal."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(sys, "executable", str(ROOT / ".venv/bin/python"))
    shown = call("demo").out.partition("What to try next:\n\n")[2]
    lines = [line for line in shown.splitlines() if line.startswith("  ")]
    assert [line.split("  ")[1] for line in lines] == [
        ".venv/bin/infx demo --html demo.html",
        ".venv/bin/infx demo --step --scene A",
        ".venv/bin/infx demo --keep",
        "docs/adopting.md",
        "infx config check",
        "infx explain --pr N",
        "infx signoff verify --pr N",
    ]
    assert max(map(len, lines)) <= 80
    infx_itself = shlex.quote(str(ROOT / ".venv/bin/infx"))
    assert f"In a clone of your own repository, where infx is {infx_itself}:" in shown
    assert (ROOT / "docs/adopting.md").is_file()
    assert acts


def test_a_page_that_cannot_be_written_is_refused_before_the_play(acts: list[str], tmp_path: Path) -> None:
    assert call("demo", "--html", str(tmp_path / "no" / "x.html")).code == 2
    assert acts == []


def test_a_page_that_may_not_be_changed_is_refused(
    acts: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "demo.html"
    page.write_text("mine")
    monkeypatch.setattr(os, "access", lambda path, mode: (path, mode) != (page, os.W_OK))
    called = call("demo", "--html", str(page))
    assert called.code == 2
    assert f"{str(page)!r} cannot be written: permission denied." in called.err
    assert acts == []


def test_a_failing_command_shows_its_output_and_no_traceback(
    acts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def scene(story: Story) -> None:
        """Call a command that fails."""
        story.stage.command("cody", "mistypes", "plan", "--nonsense", at=story.stage.folder)

    monkeypatch.setattr(Story, "scene_a", scene)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    called = call("demo")
    assert called.code == 4
    assert "No such option" in called.out
    assert called.err.splitlines() == [
        "The demo stops here: `infx plan --nonsense` ended with 2 instead of 0. Its output is above."
    ]
    assert acts == ["stage"]
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_ends_the_demo_at_any_point(acts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """An interrupt inside a command must not end only that command."""

    def interrupt() -> None:
        raise KeyboardInterrupt

    def scene(story: Story) -> None:
        """Interrupt the demo."""
        monkeypatch.setattr("infx.gather.config_files.find_root", lambda *_: interrupt())
        story.stage.command("cody", "waits", "config", "check", at=story.stage.folder)

    monkeypatch.setattr(Story, "scene_a", scene)
    called = call("demo")
    assert called.code == 130
    assert called.err.splitlines() == ["Stopped."]
    assert acts == ["stage"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_kill_and_a_closed_terminal_leave_no_files(
    number: signal.Signals, acts: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def scene(story: Story) -> None:
        """Send the signal of a closed terminal."""
        assert list(tmp_path.iterdir()) == [story.stage.folder]
        os.kill(os.getpid(), number)

    monkeypatch.setattr(Story, "scene_a", scene)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    earlier_handler = signal.getsignal(number)
    with pytest.raises(SystemExit) as ended:
        run(infx, ["demo"], {})  # `call` would make its own temporary folder
    assert ended.value.code == 128 + number
    assert list(tmp_path.iterdir()) == []
    assert signal.getsignal(number) is earlier_handler
    assert acts == ["stage"]


@pytest.mark.parametrize("scene", [pytest.param("B", marks=pytest.mark.nightly), "C"])
def test_a_scene_can_be_played_alone(
    scene: str, kept: Kept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second play, from another folder, makes the same page except for what is measured."""
    monkeypatch.setenv("GIT_DIR", "/nonexistent")
    monkeypatch.setenv("GIT_AUTHOR_NAME", "amy")
    with offline(), play(tmp_path) as story:
        story.begin(lambda _: None, Quiet())
        ((_, act),) = story.scenes(scene).items()
        act.play()
        (number,) = {step.pull for step in story.stage.steps if step.pull}
        assert story.hub.state.pulls[number].merged_at
        if scene == kept.scene:
            assert without_measurements(story.page()) == without_measurements(
                kept.page.read_text(encoding="utf-8")
            )


def without_measurements(page: str) -> list[str]:
    """Return the lines of a page without the data of charts, decimal numbers, cells of numbers, lengths and checksums."""
    page = re.sub(r'(<script type="application/json"[^>]*>).*?</script>', r"\1", page, flags=re.DOTALL)
    measured = r"[\d,]+\.\d+|(?<=<td>)[\d,]+(?=</td>)|[\d,]+(?= characters)|(?<=--sum )[0-9a-f]+"
    return re.sub(measured, "…", page).replace("><", ">\n<").splitlines()


@dataclass
class Kept:
    """A demo whose hub keeps running."""

    process: subprocess.Popen[str]
    shown: str
    scene: str
    page: Path
    temporary: Path

    def find(self, pattern: str) -> str:
        (match,) = re.findall(pattern, self.shown)
        return str(match)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kept]:
    folder = tmp_path_factory.mktemp("kept")
    temporary, page = folder / "a folder's name", folder / "demo.html"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "infx", "demo", "--scene", "C", "--keep", "--html", str(page)],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    shown = []
    for line in process.stdout:
        shown.append(line)
        if "--signed mia" in line:
            break
    yield Kept(process, "".join(shown), "C", page, temporary)
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_kept_hub_answers_until_it_is_interrupted(kept: Kept, tmp_path: Path) -> None:
    """The printed command lines work, and an interrupt leaves no files."""
    environ = dict(re.findall(r"(GITHUB_API_URL|GITHUB_REPOSITORY|GH_TOKEN)=(\S+)", kept.shown))
    assert environ["GITHUB_API_URL"] == kept.find(r"The hub keeps running at (\S+);")
    assert connect("acme/bench", environ=environ).pull(3405).is_merged
    clone = shlex.split(kept.find(r"(git clone .+ bench) &&"))
    subprocess.run(clone, cwd=tmp_path, check=True, capture_output=True)
    by_hand = kept.shown.partition(" bench && cd bench\n")[2]
    lines = [line for line in by_hand.splitlines() if line.startswith("  ")]
    outputs = [type_in(line, tmp_path / "bench", environ) for line in lines]
    expected = (
        "no label that starts a sweep",
        "10 rows of 1 configuration",
        '"name": "full-sweep-fail-fast"',
        "Sweep: full, first a canary",
        "create the greeting comment",
        "Signed: mia",
    )
    assert [words in text for words, text in zip(expected, outputs, strict=True)] == [True] * 6
    (place,) = kept.temporary.iterdir()
    assert place.name.startswith("infx-demo-")
    interrupt(kept)
    assert list(kept.temporary.iterdir()) == []


def type_in(line: str, place: Path, environ: Mapping[str, str]) -> str:
    """Run a command line as a shell would, but replace curl by Python."""
    if line.split(maxsplit=1)[0] == "curl":
        _, _, _, header, _, data, address = shlex.split(Template(line).substitute(environ))
        request = urllib.request.Request(address, data.encode(), dict([header.split(": ")]))
        with urllib.request.urlopen(request) as answer:
            return str(answer.read().decode())
    process = subprocess.run(
        [sys.executable, "-m", "infx", *shlex.split(line)[1:]],
        cwd=place,
        env={**os.environ, **environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout + process.stderr


def interrupt(kept: Kept) -> None:
    kept.process.send_signal(signal.SIGINT)
    assert kept.process.wait(60) == 0
    assert kept.process.stdout is not None
    assert kept.process.stdout.read().splitlines()[-1] == "Stopped."

"""The script that imports an image, run with stand-ins for enroot and unsquashfs."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from pathlib import Path

import pytest

from infx.launch.image import FILE_INVALID, IMPORT_FAILED, LOCK_TIMED_OUT, expand_home, make_import
from infx.launch.steps import ImageImport

# A squash file of these tests begins with `good`.
UNSQUASHFS = """\
#!/bin/sh
grep -q "^good" "$2"
"""
ENROOT = """\
#!/bin/sh
echo "$@ temp=$ENROOT_TEMP_PATH cache=$ENROOT_CACHE_PATH" >> "$LOG"
test -z "$ENROOT_TEMP_PATH" || test -d "$ENROOT_TEMP_PATH" || exit 9
printf "%s" "$CONTENT" > "$3"
test -z "$READY" || { echo started > "$READY"; exec sleep 60; }
exit "$CODE"
"""


class Machine:
    """A folder for images, and programs on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.images, self.log = folder, folder / "images", folder / "log"
        self.file = self.images / "a.sqsh"
        programs = folder / "bin"
        programs.mkdir()
        for name, text in (("enroot", ENROOT), ("unsquashfs", UNSQUASHFS)):
            (programs / name).write_text(text)
            (programs / name).chmod(0o755)
        self.environment = {
            "PATH": f"{programs}:{os.environ['PATH']}",
            "LOG": str(self.log),
            "CONTENT": "good",
            "CODE": "0",
        }

    def argv(self, lock_seconds: int = 0, scratch: str = "") -> tuple[str, ...]:
        facts = ImageImport(
            file=str(self.file), address="docker://acme/x:1", is_on_node=False, lock_seconds=lock_seconds
        )
        return make_import(facts, ("srun",), {}, minutes=1, scratch=scratch).argv

    def run(self, scratch: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(scratch=scratch),
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def names(self) -> set[str]:
        """Names of files in the folder of images; the lock stays."""
        return {path.name for path in self.images.iterdir()} - {"a.sqsh.lock"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_an_image_is_imported_and_gets_its_name_at_the_end(machine: Machine) -> None:
    done = machine.run()
    assert (done.returncode, done.stderr) == (0, "")
    assert machine.names == {"a.sqsh"}
    assert machine.file.read_text() == "good"
    imported = machine.log.read_text().split()
    assert imported[:2] == ["import", "-o"]
    assert imported[2] != str(machine.file)  # not visible half-written
    assert imported[3] == "docker://acme/x:1"


def test_a_valid_image_is_not_imported_again(machine: Machine) -> None:
    machine.images.mkdir()
    machine.file.write_text("good, from before")
    assert machine.run().returncode == 0
    assert not machine.log.exists()
    assert machine.file.read_text() == "good, from before"


@pytest.mark.parametrize("content", ["", "half"])
def test_a_damaged_image_is_replaced(machine: Machine, content: str) -> None:
    machine.images.mkdir()
    machine.file.write_text(content)
    assert machine.run().returncode == 0
    assert machine.file.read_text() == "good"


def test_an_import_that_fails_is_a_failure_and_leaves_nothing(machine: Machine) -> None:
    done = machine.run(CODE="3")
    assert done.returncode == IMPORT_FAILED
    assert done.stderr.startswith("infx: enroot did not import docker://acme/x:1; free space:\nFilesystem")
    assert machine.names == set()


def test_an_import_that_writes_no_image_is_a_failure(machine: Machine) -> None:
    done = machine.run(CONTENT="half")
    assert done.returncode == FILE_INVALID
    assert done.stderr == "infx: enroot wrote no valid image for docker://acme/x:1\n"
    assert machine.names == set()


def test_a_lock_that_stays_taken_is_a_failure_without_an_import(machine: Machine) -> None:
    machine.images.mkdir()
    with (machine.images / "a.sqsh.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = machine.run()
    assert done.returncode == LOCK_TIMED_OUT
    assert "another import held" in done.stderr
    assert not machine.log.exists()


def test_a_folder_that_cannot_be_written_is_a_failure(machine: Machine) -> None:
    machine.images.write_text("a file where the folder should be")
    done = machine.run()
    assert done.returncode == IMPORT_FAILED
    assert f"infx: cannot write in {machine.images}\n" in done.stderr


def test_work_files_are_in_a_scratch_folder_that_is_removed(machine: Machine) -> None:
    begin = machine.folder / "scratch"
    assert machine.run(scratch=str(begin)).returncode == 0
    logged = machine.log.read_text()
    assert f"temp={begin}." in logged
    assert f"cache={begin}." in logged
    assert list(machine.folder.glob("scratch.*")) == []


def test_folders_of_the_import_are_made_for_the_owner_only(machine: Machine) -> None:
    temporary = machine.folder / "own" / "tmp"
    assert machine.run(TMPDIR=str(temporary)).returncode == 0
    assert temporary.stat().st_mode & 0o777 == 0o700


def test_old_leftovers_are_removed_and_a_running_import_is_not(machine: Machine) -> None:
    machine.images.mkdir()
    old, new = machine.images / "a.sqsh.importing.n1.1", machine.images / "a.sqsh.importing.n2.2"
    for path in (old, new):
        path.write_text("half")
    os.utime(old, (0, 0))
    assert machine.run().returncode == 0
    assert machine.names == {"a.sqsh", new.name}


def test_an_import_that_is_stopped_leaves_nothing(machine: Machine) -> None:
    ready = machine.folder / "ready"
    os.mkfifo(ready)
    process = subprocess.Popen(
        machine.argv(), env={**machine.environment, "READY": str(ready)}, start_new_session=True
    )
    assert ready.read_text() == "started\n"  # blocks until enroot runs
    os.killpg(process.pid, signal.SIGTERM)
    assert process.wait(timeout=30) == 143
    assert machine.names == set()


def test_the_home_folder_is_a_placeholder_because_no_shell_reads_it() -> None:
    assert expand_home({"ENROOT_CACHE_PATH": "$HOME/.cache"}) == {"ENROOT_CACHE_PATH": "{home}/.cache"}

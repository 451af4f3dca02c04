"""The harness takes a silent act for a crashed one, and nothing else."""

from __future__ import annotations

from pathlib import Path

from tests.act.harness import has_crashed, run_tool

# Says what a Go program says of SIGQUIT, and waits for a line that never comes.
SILENT = (
    r"""trap 'printf "SIGQUIT\n\ngoroutine 1\n" >&2; exit 2' QUIT; echo begun; while :; do sleep 0.05; done"""
)


def test_a_silent_tool_is_ended_as_crashed(tmp_path: Path) -> None:
    done = run_tool(["bash", "-c", SILENT], tmp_path, tmp_path, silence=0.5)
    assert has_crashed(done)
    assert done.stdout == "begun\n"


def test_a_failed_run_is_no_crash(tmp_path: Path) -> None:
    done = run_tool(["bash", "-c", "echo told; echo blamed >&2; exit 2"], tmp_path, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "told\n", "blamed\n")
    assert not has_crashed(done)

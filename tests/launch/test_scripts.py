"""The shell scripts inside launches have no findings of shellcheck."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from infx.launch import docker, image, slurm, srt_scripts, transfer


def test_shellcheck_has_no_findings(tmp_path: Path) -> None:
    scripts = {
        f"{module.__name__}.{name}": value
        for module in (docker, image, slurm, srt_scripts, transfer)
        for name, value in vars(module).items()
        if name.isupper() and isinstance(value, str) and "\n" in value
    }
    assert len(scripts) >= 10
    for name, text in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/bash\n{text}")
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([shellcheck, *tmp_path.iterdir()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout

"""An installation from a source archive has the same files as one from a clone, although the demo's data are links."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

import pytest
from flit_core import buildapi

from tests.conftest import ROOT


def test_a_wheel_of_the_source_archive_holds_all_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with tarfile.open(tmp_path / buildapi.build_sdist(str(tmp_path))) as archive:
        archive.extractall(tmp_path, filter="data")
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    monkeypatch.chdir(unpacked)
    with zipfile.ZipFile(tmp_path / buildapi.build_wheel(str(tmp_path))) as wheel:
        installed = {name: wheel.read(name) for name in wheel.namelist() if name.startswith("infx/")}
    assert installed == {
        str(path.relative_to(ROOT)): path.read_bytes()
        for path in (ROOT / "infx").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

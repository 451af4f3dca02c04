"""Read uploaded files without trust: links, sizes, broken and hostile files."""

from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import pytest

from infx.artifacts import read_folder, read_zip
from infx.errors import UsageError
from infx.results import artifact


def test_every_folder_is_an_artifact(tmp_path: Path) -> None:
    (tmp_path / "b" / "deep").mkdir(parents=True)
    (tmp_path / "a").mkdir()
    (tmp_path / "b" / "deep" / "x.json").write_text("{}")
    (tmp_path / "b" / "log.txt").write_text("not looked at")
    (tmp_path / "stray.json").write_text("{}")
    artifacts = read_folder(tmp_path)
    assert [(item.name, [file.path for file in item.files]) for item in artifacts] == [
        ("a", []),
        ("b", ["deep/x.json"]),
    ]


def test_links_are_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"token": "x"}')
    folder = tmp_path / "artifacts" / "bmk_x"
    folder.mkdir(parents=True)
    (folder / "a.json").symlink_to(secret)
    (folder / "b").symlink_to(tmp_path)
    (tmp_path / "artifacts" / "bmk_y").symlink_to(tmp_path)
    os.mkfifo(folder / "c.json")
    [only] = read_folder(tmp_path / "artifacts")
    assert [(file.path, file.data) for file in only.files] == [("a.json", b""), ("c.json", b"")]
    assert all("link or a device" in (file.fault or "") for file in only.files)


def test_large_files_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infx.artifacts.MAX_FILE", 10)
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.json").write_bytes(b"x" * 11)
    (tmp_path / "a" / "y.json").write_bytes(b"x" * 10)
    [only] = read_folder(tmp_path)
    assert [file.fault for file in only.files] == ["it has 11 bytes, more than the limit of 10", None]


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infx.artifacts.MAX_FILES", 3)
    (tmp_path / "a").mkdir()
    for number in range(5):
        (tmp_path / "a" / f"{number}.json").write_text("{}")
    [only] = read_folder(tmp_path)
    assert only.fault == "it has more than 3 JSON files"


def test_names_that_are_not_text(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bmk_\xff")
    folder.mkdir()
    (folder / os.fsdecode(b"\xfe.json")).write_text("{}")
    [only] = read_folder(tmp_path)
    assert only.name == "bmk_\ufffd"
    assert only.files[0].path == "\ufffd.json"


def test_a_missing_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        read_folder(tmp_path / "gone")


def test_unexpected_artifacts_are_named_and_not_read(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text("{}")
    uploaded = read_folder(tmp_path, {"b"})
    assert [(item.name, len(item.files)) for item in uploaded] == [("a", 0), ("b", 1)]


def test_artifacts_are_read_one_at_a_time(tmp_path: Path) -> None:
    """All artifacts together may be larger than the memory."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.json").write_text("{}")
    uploaded = read_folder(tmp_path)
    assert next(uploaded).name == "a"
    (tmp_path / "b" / "x.json").write_text("later")
    assert next(uploaded).files[0].data == b"later"


def make_zip(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_a_zip_file_is_read_and_never_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = make_zip({"x.json": b"{}", "../../evil.json": b"{}", "/abs.json": b"{}", "log.txt": b"x"})
    uploaded = read_zip("bmk_x", data)
    assert [file.path for file in uploaded.files] == ["x.json", "../../evil.json", "/abs.json"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"PK", b"no zip file", make_zip({"x.json": b"{}"})[:-10]])
def test_a_file_that_is_not_a_zip_file(data: bytes) -> None:
    assert "not a readable zip file" in (read_zip("bmk_x", data).fault or "")


def test_a_zip_bomb_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    uploaded = read_zip("bmk_x", make_zip({"x.json": b"0" * (artifact.MAX_FILE + 1)}))
    assert "more than the limit of" in (uploaded.files[0].fault or "")


def test_a_zip_file_that_lies_about_a_size() -> None:
    data = bytearray(make_zip({"x.json": b"0" * 100_000}))
    size = (100_000).to_bytes(4, "little")
    while (at := data.find(size)) >= 0:
        data[at : at + 4] = (10).to_bytes(4, "little")
    uploaded = read_zip("bmk_x", bytes(data))
    assert uploaded.fault or uploaded.files[0].fault or len(uploaded.files[0].data) <= 10


def test_the_total_size_of_files_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each file is small enough, but all of them are in memory at once."""
    monkeypatch.setattr("infx.artifacts.MAX_BYTES", 20)
    files = {f"{number}.json": b"x" * 7 for number in range(3)}
    (tmp_path / "a").mkdir()
    for name, data in files.items():
        (tmp_path / "a" / name).write_bytes(data)
    [only] = read_folder(tmp_path)
    for uploaded in (only, read_zip("a", make_zip(files))):
        assert (uploaded.fault, uploaded.files) == ("it has 21 bytes, more than the limit of 20", ())


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_file_with_damaged_data(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("x.json", os.urandom(2000))
    data = bytearray(buffer.getvalue())
    for at in range(40, 1900):  # between the headers
        data[at] = 0xFF
    assert "not a readable zip file" in (read_zip("bmk_x", bytes(data)).fault or "")

from __future__ import annotations

from pathlib import Path

import pytest

from infx.errors import UsageError
from infx.files import NoSuchSourceError, decode_json, read_file, write_file, write_folder


def test_a_missing_file_is_refused_with_its_path_and_a_hint(tmp_path: Path) -> None:
    with pytest.raises(NoSuchSourceError) as refused:
        read_file(tmp_path / "a", "plan", hint="Make one.")
    assert (
        str(refused.value)
        == f"{tmp_path / 'a'}: The plan cannot be read: No such file or directory. Make one."
    )


def test_a_folder_is_refused_but_not_as_missing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"The plan cannot be read: Is a directory\.") as refused:
        read_file(tmp_path, "plan")
    assert type(refused.value) is UsageError


@pytest.mark.parametrize("data", [b"{", b"\xff\xff", b"[" * 100_000], ids=["cut", "no text", "deep"])
def test_other_data_than_json_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match=r"^x\.json: The plan is not JSON: "):
        decode_json(data, "plan", "x.json")


def test_writing_keeps_permissions_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("old")
    file.chmod(0o600)
    write_file(file, b"new")
    assert (file.read_bytes(), file.stat().st_mode & 0o777) == (b"new", 0o600)
    assert list(tmp_path.iterdir()) == [file]


def test_a_failed_write_does_not_change_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a"
    file.write_text("old")

    def fail(_: Path, __: Path) -> Path:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_file(file, b"new")
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_folder_is_written_completely_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):  # the second name leads into a missing folder
        write_folder(tmp_path / "out", {"a": ["1"], "b/c": ["2"]})
    assert list(tmp_path.iterdir()) == []
    digests = write_folder(tmp_path / "out", {"a": ["1"]})
    assert digests == {
        "a": "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"
    }  # of sha256sum
    with pytest.raises(UsageError, match="exists already"):
        write_folder(tmp_path / "out", {})

"""Find and open the store that an address names."""

from __future__ import annotations

import builtins
import sys
from pathlib import Path
from typing import Any

import pytest

from infx.errors import UsageError
from infx.git import Git
from infx.store.open import find_address, open_store
from infx.store.port import StoreError
from tests.store.made import make_publication

SECRET = "hunter2"


def refuse(address: str, folder: Path) -> UsageError:
    with pytest.raises(UsageError) as caught:
        open_store(address, Git(folder), author="octocat")
    return caught.value


def test_the_environment_overrides_the_policy() -> None:
    assert find_address("branch:a", {}) == "branch:a"
    assert find_address("branch:a", {"INFX_STORE": "sqlite:x"}) == "sqlite:x"
    assert find_address("environment", {"INFX_STORE": "sqlite:x"}) == "sqlite:x"
    with pytest.raises(UsageError, match="INFX_STORE"):
        find_address("environment", {"INFX_STORE": ""})


@pytest.mark.parametrize(
    "address",
    ["", "x", "branch:", "branch:-x", "branch:a..b", "branch:a b", "branch:/a", "branch:a/.b", "branch:a.lock",
     "sqlite:", f"mysql://u:{SECRET}@h/d", f"postgresql://u:{SECRET}@h:port/d"],
)  # fmt: skip
def test_a_wrong_address_is_refused_without_showing_its_password(address: str, tmp_path: Path) -> None:
    error = refuse(address, tmp_path)
    assert "address" in error.message
    assert SECRET not in str(error)


@pytest.mark.parametrize("package", ["sqlalchemy", "psycopg"])
def test_a_missing_package_names_the_extra(
    package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == package or name == "infx.store.sql"]:
        monkeypatch.delitem(sys.modules, name)
    original = builtins.__import__

    def refuse_package(name: str, *args: Any, **kwargs: Any) -> Any:
        if name.split(".", maxsplit=1)[0] == package:
            raise ModuleNotFoundError(f"No module named {package!r}", name=package)
        return original(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse_package)
    error = refuse("postgresql://h/d", tmp_path)
    assert package in error.message
    assert "infx[sql]" in (error.hint or "")


def test_an_unreachable_database_is_unavailable_and_shows_no_password(tmp_path: Path) -> None:
    address = f"postgresql://user:{SECRET}@/d?host={tmp_path}"
    store = open_store(address, Git(tmp_path), author="octocat")
    with pytest.raises(StoreError) as caught:
        store.read_newest(["s"])
    assert caught.value.exit_code == 3
    assert SECRET not in str(caught.value)


def test_a_file_that_is_not_a_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_text("text, not SQLite" * 100)
    store = open_store(f"sqlite:{tmp_path / 'x.db'}", Git(tmp_path), author="octocat")
    with pytest.raises(StoreError, match="not a database"):
        store.publish(make_publication(1))


def test_reading_creates_no_database(tmp_path: Path) -> None:
    store = open_store(f"sqlite:{tmp_path / 'x.db'}", Git(tmp_path), author="octocat")
    assert store.list_publications() == ()
    assert list(tmp_path.iterdir()) == []


def test_a_clone_without_a_remote_has_no_branch_store(tmp_path: Path) -> None:
    Git(tmp_path).run("init", "--quiet", str(tmp_path))
    store = open_store("branch:infx-results", Git(tmp_path), author="octocat")
    with pytest.raises(StoreError, match="origin"):
        store.read_newest(["s"])

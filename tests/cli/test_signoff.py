"""`infx signoff template`: the checklist, ready to paste."""

from __future__ import annotations

from pathlib import Path

import pytest

from infx.policy.load import default_policy
from infx.signoff.request import find_missing_part
from tests.calling import Called, call
from tests.conftest import ROOT

PHRASE = default_policy().signoff.phrase


def template(*arguments: str) -> Called:
    return call("signoff", "template", *arguments)


@pytest.mark.parametrize("language", [[], ["--language", "zh"]], ids=["default", "zh"])
def test_template_is_a_signoff_once_it_is_posted(
    language: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = template("--signed", "noor", *language).out
    assert text.startswith(PHRASE)
    assert text.endswith("\nSigned: noor\n")
    assert find_missing_part(text, PHRASE) is None


def test_actor_of_a_job_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GITHUB_ACTOR", "amy")
    assert template().out.endswith("\nSigned: amy\n")


def test_unknown_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    refused = template("--language", "fr")
    assert (refused.code, "no checklist for 'fr'" in refused.err) == (2, True)


def test_folder_without_a_checklist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused = template()
    assert (refused.code, "cannot be read" in refused.err) == (2, True)

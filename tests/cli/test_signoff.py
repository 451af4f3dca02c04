"""`infx signoff template`: the checklist, ready to paste."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from infx.cli.signoff import signoff
from infx.errors import UsageError
from infx.policy.load import default_policy
from infx.signoff.request import find_missing_part

ROOT = Path(__file__).parents[2]
PHRASE = default_policy().signoff.phrase


def run(*arguments: str) -> str:
    result = CliRunner().invoke(signoff, ["template", *arguments], standalone_mode=False)
    if result.exception is not None:
        raise result.exception
    return result.output


@pytest.mark.parametrize("language", [[], ["--language", "zh"]], ids=["default", "zh"])
def test_template_is_a_signoff_once_it_is_posted(
    language: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    text = run("--signed", "noor", *language)
    assert text.startswith(PHRASE)
    assert text.endswith("\nSigned: noor\n")
    assert find_missing_part(text, PHRASE) is None


def test_actor_of_a_job_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GITHUB_ACTOR", "amy")
    assert run().endswith("\nSigned: amy\n")


def test_unknown_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(UsageError, match="no checklist for 'fr'"):
        run("--language", "fr")


def test_folder_without_a_checklist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        run()

"""The questions of `infx init`: on a terminal it asks them, elsewhere they are options."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from infx.codeowners import LOCATIONS
from infx.policy import REPOSITORY_NAME
from infx.records import record

# Name of a question → the words of its answer. A question with one answer has one word.
Texts = Mapping[str, tuple[str, ...]]

_PIN = re.compile(rf"({REPOSITORY_NAME})@([0-9a-f]{{40}})(?:\s*#\s*([!-~]+))?")
_LABEL = r"[A-Za-z0-9][A-Za-z0-9_.:-]*"
_RUNNER = re.compile(rf"({_LABEL})(?:=([A-Za-z0-9][A-Za-z0-9_.-]*))?")
# Characters that mean the same in YAML, in a workflow's filters and in a shell; git allows a few others in branches.
_PATH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9._-]+)*")
_BRANCH = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(?:/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
_OWNER = re.compile(r"@[A-Za-z0-9][A-Za-z0-9-]*(?:/[A-Za-z0-9._-]+)?")
_APP = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]*(?:\[bot\])?")


def split_pin(text: str) -> tuple[str, str, str]:
    """Return repository, SHA and tag of a text like `owner/infx@<sha> # v1.0`. The tag may be empty."""
    match = _PIN.fullmatch(text)
    return (match[1], match[2], match[3] or "") if match else ("", "", "")


def split_runner(text: str) -> tuple[str, str]:
    """Return label and name of a runner, from `label=name`, or from a label alone."""
    label, _, name = text.partition("=")
    return label, name or f"{label.rpartition(':')[2]}_0"


def _check_name(text: str) -> str | None:
    return None if re.fullmatch(REPOSITORY_NAME, text) else "owner/name"


def _check_branch(text: str) -> str | None:
    parts = text.split("/")
    is_refused = any(part.endswith((".lock", ".")) or ".." in part for part in parts)
    return (
        None
        if _BRANCH.fullmatch(text) and not is_refused
        else "a branch of letters, digits and . _ - / that git accepts"
    )


def _check_path(text: str) -> str | None:
    is_refused = any(part in {".", "..", ".git"} for part in text.split("/"))
    expected = "a path in the repository, of letters, digits and . _ - /, without .."
    return None if _PATH.fullmatch(text) and not is_refused else expected


def _check_runner(text: str) -> str | None:
    match = _RUNNER.fullmatch(text)
    is_valid = match is not None and not text.endswith(":") and split_runner(text)[1][0] != "_"
    return None if is_valid else "a runner's label, or label=name with its name on GitHub"


def _check_yes_or_no(text: str) -> str | None:
    return None if text in {"yes", "no"} else "yes or no"


def _check_owner(text: str) -> str | None:
    return None if _OWNER.fullmatch(text) else "@login or @organization/team"


def _check_app(text: str) -> str | None:
    return (
        None
        if not text or _APP.fullmatch(text)
        else "the App's name in its address on GitHub, such as bench-bot"
    )


def _check_boundary(text: str) -> str | None:
    return None if text.isprintable() else "a sentence on one line"


def _check_pin(text: str) -> str | None:
    return None if _PIN.fullmatch(text) else "owner/infx@<full SHA>"


def _always(_: Texts, __: Callable[[str], bool]) -> bool:
    return True


def _lists_no_runners(texts: Texts, exists: Callable[[str], bool]) -> bool:
    return not any(map(exists, texts.get("runner-config", ())))


def _has_no_owners(texts: Texts, exists: Callable[[str], bool]) -> bool:
    return texts.get("signoffs") == ("yes",) and not any(map(exists, LOCATIONS))


@record
class AdoptionQuestion:
    """A question about the repository.

    Attributes:
        words: what the answer is.
        find_problem: returns what was expected if a word of an answer is not valid.
        is_list: whether an answer may have several words.
        is_needed: whether an answer is needed, after the earlier answers and with the files of the repository.
    """

    name: str
    words: str
    find_problem: Callable[[str], str | None]
    is_list: bool = False
    is_needed: Callable[[Texts, Callable[[str], bool]], bool] = _always

    @property
    def option(self) -> str:
        return f"--{self.name}"

    @property
    def is_required(self) -> bool:
        """Return whether an empty answer is not valid."""
        return self.find_problem("") is not None


QUESTIONS = (
    AdoptionQuestion(name="repo", words="owner/name of this repository on GitHub", find_problem=_check_name),
    AdoptionQuestion(
        name="base-branch",
        words="the branch that pull requests are merged into; it must be the default branch",
        find_problem=_check_branch,
    ),
    AdoptionQuestion(
        name="changelog", words="file of the changelog, which starts sweeps", find_problem=_check_path
    ),
    AdoptionQuestion(
        name="master-config", words="files with configurations", find_problem=_check_path, is_list=True
    ),
    AdoptionQuestion(name="runner-config", words="file that lists the runners", find_problem=_check_path),
    AdoptionQuestion(name="clusters", words="file that describes the clusters", find_problem=_check_path),
    AdoptionQuestion(name="models", words="file that lists the models", find_problem=_check_path),
    AdoptionQuestion(
        name="runner",
        words="a label of the self-hosted runners, such as h200, or label=name with the name of a runner on GitHub",
        find_problem=_check_runner,
        is_list=True,
        is_needed=_lists_no_runners,
    ),
    AdoptionQuestion(
        name="signoffs",
        words="whether reviewers sign off with a checklist, yes or no",
        find_problem=_check_yes_or_no,
    ),
    AdoptionQuestion(
        name="code-owner",
        words="an owner of all files, who may sign off, as @login or @organization/team",
        find_problem=_check_owner,
        is_list=True,
        is_needed=_has_no_owners,
    ),
    AdoptionQuestion(
        name="app", words="the name of your own GitHub App; empty: none", find_problem=_check_app
    ),
    AdoptionQuestion(
        name="runner-boundary",
        words="what keeps a pull request's own workflow off the GPU runners, in a sentence; empty: not protected yet",
        find_problem=_check_boundary,
    ),
    AdoptionQuestion(
        name="actions",
        words="the repository of infx's actions and the commit to use, as owner/infx@<full SHA>",
        find_problem=_check_pin,
    ),
)

MISSING_HINT = {
    "actions": "infx knows its own repository and commit only if pip installed it from git+https://…@<commit>; give the option.",
    "repo": "There is no remote `origin` that names it; give the option.",
    "base-branch": "Give the option, or run this in a clone.",
}


def complete_texts(
    given: Texts,
    defaults: Texts,
    exists: Callable[[str], bool],
    ask: Callable[[AdoptionQuestion, tuple[str, ...]], tuple[str, ...]] | None,
    skipped: Collection[str] = (),
) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the answers to all questions, and the names of the questions that need an answer.

    Args:
        given: answers that the options have.
        exists: whether the repository has a file.
        ask: asks a person, with the default; None: the defaults count, and an answer may be missing.
        skipped: names of questions that do not matter for the files that are made.
    """
    texts: dict[str, tuple[str, ...]] = {}
    needed = []
    for question in QUESTIONS:
        default = defaults.get(question.name, ())
        if given.get(question.name):
            texts[question.name] = given[question.name]
        elif question.name not in skipped and question.is_needed(texts, exists):
            texts[question.name] = ask(question, default) if ask else default
        else:
            continue
        if question.is_required:
            needed.append(question.name)
    return texts, needed


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of an answer that a person typed."""
    return tuple(re.findall(r"[^\s,]+", text))

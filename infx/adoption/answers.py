"""The answers that `infx init` needs, checked and typed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from infx.adoption.questions import MISSING_HINT, QUESTIONS, Texts, split_pin, split_runner
from infx.errors import Problem, ProblemsError
from infx.policy import POLICY_PATH
from infx.records import record


class AnswersError(ProblemsError):
    """Raised with a problem for each answer that is missing or not valid."""

    exit_code = 2


@record
class Pin:
    """The version of infx that a repository's files use.

    Attributes:
        repository: owner/name of the repository with infx's actions.
        tag: the version tag of the commit, or empty if it is not known.
    """

    repository: str
    sha: str
    tag: str = ""

    @property
    def comment(self) -> str:
        """Return the end of a line that names the tag, or an empty text."""
        return f" # {self.tag}" if self.tag else ""

    def make_link(self, path: str) -> str:
        """Return the address of a page of this version."""
        return f"https://github.com/{self.repository}/blob/{self.sha}/{path}"


@record
class RegisteredRunner:
    """A self-hosted runner.

    Attributes:
        label: the label by which jobs request it.
        name: its name on GitHub, which also tells its cluster.
    """

    label: str
    name: str

    @property
    def cluster(self) -> str:
        return self.name.partition("_")[0]

    @property
    def hardware(self) -> str:
        """Return a name of the GPU for file names: `h200` of a runner `h200-a_0`."""
        return self.cluster.partition("-")[0].lower()


@record
class Answers:
    """The choices of a repository that adopts infx. Paths are relative to the repository.

    Attributes:
        runners: empty if the repository lists its runners already.
        code_owners: as CODEOWNERS writes them; empty if the repository has a CODEOWNERS file or no sign-offs.
        app: the login of the repository's own GitHub App, or None.
        runner_boundary: what protects the GPU runners from a pull request's own workflow, or None.
    """

    repository: str
    base_branch: str
    changelog: str
    master_configs: tuple[str, ...]
    runners_file: str
    clusters: str
    models: str
    runners: tuple[RegisteredRunner, ...]
    has_signoffs: bool
    code_owners: tuple[str, ...]
    app: str | None
    runner_boundary: str | None
    pin: Pin


def make_answers(texts: Texts, settled: Texts, needed: Sequence[str]) -> Answers:
    """Return the answers. Raises AnswersError with all problems of the texts.

    Args:
        texts: name of a question → the words of its answer.
        settled: the values that the repository's policy has already.
        needed: the names of the questions that need an answer.
    """
    problems = [*_find_missing(texts, needed), *_find_invalid(texts), *_find_contradictions(texts, settled)]
    problems += _find_repeated_paths(texts)
    if problems:
        raise AnswersError(problems)
    (repository,), (branch,), (actions,) = texts["repo"], texts["base-branch"], texts["actions"]
    owner_name, sha, tag = split_pin(actions)
    runners = [split_runner(text) for text in texts.get("runner", ())]
    app = next(iter(texts.get("app", ())), "")
    return Answers(
        repository=repository,
        base_branch=branch,
        changelog=texts["changelog"][0],
        master_configs=tuple(texts["master-config"]),
        runners_file=texts["runner-config"][0],
        clusters=texts["clusters"][0],
        models=texts["models"][0],
        runners=tuple(RegisteredRunner(label=label, name=name) for label, name in dict.fromkeys(runners)),
        has_signoffs=texts["signoffs"] == ("yes",),
        code_owners=tuple(texts.get("code-owner", ())),
        app=f"{app.removesuffix('[bot]')}[bot]" if app else None,
        runner_boundary=next(iter(texts.get("runner-boundary", ())), "") or None,
        pin=Pin(repository=owner_name, sha=sha, tag=tag),
    )


def _find_missing(texts: Texts, needed: Sequence[str]) -> Iterator[Problem]:
    for question in QUESTIONS:
        if question.name in needed and not texts.get(question.name):
            yield Problem(
                rule="answer-missing",
                message=f"{question.option} is missing: {question.words}.",
                hint=MISSING_HINT.get(question.name, "Give the option."),
            )


def _find_invalid(texts: Texts) -> Iterator[Problem]:
    for question in QUESTIONS:
        for text in texts.get(question.name, ()):
            if expected := question.find_problem(text):
                message = f"{question.option}: {text!r} is not valid; expected {expected}."
                yield Problem(rule="answer-invalid", message=message)


def _find_contradictions(texts: Texts, settled: Texts) -> Iterator[Problem]:
    for name, values in settled.items():
        if (given := texts.get(name)) and given != values:
            written, policy_value = " ".join(given), " ".join(values)
            yield Problem(
                rule="answer-contradiction",
                message=f"The answer to --{name} is {written}, but the policy has {policy_value}.",
                path=POLICY_PATH,
                hint="Leave out the option, or change the policy first.",
            )


def _find_repeated_paths(texts: Texts) -> Iterator[Problem]:
    names = ("changelog", "master-config", "runner-config", "clusters", "models")
    paths = [path for name in names for path in texts.get(name, ())]
    for path in sorted({path for path in paths if paths.count(path) > 1 or path == POLICY_PATH}):
        message = f"{path!r} is the answer to two questions, or the policy's own path."
        yield Problem(rule="answer-repeated", message=message, hint="Give each file its own path.")

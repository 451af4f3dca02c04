"""The words of `infx init`: what it made, and what comes next."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from infx.adoption.answers import Answers
from infx.adoption.files import FilePart, FileState, MadeFile
from infx.adoption.stubs import ROW_SCRIPT
from infx.phrases import count, join_words
from infx.policy import POLICY_PATH
from infx.policy.load import default_policy, parse_policy

_STATES = {
    FileState.NEW: "new",
    FileState.SAME: "as infx makes it",
    FileState.KEPT: "kept",
    FileState.DIFFERENT: "kept, but differs from what infx makes: see infx init --diff",
}


def render_files(files: Sequence[MadeFile]) -> str:
    """Return a line for each file, with its state."""
    width = max(len(file.path) for file in files)
    return "\n".join(f"{file.path:{width}}  {_STATES[file.state]}" for file in files)


def list_next_steps(answers: Answers, files: Sequence[MadeFile], default_branch: str | None) -> list[str]:
    """Return what remains to do after the files were written, in this order.

    default_branch: the branch that the clone's remote names, or None if it is not known.
    """
    if any(file.part is FilePart.SHADOW for file in files):
        return [
            f"Commit both files, and merge them into {answers.base_branch}. The runs of shadow then show what infx would do.",
            f"After a week, compare: {answers.pin.make_link('docs/shadow.md')}",
        ]
    return list(_list_next_steps(answers, files, default_branch))


def _list_next_steps(
    answers: Answers, files: Sequence[MadeFile], default_branch: str | None
) -> Iterator[str]:
    branch = answers.base_branch
    if default_branch not in {None, branch}:
        yield (
            f"Make {branch} the default branch on GitHub, or use {default_branch}: comments and schedules only start "
            "workflows of the default branch, and these read the policy there."
        )
    if new_stubs := [
        file.path for file in files if file.state is FileState.NEW and file.path.endswith(".sh")
    ]:
        yield f"Write {new_stubs[0]}, which measures nothing yet, and replace the examples in the other new files."
    elif any(file.path == ROW_SCRIPT for file in files) and any(
        file.path in answers.master_configs and file.state is FileState.NEW for file in files
    ):
        yield (
            f"Adapt {ROW_SCRIPT}, which each row runs: it gets the row's settings as environment variables and writes "
            f"agg_$RESULT_FILENAME.json, see {answers.pin.make_link('docs/scripts.md')}. Replace the examples in the new files."
        )
    yield from _list_pull_requests(branch, {file.part for file in files if file.state is FileState.NEW})
    if answers.has_signoffs and any(_asks_for_no_signoff(file) for file in files):
        yield f"If a merge is to need sign-offs, delete `status: null` of `signoff` in {POLICY_PATH}."
    environments = "the environments reconcile and publish, each for the default branch only"
    required = join_words(list_required(answers))
    yield f"On GitHub: make {environments}; protect the runners; require the checks {required}."
    if answers.app:
        yield "Put the App's key into the environment reconcile as INFX_APP_KEY, and its id into the variable INFX_APP_ID."
    yield "Run infx changelog install-driver, so that git merges the changelog of this clone with infx."
    yield f"Run infx doctor, which lists what is missing. About the settings: {answers.pin.make_link('docs/adopting.md')}"


def _asks_for_no_signoff(file: MadeFile) -> bool:
    if file.path != POLICY_PATH or file.current is None:
        return False
    return parse_policy(file.current, POLICY_PATH).signoff.status is None


def _list_pull_requests(branch: str, new_parts: Collection[FilePart]) -> Iterator[str]:
    match (FilePart.CONFIGS in new_parts, FilePart.WORKFLOWS in new_parts):
        case True, True:
            yield f"Commit all new files except .github/workflows, and merge them into {branch}: workflows read the policy there."
            yield "Then commit .github/workflows in a second pull request."
        case True, False:
            yield f"Commit the new files, and merge them into {branch}: workflows read the policy there."
            yield "Then run infx init --only workflows, unless the workflows exist."
        case False, True:
            yield f"Commit the workflows when {branch} has the policy, which they read there."


def describe_counts(files: Sequence[MadeFile]) -> str:
    """Return a sentence about what was written, and what was not."""
    new = sum(file.state is FileState.NEW for file in files)
    written, old = count(new, "file"), count(len(files) - new, "file")
    return (
        f"{written} written. {old} existed and did not change." if len(files) > new else f"{written} written."
    )


def list_required(answers: Answers) -> list[str]:
    """Return the checks and statuses that the settings of the base branch should require."""
    policy = default_policy()
    statuses = [policy.sweep.contexts.sweep]
    if answers.has_signoffs and policy.signoff.status:
        statuses.append(policy.signoff.status)
    return ["changelog", *statuses]

"""Fill a hub with the branches of a real clone: their commits, the people of CODEOWNERS, and a pull request for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from infx.codeowners import LOCATIONS, LOGIN, parse_codeowners
from infx.errors import InfxError, UsageError, visible
from infx.git import Git
from infx.hub.hub import Hub
from infx.hub.pulls import LONGEST_TITLE
from infx.hub.refusal import Refused
from infx.hub.seed import Sample
from infx.phrases import count

AUTHOR = "cody"


def copy_branches(hub: Hub, clone: Path, refspecs: Sequence[str]) -> None:
    """Fetch branches from a clone into the hub's git repository."""
    Git(hub.git_path).fetch(str(clone), *refspecs)


def add_owners(hub: Hub) -> list[str]:
    """Give write access to every person in the CODEOWNERS file of the base branch, and return their logins."""
    logins = sorted(owner[1:] for owner in _read_owners(hub) if re.fullmatch(f"@{LOGIN}", owner))
    for login in logins:
        if hub.account(login).role == "none":
            hub.account(login, role="write")
    return logins


def _read_owners(hub: Hub) -> frozenset[str]:
    for path in LOCATIONS:
        if (file := hub.git.file(f"refs/heads/{hub.branch}", path)) is not None:
            try:
                return parse_codeowners(file[2].decode(errors="replace"), path).owners
            except InfxError:  # `infx signoff verify` reports the file's problems
                return frozenset()
    return frozenset()


def open_pulls(hub: Hub, branches: Sequence[str], changelog: str, *, must: bool) -> list[Sample]:
    """Open a pull request for every branch that is ahead of the base branch.

    Raises UsageError if `must` is set and a branch cannot have a pull request.

    Args:
        changelog: its path; a pull request gets the number that only its own new entries link to, if there is one.
        must: whether the user named the branches.
    """
    known = _find_numbers(hub, f"refs/heads/{hub.branch}", changelog)
    own = {branch: _find_numbers(hub, f"refs/heads/{branch}", changelog) - known for branch in branches}
    following = max([0, *known, *(number for numbers in own.values() for number in numbers)]) + 1
    opened: list[Sample] = []
    for branch in branches:
        linked = own[branch] - {sample.number for sample in opened}
        number = min(linked) if len(own[branch]) == 1 and linked else following
        try:
            pull = hub.open_pull(branch, title=_find_title(hub, branch), by=AUTHOR, number=number)
        except Refused as refused:
            if must:
                reasons = [str(error["message"]) for error in refused.errors] or [refused.message]
                raise UsageError(f"{branch} cannot have a pull request: {' '.join(reasons)}.") from None
            continue  # it is not ahead, or has another history
        following = max(following, number + 1)
        ahead = count(len(hub.git.commits_between(hub.tip(hub.branch), pull.head_sha)), "commit")
        opened.append(
            Sample(number=number, words=f"is branch {visible(branch)}, {ahead} ahead of {hub.branch}")
        )
    return opened


def _find_numbers(hub: Hub, revision: str, changelog: str) -> set[int]:
    """Return the numbers of this repository's pull requests that a changelog links."""
    file = hub.git.file(revision, changelog)
    text = file[2].decode(errors="replace") if file else ""
    return {int(number) for number in re.findall(rf"/{re.escape(hub.repository)}/pull/(\d{{1,9}})\b", text)}


def _find_title(hub: Hub, branch: str) -> str:
    """Return the subject of a branch's newest commit, or else the branch's name."""
    subject = hub.git.commit(hub.tip(branch)).message.partition("\n")[0].strip()
    return (subject or branch)[:LONGEST_TITLE]

"""What a plan is made of, read from git objects: the changelog's delta and the configurations it names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from infx.errors import UsageError
from infx.git import Git
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.changelog.delta import Delta
    from infx.matrix.load import Inputs


def read_plan_inputs(git: Git, base: str, head: str, policy: Policy) -> tuple[Delta, Inputs, Inputs | None]:
    """The delta, the head's inputs for the keys it names, and the base's too where points are appended.

    Raises UsageError for a file that the policy names and the head does not have, ProblemsError for what is wrong
    in the files.
    """
    from infx.changelog.delta import read_delta
    from infx.matrix.keys import NamedKeys
    from infx.matrix.load import load_inputs

    paths = (policy.runners, *policy.master_configs)
    wanted = [(base, policy.changelog), (head, policy.changelog), *((head, path) for path in paths)]
    before, after, runners, *masters = git.read_many(wanted)
    for path, data in zip((policy.changelog, *paths), (after, runners, *masters), strict=True):
        if data is None:
            raise UsageError(
                f"{path} is not there at {head[:12]}.", hint="Add it, or name another file in the policy."
            )
    delta = read_delta(before or b"", after or b"", policy.changelog)
    named = NamedKeys(tuple(pattern for entry in delta.entries for pattern in entry.config_keys))
    inputs = load_inputs(_pair(policy.master_configs, masters), (policy.runners, runners or b""), only=named)
    if not any(entry.append_only for entry in delta.entries):
        return delta, inputs, None
    runners, *masters = git.read_many([(base, path) for path in paths])
    names = tuple(
        f"{base[:12]}:{path}" for path in paths
    )  # what is wrong there is not in the files that one sees
    base_runners = (names[0], runners or b"labels: {}\n")
    return delta, inputs, load_inputs(_pair(names[1:], masters), base_runners, only=named)


def _pair(paths: tuple[str, ...], contents: list[bytes | None]) -> list[tuple[str, bytes]]:
    return [(path, data) for path, data in zip(paths, contents, strict=True) if data is not None]

"""The stages at which a changelog is validated."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """A stage at which a changelog is validated."""

    PR = "pr"  # one pull request
    MERGE = "merge"  # a merge group, perhaps with several pull requests
    MAIN = "main"  # the base branch after a merge

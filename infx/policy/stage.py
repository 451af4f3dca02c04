"""The moments at which a changelog is judged."""

from __future__ import annotations

from enum import StrEnum


class Stage(StrEnum):
    """pr: what one pull request appends. merge: what a merge group brings, perhaps of several pull requests.
    main: what a merge has brought.
    """

    PR = "pr"
    MERGE = "merge"
    MAIN = "main"

"""The themes of the demo's chapters: what goes wrong in a part of a scene, and what infx does about it."""

from __future__ import annotations

from infx.records import record


@record
class Theme:
    """The texts about a chapter; without a problem, only the title.

    Attributes:
        wrong: the problem, in a few words.
        fix: what infx does, in a few words.
    """

    title: str
    wrong: str = ""
    fix: str = ""


LINK = Theme(
    title="First push",
    wrong="The changelog entry has `TBD` as its link",
    fix="Refused before a GPU was used; one command repaired it",
)
SWEEPS = Theme(title="Plan and sweeps")
OTHER_OWNER = Theme(
    title="Sign-off",
    wrong="Someone who does not own the file signed off",
    fix="Rejected; the sign-off of the file’s owner then counted",
)
CHANGELOG_CONFLICT = Theme(
    title="Conflict with main",
    wrong="Main and the branch appended to the changelog",
    fix="Put the entries in order; sweep and sign-off stayed valid",
)
LABELS = Theme(
    title="First push",
    wrong="Two labels asked for different sweeps",
    fix="Started neither, and named the label to remove",
)
BOT_RESOLVES = Theme(
    title="Conflict with main",
    wrong="The changelog conflicted, so GitHub started nothing",
    fix="The bot merged main and put the entries in order",
)
MEMORY = Theme(
    title="A row fails",
    wrong="A row ran out of memory",
    fix="Stopped the rows that had not begun, and named this row",
)
REPAIRED = Theme(title="A second sweep")
OPEN_ITEM = Theme(
    title="Sign-off",
    wrong="An item of the checklist was left open",
    fix="Asked for it, and accepted the edited comment",
)
FORK_LINK = Theme(
    title="First push",
    wrong="The entry had an invented placeholder as its link",
    fix="Refused before a GPU was used; one command repaired it",
)
FORK = Theme(
    title="Approval of a fork",
    wrong="Code from a fork wanted to run on the GPUs",
    fix="Waited for approval, and measured exactly the approved commit",
)
LATER_PUSH = Theme(
    title="A push after the approval",
    wrong="A push came after approval and sign-off",
    fix="Declared both void, and waited for new ones",
)
SCRIPT_CONFLICT = Theme(
    title="Conflict with main",
    wrong="A script conflicted with main",
    fix="Named the file; the resolution was approved and measured",
)
MERGE = Theme(title="Merge and publication")
SWEPT = Theme(title="Push and sweep")
QUEUED = Theme(title="Into the merge queue")
PLACEHOLDER = Theme(
    title="Into the merge queue",
    wrong="The entry still had the placeholder `XXX` as its link",
    fix="Wrote the final link, waited for its check, and queued it",
)
PUSHED_OUT = Theme(
    title="Out of the queue, and in again",
    wrong="GitHub removed it: it conflicted with an entry ahead",
    fix="Merged main and queued it again: no person, no new sweep",
)

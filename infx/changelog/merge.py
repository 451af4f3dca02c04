"""Merge two sides that both append: main's bytes first and unchanged, then the other side's entries.

The git merge driver, the index resolver and the preparation of merges share one function. It recognizes the main side
by content, because git does not tell: in a rebase "ours" is main, in a merge of main it is "theirs".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from infx.changelog.blocks import Block, parse_blocks
from infx.changelog.compare import compare, complete
from infx.changelog.comparison import Comparison
from infx.changelog.edits import apply_edits
from infx.changelog.layout import append
from infx.changelog.link_line import plan_link_edit
from infx.changelog.links import Meaning, PullLinks, Reference
from infx.errors import InfxError, Problem, ProblemsError
from infx.records import record
from infx.rules import Edit

DRIVER = "infx-changelog"  # the name of the merge driver in git's attributes and settings


class MergeRefusedError(InfxError):
    """Raised when the sides are not two appends, so that a person or a line-based merge must decide."""


_MORE = "One side does more than append to the changelog."
_HINT = "Keep past entries as they are on the base branch, and put new entries at the end."


@record
class Sides:
    """The three versions of the file in a merge."""

    ancestor: bytes = field(repr=False)  # the common ancestor
    main: bytes = field(repr=False)  # goes first
    other: bytes = field(repr=False)


@record
class Merged:
    """A merged file."""

    data: bytes = field(repr=False)
    kept: tuple[Block, ...] = ()  # entries of the other side, appended after main's
    present: tuple[Block, ...] = ()  # entries of the other side that main already contained


def is_main(one: bytes, other: bytes, base_versions: Sequence[bytes]) -> bool | None:
    """Return whether `one` is main and `other` is not; None if their content does not decide it.

    base_versions: the base branch's file as this clone knows it, the remote's first. A side is main if a version starts
    with it, or if it starts with a version (main with commits replayed on it).
    """
    for version in base_versions:
        if version.startswith(one) != version.startswith(other):
            return version.startswith(one)
    for version in base_versions:
        if one.startswith(version) != other.startswith(version):
            return one.startswith(version)
    return None


def resolve(
    ancestor: bytes,
    one: bytes,
    other: bytes,
    base_versions: Sequence[bytes],
    links: PullLinks,
    *,
    number: int | None = None,
) -> Merged:
    """Merge two versions, in whatever order git names them.

    one: the side that is checked out; it goes first if content does not decide which side is main. Raises
    MergeRefusedError.
    """
    first = is_main(one, other, base_versions)
    main, side = (other, one) if first is False else (one, other)
    sides = Sides(ancestor=ancestor, main=main, other=side)
    if (corrected := apply_corrections(sides, links)) is not None:
        return Merged(data=corrected)
    if compare(ancestor, other).appended is None and (
        replayed := _find_replayed(ancestor, one, other, base_versions)
    ):
        version, rewritten = replayed
        entries = [_canonical(block, links, number) for block in rewritten]
        return Merged(data=append(version, entries), kept=tuple(rewritten))
    if first is None and compare(ancestor, main).appended is None:
        raise MergeRefusedError(_MORE, hint=_HINT)  # only main may edit, and which side is main is unknown
    return merge(sides, links, number=number)


def merge(sides: Sides, links: PullLinks, *, number: int | None = None) -> Merged:
    """Return main's bytes, whatever main changed, then each entry of the other side that main does not contain yet.

    number: the other side's pull request; if given, its links become canonical. Raises MergeRefusedError.
    """
    main, other = compare(sides.ancestor, sides.main), compare(sides.ancestor, sides.other)
    if other.appended is None:
        raise MergeRefusedError(_MORE, hint=_HINT)
    gained, own = _read(main), _read(other)
    kept, present = _subtract(own, gained, links, number)
    entries = [_canonical(block, links, number) for block in kept]
    merged = Merged(data=append(sides.main, entries), kept=tuple(kept), present=tuple(present))
    if problems := verify(sides.main, [block.meaning for block in kept], merged.data):
        raise MergeRefusedError(problems[0].message)
    return merged


def apply_corrections(sides: Sides, links: PullLinks) -> bytes | None:
    """Combine a side that only makes past links canonical with a side that appends; None for other sides."""
    from infx.changelog.rules.history import is_legal_correction

    pairs = ((sides.main, sides.other), (sides.other, sides.main))
    for corrected, appended in pairs:
        correction, appending = compare(sides.ancestor, corrected), compare(sides.ancestor, appended)
        is_legal = all(is_legal_correction(change, links) for change in correction.changes)
        only_corrects = correction.is_correction and not correction.inserted
        if only_corrects and is_legal and appending.appended is not None:
            return complete(corrected) + appended[appending.appended :]
    return None


def _find_replayed(
    ancestor: bytes, onto: bytes, commit: bytes, base_versions: Sequence[bytes]
) -> tuple[bytes, list[Block]] | None:
    """Return (the base branch's file, the branch's own entries) for a rebased commit that rewrites only these entries.

    onto: the base branch's file followed by those entries as they were. The ancestor is the same with an older base.
    """
    for version in base_versions:
        own = onto.removeprefix(version)
        if not own or not onto.startswith(version) or not ancestor.endswith(own):
            continue
        past = ancestor.removesuffix(own)
        if past.endswith(b"\n") and version.startswith(past) and commit.startswith(past):
            return version, _read(compare(past, commit))
    return None


def verify(main: bytes, expected: Sequence[object], merged: bytes) -> list[Problem]:
    """Check that a merge is main's bytes, then the expected entries with all their fields, and nothing else."""
    comparison = compare(main, merged)
    if comparison.appended is None:
        return [_lost("The merged file does not start with the base branch's bytes.")]
    merged_meanings = [block.meaning for block in _read(comparison)]
    if merged_meanings == list(expected):
        return []
    return _find_lost(expected, merged_meanings) or [
        _lost("Entries were added, repeated or reordered in the merge.")
    ]


def check_commit(sides: Sides, merged: bytes, links: PullLinks) -> list[Problem]:
    """Return a problem for each entry of the other side that a merge commit, perhaps made by hand, lost or changed.

    sides: the commit's parents and their common ancestor.
    """
    try:
        expected = [block.meaning for block in merge(sides, links).kept]
        merged_meanings = [block.meaning for block in _read(compare(sides.main, merged))]
    except MergeRefusedError:  # the parents are not appends; other rules check them
        return []
    return _find_lost(expected, merged_meanings)


def _find_lost(expected: Sequence[object], merged_meanings: Sequence[object]) -> list[Problem]:
    free = list(merged_meanings)
    problems = []
    for meaning in expected:
        if meaning in free:
            free.remove(meaning)
        else:
            problems.append(_lost(f"An entry was lost or changed in the merge: {_shown(meaning)}."))
    return problems


def _lost(message: str) -> Problem:
    return Problem(
        rule="merge-lost", message=message, hint="Resolve the conflict again with `infx changelog resolve`."
    )


def _shown(meaning: object) -> str:
    if isinstance(meaning, dict) and isinstance(meaning.get("config-keys"), list):
        return ", ".join(f"{key}: {value}" for key, value in meaning.items() if key != "description")
    return repr(meaning)


def _read(comparison: Comparison) -> list[Block]:
    """Return the new entries. Raises MergeRefusedError if there is other text among them."""
    blocks: list[Block] = []
    try:
        for start, end in comparison.additions:
            added_blocks = parse_blocks(comparison.head, "", start, end)
            if comparison.head[start : added_blocks[0].start if added_blocks else end].strip():
                raise MergeRefusedError("The appended text does not start with an entry.")
            blocks += added_blocks
    except ProblemsError as error:
        raise MergeRefusedError(f"The appended text cannot be read: {error.problems[0].message}") from None
    return blocks


def _subtract(
    own: Sequence[Block], gained: Sequence[Block], links: PullLinks, number: int | None
) -> tuple[list[Block], list[Block]]:
    """Split a side's own entries into those that main lacks and those that main contains."""
    free = list(gained)  # each of main's entries matches at most one own entry
    kept: list[Block] = []
    present: list[Block] = []
    for block in own:
        match = next((other for other in free if _is_same(other, block, links, number)), None)
        if match is None:
            kept.append(block)
        else:
            free.remove(match)
            present.append(block)
    return kept, present


def _is_same(main: Block, own: Block, links: PullLinks, number: int | None) -> bool:
    """Return whether two entries are the same, although main may have made the link canonical."""
    # Entries with different numbers are different.
    if main.meaning != own.meaning:
        return False
    theirs, ours = _number(main, links), _number(own, links) or number
    return theirs is None or ours is None or theirs == ours


def _number(block: Block, links: PullLinks) -> int | None:
    reference: Reference = links.read(block.link or "")
    return reference.number if reference.meaning in {Meaning.CANONICAL, Meaning.MISSHAPEN} else None


def _canonical(block: Block, links: PullLinks, number: int | None) -> bytes:
    reference = links.read(block.link or "")
    if number is None or (reference.meaning is not Meaning.PLACEHOLDER and reference.number != number):
        return block.data
    edit = plan_link_edit(block, links.canonical(number))
    if edit is None:
        return block.data
    return apply_edits(block.data, [Edit(edit.start - block.start, edit.end - block.start, edit.data)])

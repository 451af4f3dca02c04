"""Put two sides that both append together: main's bytes first and untouched, then the other side's entries.

One function for the git merge driver, the index resolver and whoever prepares a merge. Which side is main is told
by content, because git does not say: in a rebase "ours" is main, in a merge of main it is "theirs".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from infx.changelog.blocks import Block, parse_blocks
from infx.changelog.compare import compare, complete
from infx.changelog.comparison import Comparison
from infx.changelog.edits import apply_edits
from infx.changelog.layout import append
from infx.changelog.link_line import link_edit
from infx.changelog.links import Meaning, PullLinks, Reference
from infx.errors import InfxError, Problem, ProblemsError
from infx.rules import Edit


class MergeRefusedError(InfxError):
    """This is not one append beside another; a person or a line-based merge must look at it."""


_MORE = "One side does more than append to the changelog."
_HINT = "Past entries stay as they are on the base branch, and new ones go to the end."


@dataclass(frozen=True, kw_only=True)
class Sides:
    """Three versions of the file. ancestor: before both. main: what goes first."""

    ancestor: bytes = field(repr=False)
    main: bytes = field(repr=False)
    other: bytes = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class Merged:
    """kept: entries of the other side that were put behind main's. present: those that main had gained already."""

    data: bytes = field(repr=False)
    kept: tuple[Block, ...] = ()
    present: tuple[Block, ...] = ()


def is_main(one: bytes, other: bytes, base_versions: Sequence[bytes]) -> bool | None:
    """Whether `one` is main and `other` is not; None where content does not tell.

    base_versions: the base branch's file as this clone knows it, the remote's first. A side that is the start of one
    of them is main. So is a side that starts with one of them: main with commits replayed on it.
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
    """The merge of two versions, in whatever order git names them.

    one: the side that is checked out; it goes first where content does not tell which side is main. Raises
    MergeRefusedError.
    """
    first = is_main(one, other, base_versions)
    main, side = (other, one) if first is False else (one, other)
    sides = Sides(ancestor=ancestor, main=main, other=side)
    if (corrected := apply_corrections(sides, links)) is not None:
        return Merged(data=corrected)
    if compare(ancestor, other).appended is None and (
        found := _find_replayed(ancestor, one, other, base_versions)
    ):
        version, rewritten = found
        entries = [_canonical(block, links, number) for block in rewritten]
        return Merged(data=append(version, entries), kept=tuple(rewritten))
    if first is None and compare(ancestor, main).appended is None:
        raise MergeRefusedError(_MORE, hint=_HINT)  # an edit is main's to make, and nobody knows who main is
    return merge(sides, links, number=number)


def merge(sides: Sides, links: PullLinks, *, number: int | None = None) -> Merged:
    """Main's bytes, whatever main did, then every entry that the other side appended and main did not gain since.

    number: of the pull request that the other side is; with it, its links become canonical. Raises MergeRefusedError.
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
    """One side only makes past links canonical and the other appends: both. None if that is not so."""
    from infx.changelog.rules.history import is_legal_correction

    pairs = ((sides.main, sides.other), (sides.other, sides.main))
    for one, two in pairs:
        correction, appending = compare(sides.ancestor, one), compare(sides.ancestor, two)
        legal = all(is_legal_correction(change, links) for change in correction.changes)
        alone = correction.is_correction and not correction.inserted
        if alone and legal and appending.appended is not None:
            return complete(one) + two[appending.appended :]
    return None


def _find_replayed(
    ancestor: bytes, onto: bytes, commit: bytes, base_versions: Sequence[bytes]
) -> tuple[bytes, list[Block]] | None:
    """(the base branch's file, the branch's own entries) after a commit of a rebase that rewrites nothing but these.

    onto: the base branch's file and those entries as they were; so is the ancestor, with an older base.
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
    """What a merge must be: main's bytes, then the expected entries, each with every field, and nothing else."""
    comparison = compare(main, merged)
    if comparison.appended is None:
        return [_lost("The merged file does not start with the base branch's bytes.")]
    found = [block.meaning for block in _read(comparison)]
    if found == list(expected):
        return []
    lost = _find_lost(expected, found)
    return lost or [_lost("Entries were added, repeated or reordered in the merge.")]


def check_commit(sides: Sides, merged: bytes, links: PullLinks) -> list[Problem]:
    """Entries of the other side that a merge commit, perhaps made by hand, lost or changed.

    sides: its parents and their common ancestor. Nothing where those are no appends: other rules look at them.
    """
    try:
        expected = [block.meaning for block in merge(sides, links).kept]
        found = [block.meaning for block in _read(compare(sides.main, merged))]
    except MergeRefusedError:
        return []
    return _find_lost(expected, found)


def _find_lost(expected: Sequence[object], found: Sequence[object]) -> list[Problem]:
    free = list(found)
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
    """New entries; MergeRefusedError where something else stands among them."""
    blocks: list[Block] = []
    try:
        for start, end in comparison.additions:
            found = parse_blocks(comparison.head, "", start, end)
            if comparison.head[start : found[0].start if found else end].strip():
                raise MergeRefusedError("What was appended does not start with an entry.")
            blocks += found
    except ProblemsError as error:
        raise MergeRefusedError(f"What was appended cannot be read: {error.problems[0].message}") from None
    return blocks


def _subtract(
    own: Sequence[Block], gained: Sequence[Block], links: PullLinks, number: int | None
) -> tuple[list[Block], list[Block]]:
    """(entries of ours that main lacks, those it has); each of main's stands for one of ours at most."""
    free = list(gained)
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
    """The same entry, whose link main may have made canonical. With two numbers they are two."""
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
    edit = link_edit(block, links.canonical(number))
    if edit is None:
        return block.data
    return apply_edits(block.data, [Edit(edit.start - block.start, edit.end - block.start, edit.data)])

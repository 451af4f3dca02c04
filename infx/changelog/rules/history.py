"""Rules about what was there before: entries are immutable, and new ones go to the end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from infx.changelog.blocks import parse_blocks
from infx.changelog.comparison import Change, ChangeKind, Chunk, Comparison
from infx.changelog.layout import append
from infx.changelog.link_line import stands_canonical
from infx.changelog.links import Meaning, PullLinks
from infx.changelog.subject import Subject, quote
from infx.rules import Edit, Finding, Rule


def is_legal_correction(change: Change, links: PullLinks) -> bool:
    """A link that was not canonical became canonical, on one line."""
    if change.kind is not ChangeKind.LINK or change.head is None:
        return False
    (old,), (new,) = parse_blocks(change.base.content, ""), parse_blocks(change.head.content, "")
    before = links.read(old.link or "")
    after = links.read(new.link or "")
    is_former = before.meaning is Meaning.MISSHAPEN and any(
        (old.link or "").strip() == links.canonical(before.number or 0, name) for name in links.former_names
    )
    was_canonical = before.meaning is Meaning.CANONICAL or is_former
    return not was_canonical and after.meaning is Meaning.CANONICAL and stands_canonical(new)


def restore(comparison: Comparison) -> bytes | None:
    """The base's own bytes with the new entries behind them; None if an entry was edited or is gone."""
    if any(change.kind is not ChangeKind.BLANKS for change in comparison.changes):
        return None
    return append(comparison.base, [chunk.content for chunk in comparison.inserted])


def _restoring(subject: Subject) -> tuple[Edit, ...]:
    restored = restore(subject.comparison)
    return () if restored is None else (Edit(0, len(subject.head), restored),)


def _hint(subject: Subject) -> str:
    name, path = subject.context.base_name, subject.context.path
    return (
        f"Take the base's file (`git checkout {name} -- {path}`) and append only your entries."
        if name
        else "Restore it and append a new entry instead."
    )


def _edited(subject: Subject) -> Iterator[Finding[int | None]]:
    for change in subject.comparison.changes:
        if change.kind is ChangeKind.EDITED and change.head is not None:
            offset, old, new = _first_difference(change.base, change.head)
            message = (
                f"{_name(change)} changed: {quote(old)} became {quote(new)}. Past entries are immutable."
            )
            yield Finding(at=offset, message=message, hint=_hint(subject))
    if (
        subject.comparison.appended is None
        and not subject.comparison.changes
        and not subject.comparison.misplaced
    ):
        message = "The head does not start with the bytes of its base. Past entries are immutable."
        yield Finding(at=0, message=message, hint=_hint(subject))


def _deleted(subject: Subject) -> Iterator[Finding[int | None]]:
    for change in subject.comparison.changes:
        if change.kind is ChangeKind.DELETED:
            line = subject.comparison.base.count(b"\n", 0, change.base.start) + 1
            message = (
                f"{_name(change)}, on line {line} of the base, is gone. The changelog is only appended to."
            )
            hint = f'Restore it. To undo what it did, append an entry whose description says "Reverts {_pull(change.base, subject)}".'
            yield Finding(at=None, message=message, hint=hint)


def _moved(subject: Subject) -> Iterator[Finding[int | None]]:
    comparison = subject.comparison
    for change in comparison.changes:
        if change.kind is ChangeKind.MOVED and change.head is not None:
            line = comparison.base.count(b"\n", 0, change.base.start) + 1
            message = (
                f"{_name(change)}, on line {line} of the base, was moved here. Past entries keep their order."
            )
            yield Finding(at=change.head.start, message=message, hint=_hint(subject))


def _links(subject: Subject) -> Iterator[Finding[int | None]]:
    comparison = subject.comparison
    alone = comparison.is_correction and not comparison.inserted
    for change in comparison.changes:
        if change.kind is not ChangeKind.LINK or change.head is None:
            continue
        legal = is_legal_correction(change, subject.context.links)
        is_ours = legal and _new_number(change, subject) == subject.context.number is not None
        if legal and not is_ours and (alone or subject.context.is_final):
            continue
        offset, old, new = _first_difference(change.base, change.head)
        message = f"{_name(change)} is not yours: {quote(old.strip())} became {quote(new.strip())}."
        if is_ours:
            hint = "Restore its bytes; what was merged before this pull request has another number."
        elif legal:
            hint = "Restore its bytes; a corrected link goes into a pull request of its own, without new entries."
        else:
            hint = "Restore its bytes; a past link may only be corrected to the canonical form."
        yield Finding(at=offset, message=message, hint=hint)


def _new_number(change: Change, subject: Subject) -> int | None:
    assert change.head is not None
    (block,) = parse_blocks(change.head.content, "")
    return subject.context.links.read(block.link or "").number


def _blanks(subject: Subject) -> Iterator[Finding[int | None]]:
    edits = _restoring(subject)
    for change in subject.comparison.changes:
        if change.kind is ChangeKind.BLANKS and change.head is not None:
            if change.base.content != change.head.content:
                offset, old, new = _first_difference(change.base, change.head)
            else:
                offset, old, new = change.head.end - 1, change.base.gap, change.head.gap
            message = f"{_name(change)}: only blanks changed; {quote(old)} became {quote(new) if new else 'nothing'}. Past entries keep every byte."
            yield Finding(at=offset, message=message, hint="Do not trim or reformat this file.", edits=edits)


def _misplaced(subject: Subject) -> Iterator[Finding[int | None]]:
    edits = _restoring(subject)
    for chunk in subject.comparison.misplaced:
        message = "This new entry stands among past ones; new entries go to the end of the file."
        yield Finding(at=chunk.start, message=message, hint="Move it to the end.", edits=edits)


def _name(change: Change) -> str:
    return f"Past entry {change.number}" if change.number else "The text above the first entry"


def _first_difference(base: Chunk, head: Chunk) -> tuple[int, bytes, bytes]:
    """(offset in the head, line before, line now) where two texts part; a line that is not there is empty."""
    offset = head.start
    for old, new in itertools.zip_longest(
        base.content.split(b"\n"), head.content.split(b"\n"), fillvalue=b""
    ):
        if old != new:
            return min(offset, head.end - 1), old, new
        offset += len(new) + 1
    return head.start, b"", b""


def _pull(chunk: Chunk, subject: Subject) -> str:
    from infx.errors import ProblemsError

    try:
        (block,) = parse_blocks(chunk.content, "")
    except (ProblemsError, ValueError):
        return "#N"
    return f"#{subject.context.links.read(block.link or '').number or 'N'}"


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="history-edited",
        says="A past entry keeps its text.",
        why="It says what was measured at that time; what is measured now is a new entry.",
        check=_edited,
    ),
    Rule(
        id="history-deleted",
        says="A past entry stays, also in a revert.",
        why="Its results were published. Undoing a change is a new entry that says so.",
        check=_deleted,
    ),
    Rule(
        id="history-moved",
        says="A past entry stays where it is.",
        why="The order in which entries were merged is the order of the record.",
        check=_moved,
    ),
    Rule(
        id="history-link",
        says="A past link may only become canonical, in a pull request that does nothing else to the changelog.",
        why="A conflict resolved by hand easily puts one's own number into somebody else's entry.",
        check=_links,
    ),
    Rule(
        id="history-blanks",
        says="A past entry keeps its blanks and empty lines.",
        why="Editors trim them on saving, and then every line of a review is noise.",
        check=_blanks,
    ),
    Rule(
        id="history-inserted",
        says="New entries stand at the end of the file.",
        why="What a pull request adds is what follows its base's bytes; nothing else can be told cheaply and for certain.",
        check=_misplaced,
    ),
)

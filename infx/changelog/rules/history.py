"""Rules about past entries: they are immutable, and new entries go to the end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from infx.changelog.blocks import parse_blocks
from infx.changelog.comparison import Change, ChangeKind, Chunk, Comparison
from infx.changelog.layout import append
from infx.changelog.link_line import has_plain_link
from infx.changelog.links import Meaning, PullLinks
from infx.changelog.subject import Subject, quote
from infx.rules import Edit, Finding, Rule


def is_legal_correction(change: Change, links: PullLinks) -> bool:
    """Return whether a change only makes a link canonical, on one line."""
    if change.kind is not ChangeKind.LINK or change.head is None:
        return False
    (old,), (new,) = parse_blocks(change.base.content, ""), parse_blocks(change.head.content, "")
    before = links.read(old.link or "")
    after = links.read(new.link or "")
    is_former = before.meaning is Meaning.MISSHAPEN and any(
        (old.link or "").strip() == links.canonical(before.number or 0, name) for name in links.former_names
    )
    was_canonical = before.meaning is Meaning.CANONICAL or is_former
    return not was_canonical and after.meaning is Meaning.CANONICAL and has_plain_link(new)


def restore(comparison: Comparison) -> bytes | None:
    """Return the base's bytes followed by the new entries; None if a past entry was edited or deleted."""
    if any(change.kind is not ChangeKind.BLANKS for change in comparison.changes):
        return None
    return append(comparison.base, [chunk.content for chunk in comparison.inserted])


def _restoring(subject: Subject) -> tuple[Edit, ...]:
    restored = restore(subject.comparison)
    return () if restored is None else (Edit(0, len(subject.head), restored),)


def _hint(subject: Subject) -> str:
    name, path = subject.context.base_name, subject.context.path
    return (
        f"Restore the base's file (`git checkout {name} -- {path}`) and append only your entries."
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
            message = f"{_name(change)} (line {line} of the base) was deleted. The changelog is append-only."
            hint = f'Restore it. To undo what it did, append an entry whose description says "Reverts {_pull(change.base, subject)}".'
            yield Finding(at=None, message=message, hint=hint)


def _moved(subject: Subject) -> Iterator[Finding[int | None]]:
    comparison = subject.comparison
    for change in comparison.changes:
        if change.kind is ChangeKind.MOVED and change.head is not None:
            line = comparison.base.count(b"\n", 0, change.base.start) + 1
            message = (
                f"{_name(change)} (line {line} of the base) was moved here. Past entries keep their order."
            )
            yield Finding(at=change.head.start, message=message, hint=_hint(subject))


def _links(subject: Subject) -> Iterator[Finding[int | None]]:
    comparison = subject.comparison
    only_corrects = comparison.is_correction and not comparison.inserted
    for change in comparison.changes:
        if change.kind is not ChangeKind.LINK or change.head is None:
            continue
        is_legal = is_legal_correction(change, subject.context.links)
        has_own_number = is_legal and _new_number(change, subject) == subject.context.number is not None
        if is_legal and not has_own_number and (only_corrects or subject.context.is_final):
            continue
        offset, old, new = _first_difference(change.base, change.head)
        message = f"{_name(change)} is not yours: {quote(old.strip())} became {quote(new.strip())}."
        if has_own_number:
            hint = "Restore its bytes; an entry merged before this pull request has another number."
        elif is_legal:
            hint = "Restore its bytes; correct a past link in a separate pull request, without new entries."
        else:
            hint = "Restore its bytes; a past link may change only to its canonical form."
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
            message = f"{_name(change)}: only whitespace changed; {quote(old)} became {quote(new) if new else 'nothing'}. Past entries keep every byte."
            yield Finding(at=offset, message=message, hint="Do not trim or reformat this file.", edits=edits)


def _misplaced(subject: Subject) -> Iterator[Finding[int | None]]:
    edits = _restoring(subject)
    for chunk in subject.comparison.misplaced:
        message = "This new entry is among past entries; new entries go to the end of the file."
        yield Finding(at=chunk.start, message=message, hint="Move it to the end.", edits=edits)


def _name(change: Change) -> str:
    return f"Past entry {change.number}" if change.number else "The text above the first entry"


def _first_difference(base: Chunk, head: Chunk) -> tuple[int, bytes, bytes]:
    """Return (offset in the head, old line, new line) of the first difference; a missing line is empty."""
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
        why="It records what was measured at that time; a new measurement gets a new entry.",
        check=_edited,
    ),
    Rule(
        id="history-deleted",
        says="A past entry is not deleted, not even by a revert.",
        why="Its results were published. To undo a change, append an entry that says so.",
        check=_deleted,
    ),
    Rule(
        id="history-moved",
        says="A past entry is not moved.",
        why="The file records the order in which entries were merged.",
        check=_moved,
    ),
    Rule(
        id="history-link",
        says="A past link may only become canonical, in a pull request that changes nothing else in the changelog.",
        why="When you resolve a conflict by hand, your number easily ends up in another pull request's entry.",
        check=_links,
    ),
    Rule(
        id="history-blanks",
        says="A past entry keeps its blanks and empty lines.",
        why="Editors trim them when saving, which fills the review with noise.",
        check=_blanks,
    ),
    Rule(
        id="history-inserted",
        says="New entries are at the end of the file.",
        why="Only the text after the base's bytes can be recognized as new, cheaply and with certainty.",
        check=_misplaced,
    ),
)

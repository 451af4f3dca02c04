"""Rules about `pr-link`: which pull request an entry belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from infx.changelog.blocks import LINK_KEY, Block
from infx.changelog.link_line import has_plain_link, plan_link_edit
from infx.changelog.links import Meaning, Reference, find_invisible, remove_invisible
from infx.changelog.subject import Context, Subject, quote
from infx.errors import Level
from infx.phrases import join_words
from infx.policy.stage import Stage
from infx.rules import Edit, Finding, Rule

_EARLY = "Run `infx changelog canonicalize --write --pr <number>` before the pull request is queued."
_LATE = "Correct the link in a pull request that changes nothing else in the changelog."


def _hint(context: Context) -> str:
    """Return a hint with the accepted links."""
    # In backticks, so that every page shows them for copying byte by byte.
    links = context.links
    own = f"`{links.canonical(context.number or '<number>')}`"
    if context.is_final:
        return f"Write {own}."
    return f"Write {', '.join(f'`{form}`' for form in links.accepted)} or {own}."


def _expected(context: Context) -> str:
    own = f"pull/{context.number}" if context.number else "this pull request's link"
    return own if context.is_final else f"{own} or the placeholder `{context.links.placeholders[0]}`"


def _draft(
    block: Block, subject: Subject, message: str, *, certain: bool, link: str | None = None
) -> Finding[int | None]:
    """Return a finding at an entry's link. link: the text that a repair writes; by default the pull request's own."""
    context = subject.context
    located = block.find(LINK_KEY)
    edit: Edit | None = None
    if certain and (text := link or context.own_link) is not None:
        edit = plan_link_edit(block, text)
    offset = located[0] if located else block.start
    return Finding(at=offset, message=message, hint=_hint(context), edits=(edit,) if edit else ())


def _read(block: Block, subject: Subject) -> Reference | None:
    """Return the meaning of an entry's link; None if the link is not text."""
    value = block.fields.get(LINK_KEY)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return subject.context.links.read(str(value))


def _is_empty(block: Block) -> bool:
    value = block.fields.get(LINK_KEY)
    return value is None or value == ""


def _missing(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        located = block.find(LINK_KEY)
        if not block.fields or (located and not _is_empty(block)):
            continue
        if located is None:
            yield _draft(block, subject, "This entry has no pr-link.", certain=True)
            continue
        comment = located[1].rest.decode(errors="replace")
        if comment.startswith("#"):
            message = f"The pr-link is empty: YAML reads {quote(located[1].rest)} as a comment."
            own = subject.context.links.read(comment)
            certain = own.meaning is Meaning.WORD or own.number == subject.context.number is not None
        else:
            message, certain = "The pr-link is empty.", True
        yield _draft(block, subject, message, certain=certain)


def _placeholders(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        reference = _read(block, subject)
        if reference and reference.meaning is Meaning.WORD and not _is_empty(block):
            message = f"{_show_value(block)} is not a valid pr-link; expected {_expected(subject.context)}."
            located = block.find(LINK_KEY)
            comment = located[1].rest.decode(errors="replace") if located else ""
            certain = _may_be_own(comment, subject.context)  # YAML reads `PR #76` as `PR`
            if not certain:
                message += f" YAML reads {quote(comment.encode())} as a comment."
            yield _draft(block, subject, message, certain=certain)


def _may_be_own(comment: str, context: Context) -> bool:
    """Return whether a comment after a link without a number names no other pull request."""
    if any(char.isnumeric() and not char.isascii() for char in comment):
        return False
    return context.links.read(comment.lstrip("# ")).number in {None, context.number}


def _foreign(subject: Subject) -> Iterator[Finding[int | None]]:
    number = subject.context.number
    for block in subject.blocks:
        reference = _read(block, subject)
        if reference is None:
            continue
        if reference.meaning is Meaning.FOREIGN:
            repository = subject.context.links.repository or "this repository"
            message = f"The pr-link points to {reference.repository}, not to {repository}; expected {_expected(subject.context)}, found {_show_value(block)}."
            yield _draft(block, subject, message, certain=False)
        elif number is not None and reference.number not in {None, number}:
            message = f"The pr-link belongs to another pull request: expected {_expected(subject.context)}, found pull/{reference.number}."
            yield _draft(block, subject, message, certain=False)


def _shapes(subject: Subject) -> Iterator[Finding[int | None]]:
    number = subject.context.number
    for block in subject.blocks:
        reference = _read(block, subject)
        if reference is None:
            if block.fields.get(LINK_KEY) is not None:
                message = "The pr-link is not text."
                yield _draft(block, subject, message, certain=False)
        elif reference.meaning is Meaning.MISSHAPEN and number in {None, reference.number}:
            message = f"The pr-link is not in its canonical form: found {_show_value(block)}."
            # A link that is canonical without invisible characters was copied from a page: the repair is certain.
            link = remove_invisible(block.link or "").strip()
            is_copied = subject.context.links.read(link).meaning is Meaning.CANONICAL
            certain = number is not None or is_copied
            yield _draft(block, subject, message, certain=certain, link=link if is_copied else None)
        elif reference.meaning is Meaning.UNREADABLE:
            message = f"{_show_value(block)} is not a valid pr-link; expected {_expected(subject.context)}."
            yield _draft(block, subject, message, certain=False)


def _not_canonical(subject: Subject) -> Iterator[Finding[int | None]]:
    """Find links that are not ready for the merge; `pr-link-foreign` reports foreign numbers."""
    context = subject.context
    for block in subject.blocks if context.is_final else ():
        reference = _read(block, subject)
        if reference is None:
            continue
        if reference.meaning is Meaning.PLACEHOLDER:
            message = (
                f"The pr-link is still the placeholder {_show_value(block)}; a merged entry needs its number."
            )
        elif reference.meaning is Meaning.CANONICAL and not has_plain_link(block):
            message = "The pr-link is not written on one plain line."
        else:
            continue
        if context.number is None:
            hint = _LATE if context.stage is Stage.MAIN else _EARLY
            located = block.find(LINK_KEY)
            yield Finding(at=located[0] if located else block.start, message=message, hint=hint)
        else:
            yield _draft(block, subject, message, certain=True)


def _unchecked(subject: Subject) -> Iterator[Finding[int | None]]:
    context = subject.context
    for block in subject.blocks:
        reference = _read(block, subject)
        if reference and reference.meaning is Meaning.CANONICAL and not context.is_final:
            if context.links.repository is None:
                message, hint = (
                    "The repository is not known, so only the form of links was checked.",
                    "Give --repo.",
                )
            elif context.number is None:
                message = "The number of the pull request is not known, so links were not compared with it."
                hint = "Give --pr."
            else:
                return
            located = block.find(LINK_KEY)
            yield Finding(at=located[0] if located else block.start, message=message, hint=hint)
            return


def _show_value(block: Block) -> str:
    """Return the visible value, followed by the names of its invisible characters."""
    value = str(block.fields.get(LINK_KEY))
    hidden = dict.fromkeys(f"U+{ord(char):04X}" for char in find_invisible(value))
    shown = quote(remove_invisible(value).encode(errors="replace"))
    return f"{shown} with invisible {join_words(tuple(hidden))}" if hidden else shown


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="pr-link-missing",
        says="A new entry has a pr-link.",
        why="Readers must find the pull request of an entry. In `pr-link: #77`, `#77` is a comment.",
        check=_missing,
    ),
    Rule(
        id="pr-link-placeholder",
        says="A placeholder is one of the policy's placeholders.",
        why="infx must find the placeholder again to replace it with the number.",
        check=_placeholders,
    ),
    Rule(
        id="pr-link-foreign",
        says="A new entry links to its own pull request.",
        why="A copied link credits, and later publishes, a pull request that never merged.",
        check=_foreign,
    ),
    Rule(
        id="pr-link-shape",
        says="A link is the canonical address of a pull request.",
        why="All readers of the changelog compare links as text.",
        check=_shapes,
    ),
    Rule(
        id="pr-link-canonical",
        says="A merged entry has the canonical link, on one plain line (stages merge and main).",
        why="After the merge, the number for a placeholder is no longer known.",
        check=_not_canonical,
    ),
    Rule(
        id="pr-link-unchecked",
        says="(warning) The number or repository of a link was not checked, because the expected one is not known.",
        why="Without a warning, an incomplete check looks complete.",
        check=_unchecked,
        level=Level.WARNING,
    ),
)

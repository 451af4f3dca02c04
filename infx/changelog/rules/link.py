"""Rules about `pr-link`: which pull request an entry belongs to."""

from __future__ import annotations

from collections.abc import Iterator

from infx.changelog.blocks import LINK_KEY, Block
from infx.changelog.link_line import link_edit, stands_canonical
from infx.changelog.links import Meaning, Reference, find_invisible, remove_invisible
from infx.changelog.subject import Context, Subject, quote
from infx.errors import Level
from infx.phrases import join_words
from infx.policy.stage import Stage
from infx.rules import Edit, Finding, Rule

_EARLY = "Run `infx changelog canonicalize --write --pr <number>` before the pull request is queued."
_LATE = "Correct the link in a pull request that does nothing else to the changelog."


def _hint(context: Context) -> str:
    """In backticks, so that every page shows what is to be copied byte for byte."""
    links = context.links
    own = f"`{links.canonical(context.number or '<number>')}`"
    if context.is_final:
        return f"Write {own}."
    return f"Write {', '.join(f'`{form}`' for form in links.accepted)} or {own}."


def _expected(context: Context) -> str:
    own = f"pull/{context.number}" if context.number else "this pull request's link"
    return own if context.is_final else f"{own} or a placeholder"


def _draft(
    block: Block, subject: Subject, message: str, *, certain: bool, link: str | None = None
) -> Finding[int | None]:
    """link: what a repair writes; without it, this pull request's own."""
    context = subject.context
    found = block.find(LINK_KEY)
    edit: Edit | None = None
    if certain and (text := link or context.own_link) is not None:
        edit = link_edit(block, text)
    offset = found[0] if found else block.start
    return Finding(at=offset, message=message, hint=_hint(context), edits=(edit,) if edit else ())


def _read(block: Block, subject: Subject) -> Reference | None:
    """What the value means; None where it is no text."""
    value = block.fields.get(LINK_KEY)
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return subject.context.links.read(str(value))


def _is_empty(block: Block) -> bool:
    value = block.fields.get(LINK_KEY)
    return value is None or value == ""


def _missing(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        found = block.find(LINK_KEY)
        if not block.fields or (found and not _is_empty(block)):
            continue
        if found is None:
            yield _draft(block, subject, "This entry has no pr-link.", certain=True)
            continue
        comment = found[1].rest.decode(errors="replace")
        if comment.startswith("#"):
            message = f"The pr-link is empty: to YAML, {quote(found[1].rest)} is a comment."
            own = subject.context.links.read(comment)
            certain = own.meaning is Meaning.WORD or own.number == subject.context.number is not None
        else:
            message, certain = "The pr-link is empty.", True
        yield _draft(block, subject, message, certain=certain)


def _placeholders(subject: Subject) -> Iterator[Finding[int | None]]:
    for block in subject.blocks:
        reference = _read(block, subject)
        if reference and reference.meaning is Meaning.WORD and not _is_empty(block):
            message = f"{_value(block)} is no pr-link; expected {_expected(subject.context)}."
            found = block.find(LINK_KEY)
            comment = found[1].rest.decode(errors="replace") if found else ""
            certain = _may_be_own(comment, subject.context)  # of `PR #76`, all that YAML reads is `PR`
            if not certain:
                message += f" To YAML, {quote(comment.encode())} is a comment."
            yield _draft(block, subject, message, certain=certain)


def _may_be_own(comment: str, context: Context) -> bool:
    """Whether a comment behind a link that names no number may be of this pull request: it names no other."""
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
            message = f"The pr-link points at {reference.repository}, not at {repository}; expected {_expected(subject.context)}, found {_value(block)}."
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
            message = f"The pr-link is not in its canonical form: found {_value(block)}."
            # Without what nobody sees it is canonical: whoever copied it from a page meant this very link.
            link = remove_invisible(block.link or "").strip()
            is_hidden = subject.context.links.read(link).meaning is Meaning.CANONICAL
            certain = number is not None or is_hidden
            yield _draft(block, subject, message, certain=certain, link=link if is_hidden else None)
        elif reference.meaning is Meaning.UNREADABLE:
            message = f"{_value(block)} is no pr-link; expected {_expected(subject.context)}."
            yield _draft(block, subject, message, certain=False)


def _not_canonical(subject: Subject) -> Iterator[Finding[int | None]]:
    """A foreign number is `pr-link-foreign`'s to say."""
    context = subject.context
    for block in subject.blocks if context.is_final else ():
        reference = _read(block, subject)
        if reference is None:
            continue
        if reference.meaning is Meaning.PLACEHOLDER:
            message = (
                f"The pr-link is still the placeholder {_value(block)}; merged entries carry their number."
            )
        elif reference.meaning is Meaning.CANONICAL and not stands_canonical(block):
            message = "The pr-link is not written on one plain line."
        else:
            continue
        if context.number is None:
            hint = _LATE if context.stage is Stage.MAIN else _EARLY
            found = block.find(LINK_KEY)
            yield Finding(at=found[0] if found else block.start, message=message, hint=hint)
        else:
            yield _draft(block, subject, message, certain=True)


def _unchecked(subject: Subject) -> Iterator[Finding[int | None]]:
    context = subject.context
    for block in subject.blocks:
        reference = _read(block, subject)
        if reference and reference.meaning is Meaning.CANONICAL and not context.is_final:
            if context.links.repository is None:
                message, hint = (
                    "The repository is not known, so only the shape of links was checked.",
                    "Give --repo.",
                )
            elif context.number is None:
                message = "The number of the pull request is not known, so links were not compared with it."
                hint = "Give --pr."
            else:
                return
            found = block.find(LINK_KEY)
            yield Finding(at=found[0] if found else block.start, message=message, hint=hint)
            return


def _value(block: Block) -> str:
    """The value as it looks, and what of it cannot be seen."""
    value = str(block.fields.get(LINK_KEY))
    hidden = dict.fromkeys(f"U+{ord(char):04X}" for char in find_invisible(value))
    shown = quote(remove_invisible(value).encode(errors="replace"))
    return f"{shown} with {join_words(tuple(hidden))}, which nobody can see" if hidden else shown


RULES: tuple[Rule[[Subject], int | None], ...] = (
    Rule(
        id="pr-link-missing",
        says="A new entry has a pr-link.",
        why="`pr-link: #77` has none: `#77` is a comment.",
        check=_missing,
    ),
    Rule(
        id="pr-link-placeholder",
        says="A placeholder is spelled as the policy spells it.",
        why="What stands for the number must be found again when there is one.",
        check=_placeholders,
    ),
    Rule(
        id="pr-link-foreign",
        says="A new entry links its own pull request.",
        why="A copied link credits, and later publishes, a pull request that never merged.",
        check=_foreign,
    ),
    Rule(
        id="pr-link-shape",
        says="A link is the canonical address of a pull request.",
        why="It is compared as text by everything that reads the changelog.",
        check=_shapes,
    ),
    Rule(
        id="pr-link-canonical",
        says="What is merged carries the canonical link, on one plain line (stages merge and main).",
        why="After the merge nobody knows any more which number a placeholder stood for.",
        check=_not_canonical,
    ),
    Rule(
        id="pr-link-unchecked",
        says="(warning) A link's number or repository could not be compared, because nobody said which it should be.",
        why="A silent half of a check looks like a whole one.",
        check=_unchecked,
        level=Level.WARNING,
    ),
)

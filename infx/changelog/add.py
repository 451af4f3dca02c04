"""Write a new entry as text that passes validation."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from infx.bench.entry import Entry
from infx.changelog.blocks import parse_blocks
from infx.changelog.entries import read_entry
from infx.changelog.rules.fields import find_contradictions
from infx.errors import InfxError, Problem, ProblemsError, UsageError, suggest
from infx.phrases import count, join_some
from infx.records import record


@record
class NewEntry:
    """An entry to append."""

    entry: Entry
    translations: tuple[str, ...] = ()  # one for each description, placed after it; or none at all


def complete_keys(typed_keys: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the full configuration key for each typed part of a key; keep patterns.

    A part is completed if only one key starts with it, or else if only one key contains it. Raises UsageError.
    """
    return list(dict.fromkeys(_complete_key(text, known) for text in typed_keys))


def _complete_key(text: str, known: Collection[str]) -> str:
    from infx.bench.keys import is_pattern, match_keys

    if text in known or (is_pattern(text) and match_keys(text, known)):
        return text
    for candidates in ([key for key in known if key.startswith(text)], [key for key in known if text in key]):
        if len(candidates) == 1:
            return candidates[0]
        if candidates:
            shown = join_some(candidates, 8)
            raise UsageError(
                f"{text!r} could be any of {count(len(candidates), 'key')}: {shown}.",
                hint="Type more of the key.",
            )
    hint = suggest(text, known) or "Name a key of a master file, or a part of it."
    raise UsageError(f"No configuration matches {text!r}.", hint=hint)


def check_end(data: bytes, path: str) -> list[Problem]:
    """Check that an entry can be appended: no conflict marker anywhere, and the last entry is complete."""
    from infx.changelog.align import split_chunks
    from infx.changelog.rules.text import find_marker_lines
    from infx.changelog.subject import quote

    problems = [
        Problem(
            rule="conflict-marker",
            message=f"Unresolved conflict marker: {quote(line.strip())}.",
            path=path,
            line=data.count(b"\n", 0, offset) + 1,
            hint="Resolve the conflict first, during a merge with `infx changelog resolve`.",
        )
        for offset, line in find_marker_lines(data)
    ]
    chunks = split_chunks(data)
    if problems or not chunks:
        return problems
    try:
        parse_blocks(data, path, chunks[-1].start)
    except ProblemsError as error:
        return error.problems
    return []


def render_entry(new: NewEntry) -> bytes:
    """Render an entry as past entries are written: block style, keys first, texts in double quotes.

    Raises UsageError if a text is empty, translations do not match, or fields contradict each other.
    """
    entry = new.entry
    if not all(text.strip() for text in _interleave(new)):
        raise UsageError("A description or translation is empty.", hint="Say what changed, and why.")
    lines = ["- config-keys:", *(f"    - {_plain(key)}" for key in entry.config_keys)]
    if entry.scenario_types:
        lines += ["  scenario-type:", *(f"    - {scenario}" for scenario in entry.scenario_types)]
    lines += ["  description:", *(f"    - {_quoted(text)}" for text in _interleave(new))]
    for name, value in (
        ("evals-only", entry.evals_only),
        ("all-evals", entry.all_evals),
        ("no-evals", entry.no_evals),
        ("append-only", entry.append_only),
    ):
        lines += [f"  {name}: true"] if value else []
    if entry.eval_min_prefill_ep is not None:
        lines.append(f"  eval-min-prefill-ep: {entry.eval_min_prefill_ep}")
    text = "\n".join([*lines, f"  pr-link: {entry.pr_link}", ""]).encode()
    _prove(text, new)
    return text


def _interleave(new: NewEntry) -> list[str]:
    if not new.translations:
        return list(new.entry.description)
    if len(new.translations) != len(new.entry.description):
        raise UsageError("Give one translation for each description, or none at all.")
    pairs = zip(new.entry.description, new.translations, strict=True)
    return [text for pair in pairs for text in pair]


def _plain(key: str) -> str:
    """Quote a key only where YAML would misread it, as it does with a leading `*`."""
    is_word = key[:1].isalnum() and all(char.isalnum() or char in "-_.*" for char in key)
    return key if is_word else _quoted(key)


def _quoted(text: str) -> str:
    """Write a text as a JSON string, which YAML reads in the same way."""
    escaped = json.dumps(text, ensure_ascii=False)
    # YAML 1.1 ends a line at U+0085, U+2028 and U+2029; DEL and U+FEFF are invisible.
    for char in "\x7f\x85\u2028\u2029\ufeff":
        escaped = escaped.replace(char, f"\\u{ord(char):04x}")
    return escaped


def _prove(text: bytes, new: NewEntry) -> None:
    (block,) = parse_blocks(text, "")
    for narrowing, widening in find_contradictions(block):
        raise UsageError(f"{narrowing} and {widening} contradict each other.", hint="Keep one of them.")
    reread = read_entry(block)
    if (reread.config_keys, list(reread.description)) != (new.entry.config_keys, _interleave(new)):
        raise InfxError("The entry cannot be written: YAML would not read back what you typed.")

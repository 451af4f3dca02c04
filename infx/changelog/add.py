"""A new entry as text that is valid from the start."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from infx.bench.entry import Entry
from infx.changelog.blocks import parse_blocks
from infx.changelog.entries import read_entry
from infx.changelog.rules.fields import find_contradictions
from infx.errors import InfxError, Problem, ProblemsError, UsageError, suggest
from infx.phrases import count, join_some


@dataclass(frozen=True, kw_only=True)
class NewEntry:
    """What an entry is to say. translations: one for each description, or none; each goes behind its own."""

    entry: Entry
    translations: tuple[str, ...] = ()


def complete_keys(given: Sequence[str], known: Collection[str]) -> list[str]:
    """Keys as they stand in the configurations; patterns stay patterns.

    A part of a key is completed if only one key starts with it, or else only one holds it. Raises UsageError.
    """
    return list(dict.fromkeys(_complete_key(text, known) for text in given))


def _complete_key(text: str, known: Collection[str]) -> str:
    from infx.bench.keys import is_pattern, match_keys

    if text in known or (is_pattern(text) and match_keys(text, known)):
        return text
    for found in ([key for key in known if key.startswith(text)], [key for key in known if text in key]):
        if len(found) == 1:
            return found[0]
        if found:
            shown = join_some(found, 8)
            raise UsageError(
                f"{text!r} could be any of {count(len(found), 'key')}: {shown}.", hint="Give more of it."
            )
    what = "matches no configuration" if is_pattern(text) else "is the key of no configuration"
    raise UsageError(f"{text!r} {what}.", hint=suggest(text, known))


def check_end(data: bytes, path: str) -> list[Problem]:
    """Return what keeps an entry from being appended: conflict markers anywhere, and a last entry that goes on."""
    from infx.changelog.align import split_chunks
    from infx.changelog.rules.text import find_marker_lines
    from infx.changelog.subject import quote

    problems = [
        Problem(
            rule="conflict-marker",
            message=f"Unresolved conflict marker: {quote(line.strip())}.",
            path=path,
            line=data.count(b"\n", 0, offset) + 1,
            hint="Resolve the conflict first; while git has stopped, `infx changelog resolve` does.",
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
    """Block style, keys first, texts in double quotes, as past entries are written. Raises UsageError."""
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
        raise UsageError("Every description needs its translation, or none has one.")
    pairs = zip(new.entry.description, new.translations, strict=True)
    return [text for pair in pairs for text in pair]


def _plain(key: str) -> str:
    """Quoted only where YAML would read something else, as it does a leading `*`."""
    is_word = key[:1].isalnum() and all(char.isalnum() or char in "-_.*" for char in key)
    return key if is_word else _quoted(key)


def _quoted(text: str) -> str:
    """JSON's form is YAML's too, but for three characters that end a line in YAML 1.1."""
    escaped = json.dumps(text, ensure_ascii=False)
    for char in "\x7f\x85\u2028\u2029\ufeff":
        escaped = escaped.replace(char, f"\\u{ord(char):04x}")
    return escaped


def _prove(text: bytes, new: NewEntry) -> None:
    (block,) = parse_blocks(text, "")
    for one, other in find_contradictions(block):
        raise UsageError(f"{one} and {other} contradict each other.", hint="Keep one of them.")
    read = read_entry(block)
    if (read.config_keys, list(read.description)) != (new.entry.config_keys, _interleave(new)):
        raise InfxError("YAML would read another entry than was asked for.")

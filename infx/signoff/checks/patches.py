"""Check 10: the serving stack runs as released, or a waiver states what is patched and until when."""

from __future__ import annotations

import re

from infx.markdown import BlockKind, parse_markdown
from infx.policy.model import Policy
from infx.signoff.facts import JudgedFile, SignoffFacts
from infx.signoff.lines import Hit, Scan, find_serving_changes, render_hits, scan_lines
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, not_applicable, passed, warned

_PATCH_FILES = (".patch", ".diff")


def check_patches(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Require a waiver for known ways to patch an engine. A person must check what the waiver covers."""
    files = find_serving_changes(facts, policy)
    if not files:
        return not_applicable("No file that a row may run changes.")
    scan = scan_lines(files, policy.signoff.patches)
    patches = [
        Hit(path=file.path, line=1, text="a patch file")
        for file in files
        if file.added != () and file.path.endswith(_PATCH_FILES)
    ]
    refused = (*patches, *scan.refused)
    if refused:
        return _judge_waived(refused, scan, facts, policy)
    if scan.questioned or scan.unseen:
        places = render_hits(scan.questioned) if scan.questioned else name_all(scan.unseen)
        return warned(
            f"This may change the serving stack and needs human review: {places}.", evidence=scan.evidence
        )
    return passed(f"No known way to patch an engine in {scan.extent}.", evidence=scan.evidence)


def _judge_waived(refused: tuple[Hit, ...], scan: Scan, facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    shown = render_hits(refused)
    evidence = [*scan.evidence, *(f"refused: {hit}" for hit in refused)]
    own = f"{policy.signoff.paths.waivers}/{facts.pull.number}.md"
    waivers = [waiver for waiver in facts.waivers if _may_cover(waiver, own)]
    if not waivers:
        return failed(f"The engine is patched ({shown}) without a waiver {code(own)}.", evidence=evidence)
    linked = [waiver for waiver in waivers if _is_linked(waiver, facts.signoff.body)]
    if not linked:
        names = name_all(waiver.path for waiver in waivers)
        return failed(f"The sign-off does not link the waiver {names} for {shown}.", evidence=evidence)
    for waiver in linked:
        if missing := find_missing_fields(waiver.head or "", policy.signoff.waiver_fields):
            return failed(
                f"The waiver {code(waiver.path)} does not say: {name_all(missing)}.", evidence=evidence
            )
    names = name_all(waiver.path for waiver in linked)
    return warned(
        f"A person must check that the waiver {names} covers exactly this: {shown}.", evidence=evidence
    )


def _may_cover(waiver: JudgedFile, own: str) -> bool:
    """Return whether a waiver has this pull request's number or, for an old patch, is on the base branch."""
    return waiver.head is not None and (waiver.path == own or waiver.base is not None)


def _is_linked(waiver: JudgedFile, body: str) -> bool:
    blocks = [block for block in parse_markdown(body) if not block.is_task]
    if any(link.partition("#")[0].endswith(f"/{waiver.path}") for block in blocks for link in block.links):
        return True
    pattern = re.compile(rf"(?<![\w/.-]){re.escape(waiver.path)}(?![\w/-])")
    return any(pattern.search(block.text) for block in blocks)


def find_missing_fields(text: str, fields: tuple[str, ...]) -> list[str]:
    """Return the fields of a waiver that are missing or empty.

    A field is a heading with text below it, or `Field: text`.
    """
    filled: dict[str, bool] = dict.fromkeys((field.casefold() for field in fields), False)
    current: str | None = None
    for block in parse_markdown(text):
        if block.kind is BlockKind.HEADING:
            current = _find_field(block.text, filled)
            continue
        for line in block.text.split("\n"):
            head, colon, value = line.partition(":")
            if colon and (name := _find_field(head, filled)):
                filled[name] = filled[name] or bool(value.strip())
                current = None if value.strip() else name
            elif current and line.strip():
                filled[current] = True
    return [field for field in fields if not filled[field.casefold()]]


def _find_field(words: str, fields: dict[str, bool]) -> str | None:
    plain = " ".join(re.sub(r"[^\w ]", " ", words).split()).casefold()
    return next((field for field in fields if plain == field or plain.startswith(f"{field} ")), None)

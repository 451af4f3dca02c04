"""Check 10: the serving stack runs as released, or a waiver says exactly what is patched and until when."""

from __future__ import annotations

import re

from infx.markdown import BlockKind, read_blocks
from infx.policy.model import Policy
from infx.signoff.facts import JudgedFile, SignoffFacts
from infx.signoff.lines import Hit, Scan, scan_lines, serving_files, show_hits
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, not_applicable, passed, warned

_PATCH_FILES = (".patch", ".diff")


def check_patches(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Known ways to patch an engine need a waiver; whether it covers exactly this patch is for a human."""
    files = serving_files(facts, policy)
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
        what = show_hits(scan.questioned) if scan.questioned else name_all(scan.unseen)
        return warned(
            f"Whether this changes the serving stack is for a human: {what}.", evidence=scan.evidence
        )
    return passed(f"No known way to patch an engine in {scan.looked_at}.", evidence=scan.evidence)


def _judge_waived(refused: tuple[Hit, ...], scan: Scan, facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    shown = show_hits(refused)
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
        f"Whether the waiver {names} covers exactly this is for a human: {shown}.", evidence=evidence
    )


def _may_cover(waiver: JudgedFile, own: str) -> bool:
    """A new patch has a waiver of this pull request's number; an old one has its own, on the target branch already."""
    return waiver.head is not None and (waiver.path == own or waiver.base is not None)


def _is_linked(waiver: JudgedFile, body: str) -> bool:
    blocks = [block for block in read_blocks(body) if not block.is_task]
    if any(link.partition("#")[0].endswith(f"/{waiver.path}") for block in blocks for link in block.links):
        return True
    pattern = re.compile(rf"(?<![\w/.-]){re.escape(waiver.path)}(?![\w/-])")
    return any(pattern.search(block.text) for block in blocks)


def find_missing_fields(text: str, fields: tuple[str, ...]) -> list[str]:
    """Fields of a waiver that are not there or say nothing: a heading with text below, or `Field: text`."""
    said: dict[str, bool] = dict.fromkeys((field.casefold() for field in fields), False)
    current: str | None = None
    for block in read_blocks(text):
        if block.kind is BlockKind.HEADING:
            current = _field_of(block.text, said)
            continue
        for line in block.text.split("\n"):
            head, colon, rest = line.partition(":")
            if colon and (name := _field_of(head, said)):
                said[name] = said[name] or bool(rest.strip())
                current = None if rest.strip() else name
            elif current and line.strip():
                said[current] = True
    return [field for field in fields if not said[field.casefold()]]


def _field_of(words: str, fields: dict[str, bool]) -> str | None:
    plain = " ".join(re.sub(r"[^\w ]", " ", words).split()).casefold()
    return next((field for field in fields if plain == field or plain.startswith(f"{field} ")), None)

"""Checks 8, 9 and 13: what added lines say about the model, the chat template and the draft."""

from __future__ import annotations

from infx.bench.names import AGENTIC
from infx.policy.model import Policy
from infx.signoff.facts import SignoffFacts
from infx.signoff.lines import any_match, files_of, scan_lines, serving_files, show_hits, without_comments
from infx.signoff.outcome import CheckOutcome, failed, name_all, not_applicable, passed, warned
from infx.signoff.planned import ConfigChange


def check_architecture(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Overrides that make the model cheaper than it is. Known ones fail; that another one is harmless is for a human."""
    files = serving_files(facts, policy)
    if not files:
        return not_applicable("No file that a row may run changes.")
    scan = scan_lines(files, policy.signoff.architecture)
    if scan.refused:
        return failed(f"Refused overrides: {show_hits(scan.refused)}.", evidence=scan.evidence)
    if scan.questioned:
        text = f"Whether these overrides cut work that the model does is for a human: {show_hits(scan.questioned)}."
        return warned(text, evidence=scan.evidence)
    if scan.unseen:
        return warned(
            f"These files cannot be read line by line: {name_all(scan.unseen)}.", evidence=scan.evidence
        )
    return passed(f"No known architecture override in {scan.looked_at}.", evidence=scan.evidence)


def check_chat(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """A speculative configuration is measured through the chat template, never on raw completions."""
    speculative = _speculative(facts)
    if not speculative:
        return not_applicable("No configuration with speculative decoding is affected.")
    scan = scan_lines(serving_files(facts, policy), policy.signoff.chat)
    if scan.refused:
        return failed(f"Raw completions are measured: {show_hits(scan.refused)}.", evidence=scan.evidence)
    if scan.questioned or scan.unseen:
        what = show_hits(scan.questioned) if scan.questioned else name_all(scan.unseen)
        return warned(f"Whether a chat template is used here is for a human: {what}.", evidence=scan.evidence)
    unproven = [change.key for change in speculative if not _proves_chat(change, facts, policy)]
    if unproven:
        text = f"No file shows that {name_all(unproven)} is measured through a chat template."
        return warned(text, evidence=scan.evidence)
    text = f"{name_all(change.key for change in speculative)}: measured through a chat template or replayed chats."
    return passed(f"{text} No raw completions in {scan.looked_at}.", evidence=scan.evidence)


def _proves_chat(change: ConfigChange, facts: SignoffFacts, policy: Policy) -> bool:
    """AgentX replays chats; a fixed-sequence benchmark must say so in one of the files that serve it."""
    assert change.after is not None
    if set(change.after.scenarios) == {AGENTIC}:
        return True
    expressions = policy.signoff.chat_evidence_expressions
    return any(any_match(expressions, without_comments(file.text)) for file in files_of(change, facts))


def check_draft(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """The draft runs as it ships. A program cannot see a checkpoint's precision, so a new or changed draft is for
    a human; what is known to make it cheaper fails.
    """
    speculative = _speculative(facts)
    if not speculative:
        return not_applicable("No configuration with speculative decoding is affected.")
    files = serving_files(facts, policy)
    scan = scan_lines(files, policy.signoff.draft)
    if scan.refused:
        return failed(
            f"The draft is made cheaper than shipped: {show_hits(scan.refused)}.", evidence=scan.evidence
        )
    if scan.questioned or scan.unseen:
        what = show_hits(scan.questioned) if scan.questioned else name_all(scan.unseen)
        return warned(
            f"Whether the draft still runs as shipped is for a human: {what}.", evidence=scan.evidence
        )
    scripts = [file.path for file in files if file.path not in policy.master_configs]
    changed = [change for change in speculative if not change.adds_points_only]
    if not changed and not scripts:
        text = f"Only concurrencies of {name_all(change.key for change in speculative)} change, the draft does not."
        return passed(f"{text} No draft switch in {scan.looked_at}.", evidence=scan.evidence)
    places = [f"{change.after.path}:{change.after.line}" for change in changed if change.after]
    text = f"The draft's checkpoint, stored and effective precision are for a human: {name_all([*places, *scripts])}."
    return warned(text, evidence=scan.evidence)


def _speculative(facts: SignoffFacts) -> list[ConfigChange]:
    return [change for change in facts.configs if change.after and change.after.speculative]

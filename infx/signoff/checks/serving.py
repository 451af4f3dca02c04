"""Checks 8, 9 and 13: added lines keep the model's architecture, the chat template and the draft."""

from __future__ import annotations

from infx.bench.names import AGENTIC
from infx.matrix.acceptance import strip_comments
from infx.policy.model import Policy
from infx.signoff.facts import SignoffFacts
from infx.signoff.lines import any_match, find_files_of, find_serving_changes, render_hits, scan_lines
from infx.signoff.outcome import CheckOutcome, failed, name_all, not_applicable, passed, warned
from infx.signoff.planned import ConfigChange


def check_architecture(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Refuse known overrides that make the model cheaper. Other overrides need human review."""
    files = find_serving_changes(facts, policy)
    if not files:
        return not_applicable("No file that a row may run changes.")
    scan = scan_lines(files, policy.signoff.architecture)
    if scan.refused:
        return failed(f"Refused overrides: {render_hits(scan.refused)}.", evidence=scan.evidence)
    if scan.questioned:
        text = f"These overrides may reduce the model's work and need human review: {render_hits(scan.questioned)}."
        return warned(text, evidence=scan.evidence)
    if scan.unseen:
        return warned(
            f"These files cannot be read line by line: {name_all(scan.unseen)}.", evidence=scan.evidence
        )
    return passed(f"No known architecture override in {scan.extent}.", evidence=scan.evidence)


def check_chat(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Check that speculative decoding is measured through the chat template, never on raw completions."""
    speculative = _find_speculative(facts)
    if not speculative:
        return not_applicable("No configuration with speculative decoding is affected.")
    scan = scan_lines(find_serving_changes(facts, policy), policy.signoff.chat)
    if scan.refused:
        return failed(f"Raw completions are measured: {render_hits(scan.refused)}.", evidence=scan.evidence)
    if scan.questioned or scan.unseen:
        places = render_hits(scan.questioned) if scan.questioned else name_all(scan.unseen)
        text = f"A person must check that these use a chat template: {places}."
        return warned(text, evidence=scan.evidence)
    unproven = [change.key for change in speculative if not _proves_chat(change, facts, policy)]
    if unproven:
        text = f"No file shows that {name_all(unproven)} is measured through a chat template."
        return warned(text, evidence=scan.evidence)
    text = f"{name_all(change.key for change in speculative)}: measured through a chat template or replayed chats."
    return passed(f"{text} No raw completions in {scan.extent}.", evidence=scan.evidence)


def _proves_chat(change: ConfigChange, facts: SignoffFacts, policy: Policy) -> bool:
    """Return whether a configuration replays chats (AgentX), or its files show a chat template."""
    assert change.after is not None
    if set(change.after.scenarios) == {AGENTIC}:
        return True
    expressions = policy.signoff.chat_evidence_expressions
    return any(any_match(expressions, strip_comments(file.text)) for file in find_files_of(change, facts))


def check_draft(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Refuse switches that are known to make the draft cheaper than shipped.

    A program cannot see a checkpoint's precision, so a new or changed draft needs human review.
    """
    speculative = _find_speculative(facts)
    if not speculative:
        return not_applicable("No configuration with speculative decoding is affected.")
    files = find_serving_changes(facts, policy)
    scan = scan_lines(files, policy.signoff.draft)
    if scan.refused:
        return failed(
            f"The draft is made cheaper than shipped: {render_hits(scan.refused)}.", evidence=scan.evidence
        )
    if scan.questioned or scan.unseen:
        places = render_hits(scan.questioned) if scan.questioned else name_all(scan.unseen)
        text = f"This may change how the draft runs and needs human review: {places}."
        return warned(text, evidence=scan.evidence)
    scripts = [file.path for file in files if file.path not in policy.master_configs]
    changed = [change for change in speculative if not change.adds_points_only]
    if not changed and not scripts:
        text = f"Only concurrencies of {name_all(change.key for change in speculative)} change, the draft does not."
        return passed(f"{text} No draft switch in {scan.extent}.", evidence=scan.evidence)
    changed_places = [f"{change.after.path}:{change.after.line}" for change in changed if change.after]
    text = f"The draft's checkpoint, stored and effective precision need human review: {name_all([*changed_places, *scripts])}."
    return warned(text, evidence=scan.evidence)


def _find_speculative(facts: SignoffFacts) -> list[ConfigChange]:
    return [change for change in facts.configs if change.after and change.after.speculative]

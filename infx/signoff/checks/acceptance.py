"""Check 11: an AgentX run with speculative decoding simulates exactly the committed acceptance length."""

from __future__ import annotations

import re
from collections.abc import Iterator

from infx.bench.names import AGENTIC
from infx.errors import InfxError
from infx.matrix.acceptance import (
    AcceptanceCell,
    SimulatedLength,
    find_fitting,
    find_simulated,
    get_stem,
    is_curve_of,
    parse_curve,
    strip_comments,
)
from infx.phrases import join_some
from infx.policy.model import Policy
from infx.policy.signoff import SignoffPolicy
from infx.signoff.facts import JudgedFile, RecipeFile, SignoffFacts
from infx.signoff.lines import find_files_of
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, not_applicable, passed, warned
from infx.signoff.planned import ConfigChange


def check_acceptance(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Compare simulated lengths with the base branch's curves. A changed curve is a WARN that shows both."""
    affected = [change for change in facts.configs if change.after and change.after.agentic_speculative]
    if stray := list(_find_stray(facts, policy)):
        return failed(f"Acceptance is simulated outside of AgentX: {name_all(stray)}.")
    if not affected:
        return not_applicable("No AgentX configuration with speculative decoding is affected.")
    faults: list[str] = []
    doubts: list[str] = []
    good: list[str] = []
    for change in affected:
        try:
            fault, doubt, text = _judge(change, facts, policy)
        except InfxError as error:
            fault, doubt, text = True, False, f"the curves cannot be read: {code(error.message, 300)}"
        (faults if fault else doubts if doubt else good).append(f"{code(change.key)}: {text}")
    evidence = [*faults, *doubts, *good, *(f"curve {file.path}" for file in facts.golden)]
    if faults:
        return failed(f"{join_some(faults, 3, separator='; ')}.", evidence=evidence)
    if doubts:
        return warned(f"{join_some(doubts, 3, separator='; ')}.", evidence=evidence)
    return passed(f"{join_some(good, 3, separator='; ')}.", evidence=evidence)


def _find_stray(facts: SignoffFacts, policy: Policy) -> Iterator[str]:
    """Return simulated lengths in files that serve only configurations without AgentX."""
    # For a configuration that does not draft, only files that the pull request changes count: its name may be
    # the start of a drafting configuration's name, whose files then seem to serve it.
    for file in facts.recipes:
        served = [
            change.after for change in facts.configs if change.after and file in find_files_of(change, facts)
        ]
        if any(state.is_agentic for state in served):
            continue
        if any(state.speculative for state in served) or (served and file.path in facts.paths):
            yield from (length.place for length in find_simulated(file.path, file.text, policy.signoff))


def _judge(change: ConfigChange, facts: SignoffFacts, policy: Policy) -> tuple[bool, bool, str]:
    """Return whether a configuration is wrong, whether it is doubtful, and the reason."""
    assert change.after is not None
    files = _find_agentic_files(change, facts)
    simulated = [s for file in files for s in find_simulated(file.path, file.text, policy.signoff)]
    curves = _find_curves(change, facts)
    if not files:
        return False, True, "no file that serves it was found, so nothing shows that acceptance is simulated"
    if not simulated:
        if any(_is_half_configured(file.text, policy.signoff) for file in files):
            return True, False, "an acceptance length is set, but simulation is not switched on"
        return True, False, f"acceptance is not simulated in {name_all(file.path for file in files)}"
    base = [cell for curve in curves if curve.base for cell in parse_curve(curve.base, curve.path)]
    head = [cell for curve in curves if curve.head for cell in parse_curve(curve.head, curve.path)]
    if not base:
        added = f"; this pull request adds {name_all(map(str, head[:3]))}" if head else ""
        text = f"the base branch has no curve for {code(change.after.model_prefix)}{added}"
        places = name_all(f"{length.length:g} at {length.place}" for length in simulated)
        return False, True, f"{text}; state the source of {places}"
    texts = {file.path: strip_comments(file.text) for file in files}
    verdicts = [
        _judge_length(length, *(_select_mode(cells, texts[length.path]) for cells in (base, head)))
        for length in simulated
    ]
    worst = max(verdicts, key=lambda verdict: (verdict[0], verdict[1]))
    if worst[0] or worst[1]:
        return worst
    unsimulated = [file.path for file in files if file.path not in {length.path for length in simulated}]
    if unsimulated:
        return False, True, f"{verdicts[0][2]}; {name_all(unsimulated)} may serve it too, without simulation"
    return verdicts[0]


def _find_agentic_files(change: ConfigChange, facts: SignoffFacts) -> list[RecipeFile]:
    """Return the files with `agentic` in their path, else all files that serve the configuration."""
    files = find_files_of(change, facts)
    return [file for file in files if AGENTIC in file.path.lower()] or files


def _judge_length(
    simulated: SimulatedLength, base: list[AcceptanceCell], head: list[AcceptanceCell]
) -> tuple[bool, bool, str]:
    shown = code(f"{simulated.place} has {simulated.length:g}")
    expected = [cell for cell in base if not simulated.tokens or cell.tokens in simulated.tokens]
    if not expected:
        drafts = ", ".join(map(str, simulated.tokens))
        text = f"{shown}, but there is no committed length for {drafts} draft tokens"
        added = [cell for cell in head if cell.tokens in simulated.tokens]
        if not added:
            return True, False, text
        is_wrong = not find_fitting(simulated.length, added)
        return is_wrong, True, f"{text}; this pull request adds {name_all(map(str, added))}"
    fitting = find_fitting(simulated.length, expected)
    changed = [cell for cell in expected if cell not in head]
    if changed:
        now = name_all(map(str, (cell for cell in head if cell.tokens in {m.tokens for m in changed})))
        text = f"{shown}; committed is {name_all(map(str, expected))}, this pull request has {now}"
        return not fitting, True, text
    if not fitting:
        return True, False, f"{shown}, committed is {name_all(map(str, expected))}"
    if not simulated.tokens or len(simulated.tokens) > 1:
        return False, True, f"{shown} equals {name_all(map(str, fitting))}; the draft length is not certain"
    return False, False, f"{shown}, as committed: {name_all(map(str, fitting))}"


def _select_mode(cells: list[AcceptanceCell], text: str) -> list[AcceptanceCell]:
    """Return the cells of the thinking modes that a file names; all cells if it names none."""
    named = [cell for cell in cells if re.search(rf"\b{re.escape(cell.mode)}\b", text)]
    return named or cells


def _is_half_configured(text: str, policy: SignoffPolicy) -> bool:
    return any(re.search(way.pattern, strip_comments(text)) for way in policy.acceptance.values())


def _find_curves(change: ConfigChange, facts: SignoffFacts) -> list[JudgedFile]:
    """Return the files named after the model's prefix, if possible only those of a method in use."""
    assert change.after is not None
    prefix = change.after.model_prefix
    own = [curve for curve in facts.golden if is_curve_of(curve.path, prefix)]
    words = f"{change.key} {' '.join(file.path for file in facts.recipes if change.key in file.keys)}".lower()
    named = [
        curve
        for curve in own
        if (method := get_stem(curve.path)[len(prefix) + 1 :].lower()) and method in words
    ]
    return named or own

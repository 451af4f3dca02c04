"""Check 6: established hardware uses upstream images, and an open engine comes before a vendor's engine."""

from __future__ import annotations

from infx.phrases import count, join_some
from infx.policy.model import Policy
from infx.policy.signoff import SignoffPolicy
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import CheckOutcome, code, failed, name_all, not_applicable, passed, warned
from infx.signoff.planned import ConfigChange, ConfigState, KnownConfig


def check_images(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    changed = [change for change in facts.configs if change.after and change.before != change.after]
    if not changed:
        return not_applicable("No master configuration changes.")
    faults: list[str] = []
    doubts: list[str] = []
    evidence: list[str] = []
    for change in changed:
        assert change.after is not None
        for fault, is_certain in _find_faults(change, change.after, facts, policy.signoff):
            (faults if is_certain else doubts).append(f"{code(_place(change.key, change.after))} {fault}")
        evidence.append(f"{_place(change.key, change.after)}: {change.after.framework} {change.after.image}")
    if faults:
        return failed(f"{join_some(faults, 4, separator='; ')}.", evidence=[*evidence, *faults, *doubts])
    if doubts:
        return warned(f"{join_some(doubts, 4, separator='; ')}.", evidence=[*evidence, *doubts])
    return passed(
        f"{count(len(changed), 'configuration')}: images and engine order are as required.", evidence=evidence
    )


def _place(key: str, state: ConfigState) -> str:
    return f"{state.path}:{state.line} {key}"


def _find_faults(
    change: ConfigChange, after: ConfigState, facts: SignoffFacts, policy: SignoffPolicy
) -> list[tuple[str, bool]]:
    """Return the faults of one configuration, and whether each is certain."""
    faults = []
    allowed = policy.images.get(after.framework)
    repository = parse_repository(after.image)
    if allowed and repository not in allowed:
        text = f"uses {code(repository)}; {after.framework} entries use {name_all(allowed)}"
        if after.hardware in policy.hardware:
            faults.append((text, True))
        else:
            faults.append((f"{text}, unless {code(after.hardware)} is too new for them", False))
    if _needs_open_engine(change, after, policy):
        faults += _find_order_faults(change, after, facts, policy)
    return faults


def parse_repository(image: str) -> str:
    """Return `vllm/vllm-openai` for `vllm/vllm-openai:v0.9@sha256:…`; `#` separates a registry like `/`."""
    name = image.replace("#", "/").partition("@")[0]
    head, _, tail = name.rpartition("/")
    name = f"{head}/{tail.partition(':')[0]}" if head else tail.partition(":")[0]
    for registry in ("docker.io/", "index.docker.io/", "registry-1.docker.io/"):
        name = name.removeprefix(registry)
    return name


def _needs_open_engine(change: ConfigChange, after: ConfigState, policy: SignoffPolicy) -> bool:
    """Return whether an entry of a vendor's engine is new, or moves to another engine, model or hardware."""
    if after.framework in policy.open_engines:
        return False
    before = change.before
    return before is None or (before.framework, before.model_prefix, before.hardware) != (
        after.framework, after.model_prefix, after.hardware,
    )  # fmt: skip


def _find_order_faults(
    change: ConfigChange, after: ConfigState, facts: SignoffFacts, policy: SignoffPolicy
) -> list[tuple[str, bool]]:
    def serves(config: KnownConfig | ConfigState) -> bool:
        return (
            config.framework in policy.open_engines
            and config.model_prefix == after.model_prefix
            and config.hardware == after.hardware
        )

    others = [other for other in facts.configs if other.key != change.key and other.after]
    added = [other.key for other in others if other.after and serves(other.after)]
    # Entries of the base branch that no longer serve this model and hardware after the pull request.
    leaving = {
        config.key
        for config in facts.configs
        if config.before and not (config.after and serves(config.after))
    }
    if any(serves(known) and known.key not in leaving for known in facts.known_configs):
        return []
    target = f"{code(after.model_prefix)} on {code(after.hardware)}"
    if added:
        return [(f"comes together with {name_all(added)}, the first open engine for {target}", False)]
    return [(f"uses {code(after.framework)}, but no open engine serves {target} yet", True)]

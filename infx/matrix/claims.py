"""Assign each scenario of a configuration to the first entry that names it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from infx.bench.config import ScenarioType
from infx.bench.entry import Entry
from infx.records import record

ALL_TYPES = frozenset(ScenarioType)


@record
class Claim:
    """Configurations that one entry plans together."""

    entry: int  # index of the entry
    keys: tuple[str, ...]
    types: frozenset[ScenarioType]  # scenarios that no earlier entry claimed


def claim_throughput(entries: Sequence[Entry], keys: Sequence[Sequence[str]]) -> Iterator[Claim]:
    """Yield the claims of the throughput entries, in their order. keys: the resolved keys of each entry."""
    measuring = [index for index, entry in enumerate(entries) if not (entry.evals_only or entry.all_evals)]
    return _claim(measuring, entries, keys)


def claim_evals(entries: Sequence[Entry], keys: Sequence[Sequence[str]], order: Sequence[str]) -> list[Claim]:
    """Return the claims of the entries that request accuracy runs: all-evals first, else in their order.

    order: all keys, in the files' order.
    """
    place = {key: index for index, key in enumerate(order)}

    # Accuracy runs are selected within a claim, so the claims must not depend on the order of the entries:
    # all-evals comes first, then the entry that names more, then the named keys decide.
    def rank(index: int) -> tuple[bool, int, list[int], list[str], int]:
        entry = entries[index]
        types = entry.scenario_types or tuple(ScenarioType)
        named = [place[key] for key in keys[index]]  # the entry's order decides which of equal rows is first
        size = len(named) * len(set(types))
        return (not entry.all_evals, -size, named, sorted(map(str, types)), entry.eval_min_prefill_ep or 0)

    asking = [index for index, entry in enumerate(entries) if not (entry.no_evals or entry.append_only)]
    claims = _claim(sorted(asking, key=rank), entries, keys)
    return sorted(claims, key=lambda claim: (not entries[claim.entry].all_evals, claim.entry))


def _claim(
    indices: Iterable[int], entries: Sequence[Entry], keys: Sequence[Sequence[str]]
) -> Iterator[Claim]:
    claimed: dict[str, frozenset[ScenarioType]] = {}
    for index in indices:
        wanted = frozenset(entries[index].scenario_types) or ALL_TYPES
        together: dict[frozenset[ScenarioType], list[str]] = {}
        for key in keys[index]:
            before = claimed.get(key, frozenset())
            if unseen := wanted - before:
                together.setdefault(unseen, []).append(key)
                claimed[key] = before | unseen
        for types, group in together.items():
            yield Claim(entry=index, keys=tuple(group), types=types)

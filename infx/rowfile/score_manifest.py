"""Compare the files of an accuracy run with its metadata and with the concurrencies that were requested."""

from __future__ import annotations

import re
from typing import Any, Iterable, NamedTuple

LISTS = ("eval_concs", "completed_eval_concs", "failed_eval_concs")
_SUFFIX = re.compile(r"_conc([1-9][0-9]{0,8})(?:_[0-9]+)?\.json", re.ASCII)
_NUMBER = re.compile(r"[1-9][0-9]{0,8}", re.ASCII)


class ScoreFault(NamedTuple):
    """A fault of an accuracy run.

    Attributes:
        kind: a word that tests and scripts compare.
        text: a sentence without its period.
    """

    kind: str
    text: str


def find_suffix(name: str) -> int | None:
    """Return the concurrency at the end of a result file's name; None if it names none."""
    match = _SUFFIX.search(name)
    return int(match[1]) if match and match.end() == len(name) else None


def parse_concs(text: str) -> list[int] | None:
    """Return the concurrencies of an option, separated by blanks; None if they are not different positive numbers."""
    words = text.split()
    if not words or not all(_NUMBER.fullmatch(word) for word in words):
        return None
    concs = [int(word) for word in words]
    return concs if len(set(concs)) == len(concs) else None


def check_manifest(
    meta: dict[str, Any] | None, names: list[str], expected: list[int] | None
) -> list[ScoreFault]:
    """Return the faults of a set of result files.

    Args:
        meta: the metadata; None if it cannot be read.
        names: of the result files.
        expected: the requested concurrencies; None if they are not known.
    """
    if meta is None:
        return _check_without_metadata(names, expected)
    if meta.get("eval_concs") is not None:
        return _check_batch(meta, names, expected)
    if expected is None:
        return []
    if len(expected) > 1:
        text = "Concurrencies " + show_concs(expected) + " were requested, but the metadata lists none"
        return [ScoreFault("several_without_batch", text)]
    return _check_single(meta, names, expected[0])


def _check_without_metadata(names: list[str], expected: list[int] | None) -> list[ScoreFault]:
    batched = [name for name in names if find_suffix(name) is not None]
    if batched:
        text = "Without readable metadata, the concurrencies of " + ", ".join(batched[:10]) + " are unknown"
        return [ScoreFault("batched_without_metadata", text)]
    if expected is None:
        return []
    text = "Without readable metadata, concurrency " + show_concs(expected) + " cannot be checked"
    return [ScoreFault("expected_without_metadata", text)]


def _check_single(meta: dict[str, Any], names: list[str], expected: int) -> list[ScoreFault]:
    conc = meta.get("conc")
    faults = []
    if isinstance(conc, bool) or not isinstance(conc, int) or conc != expected:
        text = "The metadata's conc is " + repr(conc)[:60] + ", but " + str(expected) + " was requested"
        faults.append(ScoreFault("single_conc_differs", text))
    if len(names) != 1:
        text = "There are " + str(len(names)) + " result files, expected one"
        faults.append(ScoreFault("single_file_count", text))
    return faults


def _check_batch(meta: dict[str, Any], names: list[str], expected: list[int] | None) -> list[ScoreFault]:
    broken = [name for name in LISTS if not _is_concs(meta.get(name))]
    if broken:
        text = "The metadata's " + " and ".join(broken) + " must be a list of positive numbers"
        return [ScoreFault("lists_missing", text)]
    planned, completed, failed = (meta[name] for name in LISTS)
    suffixes = [find_suffix(name) for name in names]
    measured = {suffix for suffix in suffixes if suffix is not None}
    cases = (
        ("duplicate_expected", "eval_concs repeats", _find_repeated(planned)),
        ("duplicate_completed", "completed_eval_concs repeats", _find_repeated(completed)),
        ("expected_differs", "Requested, but not in eval_concs:", set(expected or planned) - set(planned)),
        ("expected_differs", "In eval_concs, but not requested:", set(planned) - set(expected or planned)),
        ("failed_concurrency", "The harness reports a failure at concurrency", set(failed)),
        ("missing_completed", "Not completed: concurrency", set(planned) - set(completed)),
        ("unexpected_completed", "Completed, but not in eval_concs:", set(completed) - set(planned)),
        ("missing_file", "There is no result file of concurrency", set(planned) - measured),
        ("unexpected_file", "There is a result file of an unlisted concurrency:", measured - set(planned)),
    )
    faults = [ScoreFault(kind, words + " " + show_concs(concs)) for kind, words, concs in cases if concs]
    unnamed = [name for name, suffix in zip(names, suffixes) if suffix is None]
    if unnamed:
        text = "The name has no _conc<N> before .json: " + ", ".join(unnamed[:10])
        faults.append(ScoreFault("file_without_suffix", text))
    return faults


def _is_concs(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(conc, int) and not isinstance(conc, bool) and conc > 0 for conc in value
    )


def _find_repeated(concs: list[int]) -> set[int]:
    return {conc for conc in concs if concs.count(conc) > 1}


def show_concs(concs: Iterable[int]) -> str:
    """Return concurrencies in order, the first 20 of many."""
    ordered = sorted(concs)
    return ", ".join(map(str, ordered[:20])) + (" and more" if len(ordered) > 20 else "")

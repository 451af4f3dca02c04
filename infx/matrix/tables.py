"""Check the small files next to the configurations: models, thresholds, golden lengths, priorities.

This module only checks them; the modules that use a file read it themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import date
from typing import Any

from infx import schema, yaml12
from infx.errors import Level, Problem, ProblemsError, suggest
from infx.matrix.rules import state_problem
from infx.rules import Finding, Path
from infx.yaml12 import Document


def check_models(data: bytes, path: str) -> list[Problem]:
    """Check that dates exist and that the scenarios of each model are listed in the file."""
    return _check("models", data, path, _find_in_models)


def check_thresholds(data: bytes, path: str) -> list[Problem]:
    """Check the schema of the thresholds."""
    return _check("eval-thresholds", data, path, lambda _: ())


def parse_golden_lengths(data: bytes, path: str) -> tuple[Document | None, list[Problem]]:
    """Parse a file of acceptance lengths and check it; no document if it does not fit the schema."""
    try:
        document = yaml12.load_mapping(data, path, text_keys=True)
    except ProblemsError as error:
        return None, error.problems
    if problems := schema.check("golden-al", document):
        return None, problems
    return document, [state_problem(found, document) for found in _find_long_acceptance(document.value)]


def find_repeated_models(documents: Iterable[Document]) -> Iterator[Problem]:
    """Yield a warning for each model that has acceptance lengths in two files."""
    first: dict[str, str] = {}
    for document in documents:
        for model in document.value:
            here = f"{document.path}:{document.line(model)}"
            if (there := first.setdefault(model, here)) != here:
                finding = Finding(
                    rule="golden-al-repeated",
                    at=(model,),
                    message=f"{there} also has lengths of this model, and only the files' names tell which method has which",
                    hint="Keep both if their methods differ, and name each file after its method.",
                    level=Level.WARNING,
                )
                yield state_problem(finding, document)


def check_priorities(data: bytes, path: str, known_labels: Collection[str]) -> list[Problem]:
    """Check that the policy has every label of the priorities. known_labels: the labels of the policy."""
    return _check("ci-priority", data, path, lambda value: _find_unknown_labels(value, known_labels))


def _check(
    name: str,
    data: bytes,
    path: str,
    find: Callable[[dict[str, Any]], Iterator[Finding[Path]] | tuple[()]],
) -> list[Problem]:
    try:
        document = yaml12.load_mapping(data, path)
    except ProblemsError as error:
        return error.problems
    if problems := schema.check(name, document):
        return problems
    return [state_problem(found, document) for found in find(document.value)]


def _find_in_models(value: dict[str, Any]) -> Iterator[Finding[Path]]:
    for at, day in _iterate_days(value):
        try:
            date.fromisoformat(day)
        except ValueError:
            yield Finding(rule="models-date", at=at, message=f"{day} is not a valid date")
    for name, model in value["models"].items():
        for scenario in model["scenarios"]:
            if scenario not in value["scenarios"]:
                yield Finding(
                    rule="models-scenario",
                    at=("models", name, "scenarios", scenario),
                    message=f'"{scenario}" is not among the scenarios',
                    hint=suggest(scenario, value["scenarios"]) or "Add it to scenarios.",
                )


def _iterate_days(value: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for name, scenario in value["scenarios"].items():
        if "deprecated" in scenario:
            yield ("scenarios", name, "deprecated"), scenario["deprecated"]
    for name, model in value["models"].items():
        for key in ("added", "deprecated"):
            if key in model:
                yield ("models", name, key), model[key]
        for scenario, own in model["scenarios"].items():
            if "deprecated" in own:
                yield ("models", name, "scenarios", scenario, "deprecated"), own["deprecated"]


def _find_long_acceptance(value: dict[str, Any]) -> Iterator[Finding[Path]]:
    for model, modes in value.items():
        for mode, lengths in modes.items():
            for draft, mean in lengths.items():
                if mean > int(draft) + 1:
                    message = f"{mean} tokens are more than a draft of {draft} can yield; expected at most {int(draft) + 1}"
                    yield Finding(rule="golden-al-length", at=(model, mode, draft), message=message)


def _find_unknown_labels(value: dict[str, Any], known: Collection[str]) -> Iterator[Finding[Path]]:
    for at, label in _iterate_labels(value.get("labels", {})):
        if label not in known:
            hint = suggest(label, known) or "Add it to labels.control of the policy."
            message = f'"{label}" is not a label of the policy'
            yield Finding(rule="priority-label", at=("labels", *at), message=message, hint=hint)


def _iterate_labels(labels: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    for section, settings in labels.items():
        if "name" in settings:
            yield (section, "name"), settings["name"]
        for key in ("names", "waived-by"):
            for index, label in enumerate(settings.get(key, ())):
                yield (section, key, index), label

"""From the text of a policy file to a `Policy`."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from infx import saved, yaml12
from infx.errors import Problem, ProblemsError

if TYPE_CHECKING:
    from infx.policy.model import Policy

_T = TypeVar("_T")

# Mappings that a policy replaces whole: a default label must not survive beside the repository's own, nor a part
# of a packaged eval profile inside the repository's.
_REPLACED = {("labels",), ("evals", "*")}


@functools.cache
def default_policy() -> Policy:
    """The packaged default, for folders that have no policy of their own."""
    from infx.policy.model import Policy

    return default_part(Policy)


def default_part(part: type[_T]) -> _T:
    """Some keys of the packaged default: those that `part`, a dataclass, has fields for."""
    return _build(part, _default_values())


def parse_part(data: bytes, path: str, part: type[_T]) -> _T:
    """Some keys of a policy file, for a command that would load the others in vain.

    Raises ProblemsError with everything in which the file breaks the schema.
    """
    return _build(part, _merge(_default_values(), _load(data, path).value))


def parse_policy(data: bytes, path: str) -> Policy:
    """Raises ProblemsError with everything that is wrong with the file."""
    from infx.policy.model import Policy

    document = _load(data, path)
    policy = _build(Policy, _merge(_default_values(), document.value))
    checks = (_check_labels, _check_expressions, _check_on_merge)
    if problems := [problem for check in checks for problem in check(policy, document)]:
        raise ProblemsError(problems)
    return policy


def _load(data: bytes, path: str) -> yaml12.Document:
    from infx import schema

    document = yaml12.load_mapping(data, path)
    if problems := schema.check("policy", document):
        raise ProblemsError(problems)
    return document


def _default_values() -> dict[str, Any]:
    data = Path(__file__).with_name("default.yaml").read_bytes()
    values: dict[str, Any] = yaml12.load(data, "default.yaml").value
    return values


def _merge(default: Mapping[str, Any], own: Mapping[str, Any], at: tuple[str, ...] = ()) -> dict[str, Any]:
    merged = dict(default)
    for key, value in own.items():
        below, path = merged.get(key), (*at, key)
        if isinstance(value, dict) and isinstance(below, dict) and not _is_replaced(path):
            merged[key] = _merge(below, value, path)
        else:
            merged[key] = value
    return merged


def _is_replaced(path: tuple[str, ...]) -> bool:
    return path in _REPLACED or (*path[:-1], "*") in _REPLACED


def _check_labels(policy: Policy, document: yaml12.Document) -> list[Problem]:
    """A label with two meanings has none."""
    groups = {
        "primary": policy.labels.primary,
        "modifiers": policy.labels.modifiers,
        "control": policy.labels.control,
    }
    seen: dict[str, str] = {}
    problems = []
    for group, names in groups.items():
        for index, name in enumerate(names):
            if name.lower() in seen:
                message = f"The label {name!r} stands under {seen[name.lower()]} and under {group}."
                line = document.line("labels", group, index if group == "control" else name)
                hint = "Keep one; GitHub does not tell upper and lower case apart."
                problems.append(
                    Problem(rule="policy-label", message=message, path=document.path, line=line, hint=hint)
                )
            seen[name.lower()] = group
    return problems


def _check_on_merge(policy: Policy, document: yaml12.Document) -> list[Problem]:
    """Nothing looks yet for a sweep that may stand for a merge's, so a policy cannot ask for it."""
    from infx.policy.model import OnMerge

    if policy.on_merge is OnMerge.NOTHING:
        return []
    message = f"on-merge: {policy.on_merge} does not work yet: infx cannot reuse a sweep for a merge."
    return [
        Problem(
            rule="policy-on-merge",
            message=message,
            path=document.path,
            line=document.line("on-merge"),
            hint="Say `on-merge: nothing`, or leave the key out.",
        )
    ]


def _check_expressions(policy: Policy, document: yaml12.Document) -> list[Problem]:
    return [
        Problem(
            rule="policy-expression",
            message=f"signoff: {text!r} is no regular expression: {why}.",
            path=document.path,
            line=document.line("signoff"),
        )
        for text, why in policy.signoff.find_bad_expressions()
    ]


def _expand(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """With each check that is `off` in the form that all others have; see `CheckPolicy.is_off`."""
    signoff = values.get("signoff", {})
    off = {"statuses": ["N/A"], "settled-by": "nobody"}
    checks = {slug: off if check == "off" else check for slug, check in signoff.get("checks", {}).items()}
    return {**values, "signoff": {**signoff, "checks": checks}}


def _build(part: type[_T], values: Mapping[str, Any]) -> _T:
    """A frozen dataclass from those keys of a mapping, approved by the schema, that it has fields for."""
    keys = {field.name.replace("_", "-") for field in dataclasses.fields(cast("Any", part))}
    found = {key: value for key, value in _expand(values).items() if key in keys}
    return cast("_T", saved.from_json(part, found))

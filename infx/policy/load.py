"""Parse a policy file into a `Policy`."""

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

# Mappings that a policy replaces as a whole, so that no default label is added to the repository's own labels, and no
# part of a packaged eval profile to the repository's profile.
_REPLACED = {("labels",), ("evals", "*")}


@functools.cache
def default_policy() -> Policy:
    """Return the packaged default, for folders without a policy."""
    from infx.policy.model import Policy

    return default_part(Policy)


def default_part(part: type[_T]) -> _T:
    """Return the keys of the packaged default for which the dataclass `part` has fields."""
    return _build(part, _default_values())


def parse_part(data: bytes, path: str, part: type[_T]) -> _T:
    """Parse only the keys of a policy file for which the dataclass `part` has fields, to start faster.

    Raises ProblemsError with all problems that the schema finds in the file.
    """
    return _build(part, merge_values(_default_values(), _load(data, path).value))


def parse_policy(data: bytes, path: str) -> Policy:
    """Parse a whole policy file. Raises ProblemsError with all problems of the file."""
    from infx.policy.model import Policy

    document = _load(data, path)
    return _check(_build(Policy, merge_values(_default_values(), document.value)), document)


def load_policy_file(data: bytes, path: str) -> yaml12.Document:
    """Return the values of a policy file. Raises ProblemsError with all problems of the file."""
    document = _load(data, path)
    parse_policy(data, path)
    return document


def load_default(path: str) -> yaml12.Document:
    """Return the values of the packaged default. path: its name in the document."""
    return yaml12.load(Path(__file__).with_name("default.yaml").read_bytes(), path)


def _check(policy: Policy, document: yaml12.Document) -> Policy:
    checks = (_check_labels, _check_expressions)
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
    values: dict[str, Any] = load_default("default.yaml").value
    return values


def merge_values(
    default: Mapping[str, Any], own: Mapping[str, Any], at: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return the values that apply: mappings are merged, except `labels` and eval profiles; all else is replaced."""
    merged = dict(default)
    for key, value in own.items():
        default_value, path = merged.get(key), (*at, key)
        if isinstance(value, dict) and isinstance(default_value, dict) and not _is_replaced(path):
            merged[key] = merge_values(default_value, value, path)
        else:
            merged[key] = value
    return merged


def _is_replaced(path: tuple[str, ...]) -> bool:
    return path in _REPLACED or (*path[:-1], "*") in _REPLACED


def _check_labels(policy: Policy, document: yaml12.Document) -> list[Problem]:
    """Check that no label is listed twice."""
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
                message = f"The label {name!r} is listed under {seen[name.lower()]} and under {group}."
                line = document.line("labels", group, index if group == "control" else name)
                hint = "Keep one; GitHub ignores upper and lower case in labels."
                problems.append(
                    Problem(rule="policy-label", message=message, path=document.path, line=line, hint=hint)
                )
            seen[name.lower()] = group
    return problems


def _check_expressions(policy: Policy, document: yaml12.Document) -> list[Problem]:
    return [
        Problem(
            rule="policy-expression",
            message=f"signoff: {text!r} is not a valid regular expression: {why}.",
            path=document.path,
            line=document.line("signoff"),
        )
        for text, why in policy.signoff.find_bad_expressions()
    ]


def _expand(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write each check that is `off` in the same form as the others; see `CheckPolicy.is_off`."""
    signoff = values.get("signoff", {})
    off = {"statuses": ["N/A"], "settled-by": "no-one"}
    checks = {slug: off if check == "off" else check for slug, check in signoff.get("checks", {}).items()}
    return {**values, "signoff": {**signoff, "checks": checks}}


def _build(part: type[_T], values: Mapping[str, Any]) -> _T:
    """Build a dataclass from the keys for which it has fields. The schema has checked the values."""
    keys = {field.name.replace("_", "-") for field in dataclasses.fields(cast("Any", part))}
    own_values = {key: value for key, value in _expand(values).items() if key in keys}
    return cast("_T", saved.from_json(part, own_values))

"""Show the effective policy, with the place of each value: the repository's file, or the packaged default."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from infx import yaml12
from infx.errors import Problem, UnknownNamesError, suggest
from infx.policy.load import load_default, load_policy_file, merge_values
from infx.records import record

DEFAULT_PATH = "infx/policy/default.yaml"  # in the package

Keys = tuple[str, ...]

_WIDTH = 100  # of a list on one line
_PLAIN = re.compile(r"(?:\.(?=[a-z]+/))?[A-Za-z_/][A-Za-z0-9_/.@+-]*(?: [A-Za-z0-9_/.@+-]+)*")
_WORDS = {"null", "true", "false"}  # in any case, they would not be read as text


@record
class PolicyValue:
    """A value that is set at one place: a scalar, a list or an empty mapping."""

    keys: Keys
    value: Any
    path: str
    line: int


@record
class EffectivePolicy:
    """The values that apply, and the files that they come from.

    Attributes:
        own: the repository's file, if there is one.
    """

    values: Mapping[str, Any]
    default: yaml12.Document
    own: yaml12.Document | None

    def find_origin(self, keys: Keys) -> tuple[str, int]:
        """Return the path and the line of the value at these keys."""
        # A value that the repository's file has always replaces the default, also inside of a mapping.
        if self.own is not None and _has(self.own.value, keys):
            return self.own.path, self.own.line(*keys)
        return self.default.path, self.default.line(*keys)

    def find_values(self, value: Any, keys: Keys) -> Iterator[PolicyValue]:
        """Yield the values below a value, which is at these keys."""
        if isinstance(value, dict) and value:
            for key, child in value.items():
                yield from self.find_values(child, (*keys, key))
        else:
            path, line = self.find_origin(keys)
            yield PolicyValue(keys=keys, value=value, path=path, line=line)


def parse_effective(data: bytes, path: str) -> EffectivePolicy:
    """Parse a repository's policy. Raises ProblemsError with all problems of the file."""
    own = load_policy_file(data, path)
    default = load_default(DEFAULT_PATH)
    return EffectivePolicy(values=merge_values(default.value, own.value), default=default, own=own)


def default_effective() -> EffectivePolicy:
    """Return the packaged default, for folders without a policy."""
    default = load_default(DEFAULT_PATH)
    return EffectivePolicy(values=default.value, default=default, own=None)


def find_part(values: Any, name: str) -> tuple[Keys, Any]:
    """Return the keys and the value that a dotted name means; keys may contain dots.

    Raises UnknownNamesError, with the nearest name.
    """
    if (found := _find(values, name)) is not None:
        return found
    known = list(_list_names(values))
    message = f"{name}: the policy has no such key."
    raise UnknownNamesError([Problem(rule="policy-key", message=message, hint=suggest(name, known))])


def _find(values: Any, name: str, keys: Keys = ()) -> tuple[Keys, Any] | None:
    if not isinstance(values, dict):
        return None
    for key, value in values.items():
        if name == key:
            return (*keys, key), value
        if name.startswith(f"{key}.") and (found := _find(value, name[len(key) + 1 :], (*keys, key))):
            return found
    return None


def _list_names(value: Any, prefix: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, child in value.items():
            yield f"{prefix}{key}"
            yield from _list_names(child, f"{prefix}{key}.")


def _has(values: Any, keys: Keys) -> bool:
    for key in keys:
        if not isinstance(values, dict) or key not in values:
            return False
        values = values[key]
    return True


def render_yaml(policy: EffectivePolicy, value: Any, keys: Keys, *, with_origin: bool) -> str:
    """Return a value of the policy as YAML, which `parse_policy` reads back; origins are comments."""
    lines = list(_render(value, keys, len(keys)))
    if not with_origin:
        return "\n".join(text for text, _ in lines)
    width = max(len(text) for text, at in lines if at is not None)
    shown = []
    for text, at in lines:
        path, line = policy.find_origin(at) if at is not None else ("", 0)
        shown.append(f"{text:<{min(width, 60)}}  # {path}:{line}" if at is not None else text)
    return "\n".join(shown)


def _render(value: Any, keys: Keys, top: int) -> Iterator[tuple[str, Keys | None]]:
    """Yield lines, each with the keys of the value that starts on it."""
    margin = "  " * (len(keys) - top)
    if not isinstance(value, dict) or not value:
        yield _render_flow(value), keys
        return
    for key, child in value.items():
        name = f"{margin}{_render_scalar(key)}:"
        if isinstance(child, dict) and child:
            yield name, None
            yield from _render(child, (*keys, key), top)
            continue
        flow = _render_flow(child)
        if isinstance(child, list) and child and len(name) + len(flow) > _WIDTH:
            yield name, (*keys, key)
            yield from ((f"{margin}  - {_render_flow(item)}", None) for item in child)
        else:
            yield f"{name} {flow}", (*keys, key)


def _render_flow(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{_render_scalar(key)}: {_render_flow(child)}" for key, child in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(map(_render_flow, value))}]"
    return _render_scalar(value)


def _render_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return f'"{"".join(map(_escape, value))}"'


def _escape(char: str) -> str:
    if char in '"\\':
        return f"\\{char}"
    return char if char.isprintable() else f"\\U{ord(char):08x}"

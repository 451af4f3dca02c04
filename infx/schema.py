"""Check files against their JSON Schemas, and explain the errors in words.

jsonschema-rs only decides whether a file is valid. jsonschema, which is slower by orders of magnitude,
explains errors.
"""

from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from infx.errors import Problem, suggest
from infx.records import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError

    from infx.rules import Finding
    from infx.rules import Path as ValuePath
    from infx.yaml12 import Document


@functools.cache
def read_schema(name: str) -> dict[str, Any]:
    """Return the schema `infx/schemas/<name>.json` of the package."""
    text = Path(__file__).with_name("schemas").joinpath(f"{name}.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    return schema


def is_valid(name: str, value: object) -> bool:
    """Return whether the value fits a schema, or `<schema>#<definition>` for a part of a schema.

    JSON Schema accepts 8.0 as an integer; see `fits`.
    """
    return bool(_build_validator(name).is_valid(value))


@functools.cache
def _build_validator(name: str) -> Any:
    import jsonschema_rs  # 25 ms that most commands do not need

    file, _, part = name.partition("#")
    schema = read_schema(file)
    if part:
        schema = {"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]}
    return jsonschema_rs.validator_for(schema)


def fits(name: str, value: object, document: Document) -> bool:
    """Return whether a part of the document is certainly valid; 8.0 is not an integer here."""
    return is_valid(name, value) and (not document.has_whole_floats or is_valid(name, _nudge(value)))


def _nudge(value: Any) -> Any:
    """Return a copy in which 8.0 is replaced by the next smaller number, so that it does not pass as the integer 8.

    A number so large that the next smaller one is an integer too is replaced by None. If a valid value
    becomes invalid, such as 1.0 that must be at least 1, the slower `check_value` decides.
    """
    if isinstance(value, dict):
        return {key: _nudge(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_nudge(child) for child in value]
    if not isinstance(value, float) or not value.is_integer():
        return value
    below = math.nextafter(value, 0.5)
    return None if below.is_integer() else below


def check(name: str, document: Document) -> list[Problem]:
    """Return a problem with path and line for each way in which a document breaks the schema."""
    return check_value(name, document.value, document)


def check_value(
    name: str, value: object, document: Document, at: tuple[str | int, ...] = ()
) -> list[Problem]:
    """Check the part of a document at the path `at`; see `check`."""
    if fits(name, value, document):
        return []
    problems: dict[
        tuple[int | None, str], Problem
    ] = {}  # several keywords may give the same message for a value
    for error in _build_explainer(name).iter_errors(value):
        for leaf in _iterate_leaves(error):
            for problem in _explain(leaf, document, at):
                problems.setdefault((problem.line, problem.message), problem)
    if not problems and not is_valid(name, value):
        message = f"{dotted(at)}: does not fit the schema {name}."
        line = document.line(*at)
        return [Problem(rule="schema-value", message=message, path=document.path, line=line)]
    return list(problems.values())


@functools.cache
def _build_explainer(name: str) -> Any:
    """Return jsonschema's validator, changed to refuse 8.0 as an integer."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend

    def is_integer(_: object, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    types = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    return extend(Draft202012Validator, type_checker=types)(read_schema(name))  # type: ignore[no-untyped-call]


def _iterate_leaves(error: ValidationError) -> Iterator[ValidationError]:
    """Yield the innermost errors; of a failed oneOf or anyOf, only those of the nearest alternative."""
    if not error.context:
        yield error
        return
    from jsonschema.exceptions import relevance

    branches: dict[Any, list[ValidationError]] = {}
    for child in error.context:
        branches.setdefault(child.schema_path[0], []).append(child)
    nearest = min(
        branches.values(), key=lambda errors: (len(errors), min(relevance(child) for child in errors))
    )
    for child in nearest:
        yield from _iterate_leaves(child)


def _explain(error: ValidationError, document: Document, at: tuple[str | int, ...]) -> Iterator[Problem]:
    key: Any = error.instance
    is_of_key = "propertyNames" in list(error.absolute_schema_path)[-3:]
    path = (*at, *error.absolute_path, *([key] if is_of_key else []))
    name = dotted(path)
    faults = _find_key_faults(error, name)
    for rule, message, at_key, hint in [_explain_value(error, name)] if faults is None else faults:
        line = document.line(*path) if at_key is None else document.line(*path, at_key)
        yield Problem(rule=f"schema-{rule}", message=message, path=document.path, line=line, hint=hint)


_Fault = tuple[str, str, str | None, str | None]  # rule, message, the key on whose line it is, hint


def _find_key_faults(error: ValidationError, name: str) -> list[_Fault] | None:
    """Return the faults of a mapping's keys, or None if the error is about a value."""
    instance: Any = error.instance
    wanted: Any = error.validator_value
    schema: Any = error.schema
    match error.validator:
        case "additionalProperties" | "unevaluatedProperties":
            known = sorted(schema.get("properties", {}))
            listed = f" Known keys: {', '.join(known)}." if known else ""
            return [
                ("unknown-key", f"{name}: unknown key {_show(key)}.{listed}", key, suggest(key, known))
                for key in instance
                if key not in known and not _matches_pattern(key, schema)
            ]
        case "required":
            # jsonschema yields one error per missing key; its message starts with the key.
            return [
                ("missing-key", f"{name}: the key {_show(key)} is missing.", None, f"Add {key}.")
                for key in wanted
                if key not in instance and error.message.startswith(repr(key))
            ]
        case "dependentRequired":
            lacking = {
                key: [other for other in wanted.get(key, ()) if other not in instance] for key in instance
            }
            return [
                (
                    "dependent-key",
                    f"{name}: {key} is set without {' and '.join(others)}; expected both or neither.",
                    key,
                    None,
                )
                for key, others in lacking.items()
                if others and error.message.endswith(f"dependency of {key!r}")
            ]
    return None


def _explain_value(error: ValidationError, name: str) -> _Fault:
    instance: Any = error.instance
    wanted: Any = error.validator_value
    match error.validator:
        case "type":
            number = isinstance(instance, int | float) and not isinstance(instance, bool)
            hint = "Put it in quotes." if number and wanted == "string" else None
            return "type", f"{name}: found {_show(instance)}; expected {_describe_types(wanted)}.", None, hint
        case "enum" | "const":
            choices = wanted if error.validator == "enum" else [wanted]
            message = f"{name}: found {_show(instance)}; expected {_list_choices(choices)}."
            return "choice", message, None, suggest(str(instance), [str(choice) for choice in choices])
    return str(error.validator), f"{name}: {_describe_constraint(error)}.", None, None


def _describe_constraint(error: ValidationError) -> str:
    """Return the found and the expected value; the schema's `$comment` describes the expected value best."""
    expected = error.schema.get("$comment") if isinstance(error.schema, dict) else None
    limits = {
        "minimum": f"at least {error.validator_value}",
        "maximum": f"at most {error.validator_value}",
        "exclusiveMinimum": f"more than {error.validator_value}",
        "exclusiveMaximum": f"less than {error.validator_value}",
        "minItems": f"at least {_count_noun(error, 'item')}",
        "minLength": "text that is not empty"
        if error.validator_value == 1
        else f"at least {_count_noun(error, 'character')}",
        "minProperties": f"at least {_count_noun(error, 'key')}",
        "uniqueItems": "each item once",
    }
    wanted = expected or limits.get(str(error.validator))
    if wanted:
        return f"found {_show(error.instance)}; expected {wanted}"
    return error.message.rstrip(".")


def _count_noun(error: ValidationError, noun: str) -> str:
    """Return the number of a limit with its noun."""
    return f"{error.validator_value} {noun}{'s' * (error.validator_value != 1)}"


def dotted(path: tuple[str | int, ...]) -> str:
    """Return a path as messages show it: `m1.scenarios.fixed-seq-len[0]`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{_escape_key(step)}" for step in path)
    return text.lstrip(".") or "the file"


def _escape_key(key: str) -> str:
    """Return a key on one line and without control characters."""
    return key if key.isprintable() and key else json.dumps(key, ensure_ascii=not key.isprintable())


def _show(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def _describe_types(types: str | list[str]) -> str:
    names = {
        "string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false",
        "array": "a list", "object": "a mapping", "null": "nothing",
    }  # fmt: skip
    return " or ".join(names[name] for name in ([types] if isinstance(types, str) else types))


def _list_choices(choices: list[object]) -> str:
    words = [json.dumps(choice) if not isinstance(choice, str) else choice for choice in choices]
    return words[0] if len(words) == 1 else f"one of {', '.join(words)}"


def _matches_pattern(key: str, schema: Any) -> bool:
    return any(re.search(pattern, key) for pattern in schema.get("patternProperties", {}))


def state_problem(found: Finding[ValuePath], document: Document) -> Problem:
    """Turn a finding into a problem with the path and the line of its file."""
    sentence = replace(found, message=f"{dotted(found.at)}: {found.message}.")
    return sentence.as_problem(document.path, document.line(*found.at))

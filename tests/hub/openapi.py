"""Does an exchange follow GitHub's own description of its API? As much of OpenAPI 3.0 as that description uses."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs

# Any request may be answered with these, although the description names them for few.
COMMON = {"400", "401", "403", "404", "422", "429", "502"}
ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
REST_OF_PATH = {"path", "ref", "basehead", "branch"}


@dataclass(frozen=True)
class Operation:
    method: str
    template: str
    pattern: re.Pattern[str]
    description: Mapping[str, Any]


class Description:
    def __init__(self, path: Path) -> None:
        self.document: dict[str, Any] = json.loads(path.read_bytes())
        self.components = _convert(self.document["components"])
        self.operations = [
            Operation(method.upper(), template, _pattern(template), description)
            for template, methods in self.document["paths"].items()
            for method, description in methods.items()
        ]

    def find(self, method: str, path: str) -> Operation | None:
        """The most exact operation for a path: the one that spells most of it."""
        fits = [one for one in self.operations if one.method == method and one.pattern.fullmatch(path)]
        return max(fits, key=lambda one: len(re.sub(r"{\w+}", "", one.template)), default=None)

    def problems(
        self,
        operation: Operation,
        *,
        query: Mapping[str, str],
        body: Any,
        status: int,
        reply: Any,
    ) -> list[str]:
        found = [f"unknown query parameter {name}" for name in query.keys() - self._query_names(operation)]
        if (request := operation.description.get("requestBody")) is not None and status < 300:
            found += self._check(request["content"]["application/json"]["schema"], body, "request")
        answers = operation.description["responses"]
        if str(status) not in answers:
            if str(status) not in COMMON:
                found.append(f"status {status} is not documented")
            return found + self._check(ERROR, reply, "error")
        answer = self._resolve(answers[str(status)])
        content = answer.get("content", {}).get("application/json")
        if content is None:
            return found
        return found + self._check(content["schema"], reply, "reply")

    def _query_names(self, operation: Operation) -> set[str]:
        given = [self._resolve(one) for one in operation.description.get("parameters", ())]
        return {one["name"] for one in given if one["in"] == "query"}

    def _resolve(self, value: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in value:
            return value
        _, _, kind, name = value["$ref"].split("/")
        found: dict[str, Any] = self.document["components"][kind][name]
        return found

    def _check(self, schema: Any, value: Any, what: str) -> list[str]:
        validator = self._validator(json.dumps(schema))
        return [
            f"{what} at {'/'.join(map(str, error.instance_path))}: {error.message[:300]}"
            for error in validator.iter_errors(value)
        ]

    @functools.cache  # noqa: B019 - one description lives as long as the tests do
    def _validator(self, schema: str) -> jsonschema_rs.Draft202012Validator:
        whole = {**_convert(json.loads(schema)), "components": self.components}
        return jsonschema_rs.Draft202012Validator(whole, validate_formats=False)


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(
        re.sub(r"\{(\w+)\}", lambda match: ".+" if match[1] in REST_OF_PATH else "[^/]+", template)
    )


def _convert(value: Any) -> Any:
    """OpenAPI 3.0 to JSON Schema: what is `nullable` may be null as well."""
    if isinstance(value, list):
        return [_convert(item) for item in value]
    if not isinstance(value, dict):
        return value
    is_nullable = value.get("nullable") is True
    rest = {key: _convert(item) for key, item in value.items() if not (key == "nullable" and item is True)}
    if "enum" in rest and is_nullable and None not in rest["enum"]:
        rest["enum"] = [*rest["enum"], None]
    return {"anyOf": [rest, {"type": "null"}]} if is_nullable else rest

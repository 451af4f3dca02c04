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

from infx.hub import Hub

# Any request may be answered with these, although the description names them for few.
COMMON = {"400", "401", "403", "404", "422", "429", "502"}
ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
REST_OF_PATH = {"path", "ref", "basehead", "branch"}

# What the hub serves and the description lacks; `test_shapes.py` holds their shapes.
UNDESCRIBED = {
    "/repos/{owner}/{repo}/git/blobs/{sha}",
    "/_store/{artifact}",
    "/graphql",
}


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
        headers: Mapping[str, str] | None = None,
    ) -> list[str]:
        """headers: of the reply, if they are to be looked at."""
        found = self._check_query(operation, query)
        if status < 300:
            found += self.check_body(operation, body)
        answers = operation.description["responses"]
        if str(status) not in answers:
            if str(status) not in COMMON:
                found.append(f"status {status} is not documented")
            return found + self._check(ERROR, reply, "error")
        answer = self._resolve(answers[str(status)])
        if headers is not None:
            found += [
                f"no header {name}"
                for name in {"Location"} & answer.get("headers", {}).keys() - headers.keys()
            ]
        content = answer.get("content", {}).get("application/json")
        if content is None:
            return found if reply is None or status >= 400 else [*found, f"status {status} has no body"]
        return found + self._check(content["schema"], reply, "reply")

    def check_body(self, operation: Operation, body: Any) -> list[str]:
        """What is wrong with the body of a request; a field that is not described would be ignored."""
        request = operation.description.get("requestBody")
        if request is None or (body is None and not request.get("required")):
            return [] if body is None else ["request: a body is not described"]
        names = self.fields(operation)
        unknown = body.keys() - names if isinstance(body, dict) else set()
        found = [f"request: unknown field {name}" for name in unknown]
        return found + self._check(request["content"]["application/json"]["schema"], body, "request")

    def fields(self, operation: Operation) -> set[str]:
        """The names that the body of a request can have."""
        schema = operation.description["requestBody"]["content"]["application/json"]["schema"]
        kinds = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())]
        return {name for kind in kinds for name in kind.get("properties", {})}

    def _check_query(self, operation: Operation, query: Mapping[str, str]) -> list[str]:
        given = [self._resolve(one) for one in operation.description.get("parameters", ())]
        known = {one["name"]: one["schema"] for one in given if one["in"] == "query"}
        found = [f"unknown query parameter {name}" for name in query.keys() - known.keys()]
        for name in query.keys() & known.keys():
            is_number = known[name].get("type") == "integer" and query[name].isdecimal()
            found += self._check(known[name], int(query[name]) if is_number else query[name], f"query {name}")
        return found

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


# GitHub answers null for the repository of a fork that was deleted and for a body that is empty, whatever it describes.
_REALLY_NULL = re.compile(r"reply at (?:\d+/)?(?:head/repo|body): null is not of type")


def check_log(hub: Hub, description: Description) -> set[str]:
    """Check every exchange of the hub's log that no fault has touched; returns the operations that were met."""
    met, problems = set(), []
    for exchange in hub.log:
        if exchange.fault is not None or exchange.status is None:
            continue
        operation = description.find(exchange.method, exchange.path)
        if operation is None or exchange.template in UNDESCRIBED:
            assert exchange.template is None or exchange.template in UNDESCRIBED, exchange.template
            continue
        met.add(f"{operation.method} {operation.template}")
        found = description.problems(
            operation,
            query=exchange.query,
            body=exchange.body,
            status=exchange.status,
            reply=exchange.reply,
            headers=exchange.reply_headers,
        )
        problems += [
            f"{exchange.method} {exchange.path}: {problem}"
            for problem in found
            if not _REALLY_NULL.match(problem)
        ]
    assert problems == [], "\n".join(problems)
    return met


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

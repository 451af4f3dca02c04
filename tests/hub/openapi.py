"""Check exchanges against GitHub's description of its API, with the part of OpenAPI 3.0 that it uses."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import jsonschema_rs

from infx.hub import Hub

# Any request may have an answer with these statuses, although the description names them for few requests.
COMMON = {"400", "401", "403", "404", "422", "429", "502"}
ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}
REST_OF_PATH = {"path", "ref", "basehead", "branch"}

# Routes of the hub that the description lacks; `test_shapes.py` has their shapes.
UNDESCRIBED = {
    "/repos/{owner}/{repo}/git/blobs/{sha}",
    "/_store/{artifact}",
    "/apps/{slug}",
    "/graphql",
    "/orgs/{org}/installations",
    "/repos/{owner}/{repo}/actions/permissions/access",
    "/repos/{owner}/{repo}/actions/permissions/fork-pr-contributor-approval",
    "/repos/{owner}/{repo}/actions/permissions/fork-pr-workflows-private-repos",
    "/repos/{owner}/{repo}/actions/permissions/selected-actions",
    "/repos/{owner}/{repo}/environments/{environment}/secrets",
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
        """Return the operation for a path whose template has the fewest variable parts."""
        matching = [
            operation
            for operation in self.operations
            if operation.method == method and operation.pattern.fullmatch(path)
        ]
        return max(
            matching, key=lambda operation: len(re.sub(r"{\w+}", "", operation.template)), default=None
        )

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
        """Return how an exchange differs from the description. headers: of the reply, if they are checked."""
        problems = self._check_query(operation, query)
        if status < 300:
            problems += self.check_body(operation, body)
        answers = operation.description["responses"]
        if str(status) not in answers:
            if str(status) not in COMMON:
                problems.append(f"status {status} is not documented")
            return problems + self._check(ERROR, reply, "error")
        answer = self._resolve(answers[str(status)])
        if headers is not None:
            problems += [
                f"no header {name}"
                for name in {"Location"} & answer.get("headers", {}).keys() - headers.keys()
            ]
        content = answer.get("content", {}).get("application/json")
        if content is None:
            return problems if reply is None or status >= 400 else [*problems, f"status {status} has no body"]
        return problems + self._check(content["schema"], reply, "reply")

    def check_body(self, operation: Operation, body: Any) -> list[str]:
        """Return the problems of a request's body, also unknown fields, which GitHub ignores."""
        request = operation.description.get("requestBody")
        if request is None or (body is None and not request.get("required")):
            return [] if body is None else ["request: a body is not described"]
        names = self.fields(operation)
        unknown = body.keys() - names if isinstance(body, dict) else set()
        problems = [f"request: unknown field {name}" for name in unknown]
        return problems + self._check(request["content"]["application/json"]["schema"], body, "request")

    def fields(self, operation: Operation) -> set[str]:
        """Return the names of the fields that a request's body may have."""
        schema = operation.description["requestBody"]["content"]["application/json"]["schema"]
        kinds = [schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())]
        return {name for kind in kinds for name in kind.get("properties", {})}

    def _check_query(self, operation: Operation, query: Mapping[str, str]) -> list[str]:
        parameters = [self._resolve(parameter) for parameter in operation.description.get("parameters", ())]
        known = {
            parameter["name"]: parameter["schema"] for parameter in parameters if parameter["in"] == "query"
        }
        problems = [f"unknown query parameter {name}" for name in query.keys() - known.keys()]
        for name in query.keys() & known.keys():
            kind, value = known[name].get("type"), cast("str | int | bool", query[name])
            if kind == "integer" and query[name].isdecimal():
                value = int(query[name])
            elif kind == "boolean" and query[name] in {"true", "false"}:
                value = query[name] == "true"
            problems += self._check(known[name], value, f"query {name}")
        return problems

    def _resolve(self, value: dict[str, Any]) -> dict[str, Any]:
        if "$ref" not in value:
            return value
        _, _, kind, name = value["$ref"].split("/")
        component: dict[str, Any] = self.document["components"][kind][name]
        return component

    def _check(self, schema: Any, value: Any, what: str) -> list[str]:
        validator = self._validator(json.dumps(schema))
        return [
            f"{what} at {'/'.join(map(str, error.instance_path))}: {error.message[:300]}"
            for error in validator.iter_errors(value)
        ]

    @functools.cache  # noqa: B019 - the one description lives as long as the tests
    def _validator(self, schema: str) -> jsonschema_rs.Draft202012Validator:
        whole = {**_convert(json.loads(schema)), "components": self.components}
        return jsonschema_rs.Draft202012Validator(whole, validate_formats=False)


# GitHub answers null for the repository of a deleted fork and for an empty body, against its description.
_REALLY_NULL = re.compile(r"reply at (?:\d+/)?(?:head/repo|body): null is not of type")


def check_log(hub: Hub, description: Description) -> set[str]:
    """Check every exchange in the hub's log that no fault has hit; return the operations that were used."""
    used, problems = set(), []
    for exchange in hub.log:
        if exchange.fault is not None or exchange.status is None:
            continue
        operation = description.find(exchange.method, exchange.path)
        if operation is None or exchange.template in UNDESCRIBED:
            assert exchange.template is None or exchange.template in UNDESCRIBED, exchange.template
            continue
        used.add(f"{operation.method} {operation.template}")
        differences = description.problems(
            operation,
            query=exchange.query,
            body=exchange.body,
            status=exchange.status,
            reply=exchange.reply,
            headers=exchange.reply_headers,
        )
        problems += [
            f"{exchange.method} {exchange.path}: {problem}"
            for problem in differences
            if not _REALLY_NULL.match(problem)
        ]
    assert problems == [], "\n".join(problems)
    return used


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(
        re.sub(r"\{(\w+)\}", lambda match: ".+" if match[1] in REST_OF_PATH else "[^/]+", template)
    )


def _convert(value: Any) -> Any:
    """Convert OpenAPI 3.0 to JSON Schema, which has no `nullable`."""
    if isinstance(value, list):
        return [_convert(item) for item in value]
    if not isinstance(value, dict):
        return value
    is_nullable = value.get("nullable") is True
    schema = {key: _convert(item) for key, item in value.items() if not (key == "nullable" and item is True)}
    if "enum" in schema and is_nullable and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    return {"anyOf": [schema, {"type": "null"}]} if is_nullable else schema

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from infx import schema, yaml12
from infx.errors import Problem


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """Provide a schema named `made-up` with every keyword that infx's schemas use."""
    text: dict[str, Any] = {"type": "string", "minLength": 1}
    made: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            "name": text,
            "count": {"type": "integer", "minimum": 1, "maximum": 9},
            "share": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
            "flag": {"type": "boolean"},
            "kind": {"enum": ["single", "multi"]},
            "version": {"const": 1},
            "tags": {"type": "array", "minItems": 1, "uniqueItems": True, "items": text},
            "word": {"type": "string", "pattern": "^[a-z]+$", "$comment": "a word of letters"},
            "either": {
                "oneOf": [
                    {"type": "object", "required": ["a", "b"], "properties": {"a": text, "b": text}},
                    {
                        "type": "object",
                        "required": ["c"],
                        "properties": {"c": text},
                        "additionalProperties": False,
                    },
                ]
            },
            "pair": {"type": "object", "dependentRequired": {"from": ["to"], "to": ["from"]}},
            "env": {"type": "object", "additionalProperties": False, "patternProperties": {"^[A-Z]+$": text}},
            "some": {"type": "object", "minProperties": 1},
            "note": {"type": ["string", "null"]},
            "why": {"type": "string", "minLength": 20},
            "two": {"type": "array", "minItems": 2},
        },
    }

    def read(name: str) -> dict[str, Any]:
        return made

    caches = (schema._build_validator, schema._build_explainer)
    monkeypatch.setattr(schema, "read_schema", read)
    for cache in caches:
        cache.cache_clear()
    yield made
    for cache in caches:
        cache.cache_clear()


def check(text: str) -> list[Problem]:
    return schema.check("made-up", yaml12.load(text.encode(), "f.yaml"))


# (text after `name: x` on line 1, rule, line, message, hint)
WRONG = [
    ("count: nine", "schema-type", 2, 'count: found "nine"; expected a whole number.', None),
    ("count: 8.0", "schema-type", 2, "count: found 8.0; expected a whole number.", None),
    ("count: true", "schema-type", 2, "count: found true; expected a whole number.", None),
    ("count: 0", "schema-minimum", 2, "count: found 0; expected at least 1.", None),
    ("count: 10", "schema-maximum", 2, "count: found 10; expected at most 9.", None),
    ("share: 0", "schema-exclusiveMinimum", 2, "share: found 0; expected more than 0.", None),
    ("share: 1.0", "schema-exclusiveMaximum", 2, "share: found 1.0; expected less than 1.", None),
    ("flag: yes", "schema-type", 2, 'flag: found "yes"; expected true or false.', None),
    ("kind: singel", "schema-choice", 2, 'kind: found "singel"; expected one of single, multi.', "Did you mean single?"),
    ("version: 2", "schema-choice", 2, "version: found 2; expected 1.", None),
    ("tags:\n  []", "schema-minItems", 2, "tags: found []; expected at least 1 item.", None),
    ("tags: [a, a]", "schema-uniqueItems", 2, 'tags: found ["a", "a"]; expected each item once.', None),
    ("tags:\n  - a\n  - 7", "schema-type", 4, "tags[1]: found 7; expected text.", "Put it in quotes."),
    ("tags:\n  - a\n  - ''", "schema-minLength", 4, 'tags[1]: found ""; expected text that is not empty.', None),
    ("why: because", "schema-minLength", 2, 'why: found "because"; expected at least 20 characters.', None),
    ("two: [1]", "schema-minItems", 2, "two: found [1]; expected at least 2 items.", None),
    ("word: X1", "schema-pattern", 2, 'word: found "X1"; expected a word of letters.', None),
    ("note: 3", "schema-type", 2, "note: found 3; expected text or nothing.", None),
    ("some: {}", "schema-minProperties", 2, "some: found {}; expected at least 1 key.", None),
    ("cuont: 1", "schema-unknown-key", 2,
     "the file: unknown key \"cuont\". Known keys: count, either, env, flag, kind, name, note, pair, share, some, tags, "
     "two, version, why, word.", "Did you mean count?"),
    ("env:\n  OK: x\n  bad: x", "schema-unknown-key", 4, "env: unknown key \"bad\".", None),
    ("pair:\n  from: 1", "schema-dependent-key", 3, "pair: from is set without to; expected both or neither.", None),
    ("either:\n  a: x", "schema-missing-key", 2, "either: the key \"b\" is missing.", "Add b."),
    ("either:\n  c: ''", "schema-minLength", 3, 'either.c: found ""; expected text that is not empty.', None),
]  # fmt: skip


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(("text", "rule", "line", "message", "hint"), WRONG)
def test_a_problem_has_the_line_the_fault_and_the_expected_value(
    text: str, rule: str, line: int, message: str, hint: str | None
) -> None:
    assert check(f"name: x\n{text}\n") == [
        Problem(rule=rule, message=message, path="f.yaml", line=line, hint=hint)
    ]


@pytest.mark.usefixtures("made_up")
def test_all_problems_are_reported_at_once() -> None:
    problems = check("count: 0\nkind: x\nenv:\n  b: 1\n")
    assert [(p.rule, p.line) for p in problems] == [
        ("schema-missing-key", 1),
        ("schema-minimum", 1),
        ("schema-choice", 2),
        ("schema-unknown-key", 4),
    ]


@pytest.mark.usefixtures("made_up")
def test_problems_of_a_part_have_the_path_in_the_document() -> None:
    document = yaml12.load(b"- name: x\n- name: x\n  count: 0\n", "f.yaml")
    (problem,) = schema.check_value("made-up", document.value[1], document, (1,))
    assert (problem.line, problem.message) == (3, "[1].count: found 0; expected at least 1.")


@pytest.mark.usefixtures("made_up")
def test_long_values_are_shortened() -> None:
    (problem,) = check(f"name: x\nkind: {'long' * 40}\n")
    assert len(problem.message) < 120
    assert "..." in problem.message


def test_a_value_that_only_one_validator_refuses_is_refused(
    made_up: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jsonschema.Draft202012Validator, "iter_errors", lambda *_: iter(()))
    schema._build_explainer.cache_clear()
    monkeypatch.setattr(schema, "_build_explainer", lambda name: jsonschema.Draft202012Validator(made_up))
    assert [p.message for p in check("name: 1\n")] == ["the file: does not fit the schema made-up."]


@pytest.mark.usefixtures("made_up")
def test_a_pattern_that_only_python_matches_is_refused() -> None:
    """In Python, `$` also matches before a last line feed; in the fast validator it does not."""
    (problem,) = check('name: x\nword: "abc\\n"\n')
    assert (problem.rule, problem.message) == ("schema-value", "the file: does not fit the schema made-up.")


def test_is_valid_reads_a_definition() -> None:
    assert schema.is_valid("policy#repository", "acme/bench")
    assert not schema.is_valid("policy#repository", "acme")


@pytest.mark.parametrize(
    ("path", "text"), [((), "the file"), (("a", "b", 0, "c"), "a.b[0].c"), ((1,), "[1]"), ((1, "a"), "[1].a")]
)
def test_a_path_is_shown_with_dots_and_indices(path: tuple[str | int, ...], text: str) -> None:
    assert schema.dotted(path) == text

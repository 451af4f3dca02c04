"""Parsing policies, and the packaged default."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from infx import schema, yaml12
from infx.errors import Problem, ProblemsError
from infx.policy.changelog import ChangelogPolicy
from infx.policy.load import default_part, default_policy, parse_part, parse_policy
from infx.policy.model import Drafts, Effect, ModifierLabel, OnMerge, Policy, PrimaryLabel, SweepScope

DEFAULT = Path(schema.__file__).parent / "policy" / "default.yaml"


def parse(text: str) -> Policy:
    return parse_policy(text.encode(), "policy.yaml")


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(ProblemsError) as caught:
        parse(text)
    return caught.value.problems


def test_the_default_names_no_repository_and_fits_its_own_schema() -> None:
    policy = default_policy()
    assert policy.repository is None
    assert policy.former_names == ()
    assert "acme" not in DEFAULT.read_text()
    assert schema.check("policy", yaml12.load_mapping(DEFAULT.read_bytes(), "default.yaml")) == []


def test_the_default_defines_the_labels() -> None:
    """The five primary labels of the existing system. The greeting recommends exactly one of them."""
    labels = default_policy().labels
    assert dict(labels.primary) == {
        "full-sweep-fail-fast": PrimaryLabel(
            scope=SweepScope.FULL, canary=True, fail_fast=True, recommended=True
        ),
        "full-sweep-enabled": PrimaryLabel(scope=SweepScope.FULL, canary=True, fail_fast=False),
        "full-sweep-fail-fast-no-canary": PrimaryLabel(scope=SweepScope.FULL, canary=False, fail_fast=True),
        "non-canary-full-sweep-enabled": PrimaryLabel(scope=SweepScope.FULL, canary=False, fail_fast=False),
        "sweep-enabled": PrimaryLabel(scope=SweepScope.TRIMMED, canary=False, fail_fast=False),
    }
    assert dict(labels.modifiers) == {
        "all-evals": ModifierLabel(effect=Effect.ALL_EVALS, reusable=True),
        "evals-only": ModifierLabel(effect=Effect.EVALS_ONLY, reusable=False),
        "agentx-fast": ModifierLabel(effect=Effect.FAST, reusable=False),
    }
    assert labels.control == (
        "skip_queue", "ci-patchwork", "engine-patch", "ci-patchwork-waived", "ci-checklist-complete",
    )  # fmt: skip


def test_the_default_stays_within_githubs_limits() -> None:
    limits = default_policy().limits
    assert (limits.matrix_rows, limits.environment_bytes, limits.comment_characters) == (256, 131_071, 65_536)
    assert limits.status_characters == 140
    assert limits.output_characters <= 524_288  # 1 MiB of UTF-16
    assert limits.api_requests < 1_000  # an hour's budget of a workflow token
    assert limits.queue_hours == 24


def test_an_empty_policy_is_the_default() -> None:
    assert parse("{}") == default_policy()


def test_a_policy_replaces_only_what_it_names() -> None:
    policy = parse(
        "repository: acme/bench\n"
        "former-names: [acme/old]\n"
        "master-configs: [a.yaml]\n"
        "drafts: ignore\n"
        "on-merge: nothing\n"
        "limits: {matrix-rows: 10}\n"
        "pr-link: {placeholders: [XXX, TODO]}\n"
    )
    default = default_policy()
    assert policy == dataclasses.replace(
        default,
        repository="acme/bench",
        former_names=("acme/old",),
        master_configs=("a.yaml",),
        drafts=Drafts.IGNORE,
        on_merge=OnMerge.NOTHING,
        limits=dataclasses.replace(default.limits, matrix_rows=10),
        pr_link=dataclasses.replace(default.pr_link, placeholders=("XXX", "TODO")),
    )


def test_labels_are_replaced_as_a_whole() -> None:
    """A default label among the repository's own labels would start sweeps that no one asked for."""
    policy = parse("labels: {primary: {go: {scope: full, canary: false, fail-fast: true}}, modifiers: {}}\n")
    assert list(policy.labels.primary) == ["go"]
    assert dict(policy.labels.modifiers) == {}
    assert policy.labels.control == ()


WRONG = [
    ("repositry: acme/bench\n", "schema-unknown-key", 1, "Did you mean repository?"),
    ("base-branch: main\nrepository: acme\n", "schema-pattern", 2, None),
    ("repository: acme/bench/x\n", "schema-pattern", 1, None),
    ("repository: -acme/bench\n", "schema-pattern", 1, None),
    ("repository: ''\n", "schema-pattern", 1, None),
    ("former-names: [acme/a, acme/a]\n", "schema-uniqueItems", 1, None),
    ("base-branch: ''\n", "schema-minLength", 1, None),
    ("master-configs: []\n", "schema-minItems", 1, None),
    ("master-configs:\n  - a.yaml\n  - /etc/passwd\n", "schema-pattern", 3, None),
    ("runners: ../runners.yaml\n", "schema-pattern", 1, None),
    ("identities: github-actions[bot]\n", "schema-type", 1, None),
    ("labels:\n  control: [a]\n", "schema-missing-key", 1, "Add primary."),
    ("labels:\n  primary: {}\n", "schema-minProperties", 2, None),
    ("labels:\n  primary:\n    go: {scope: ful, canary: true, fail-fast: true}\n", "schema-choice", 3,
     "Did you mean full?"),
    ("labels:\n  primary:\n    go: {scope: full, canary: yes, fail-fast: true}\n", "schema-type", 3, None),
    ("labels:\n  primary:\n    go: {scope: full, canary: true}\n", "schema-missing-key", 3, "Add fail-fast."),
    ("pr-link: {placeholders: []}\n", "schema-minItems", 1, None),
    ("pr-link: {placeholders: ['77']}\n", "schema-pattern", 1, None),
    ("drafts: maybe\n", "schema-choice", 1, None),
    ("on-merge: reuse or sweep\n", "schema-choice", 1, "Did you mean reuse-or-sweep?"),
    ("limits:\n  matrix-rows: 257\n", "schema-maximum", 2, None),
    ("limits:\n  matrix-rows: 0\n", "schema-minimum", 2, None),
    ("limits:\n  matrix-rows: 8.0\n", "schema-type", 2, None),
    ("- a\n", "yaml-root", 1, None),
    ("drafts: allow\ndrafts: ignore\n", "yaml-duplicate-key", 2, "Keep one of them."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "rule", "line", "hint"), WRONG)
def test_a_wrong_policy_is_refused_with_its_line(text: str, rule: str, line: int, hint: str | None) -> None:
    (problem,) = problems_of(text)
    assert (problem.rule, problem.line, problem.hint, problem.path) == (rule, line, hint, "policy.yaml")


def test_all_problems_are_reported_at_once() -> None:
    assert [p.line for p in problems_of("repository: x\ndrafts: y\nlimits:\n  matrix-rows: 0\n")] == [1, 2, 4]


LABEL = "{scope: full, canary: true, fail-fast: true}"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (f"labels:\n  primary:\n    go: {LABEL}\n    Go: {LABEL}\n", 4, "The label 'Go' is listed under primary and under primary."),
        (f"labels:\n  primary: {{go: {LABEL}}}\n  modifiers:\n    go: {{effect: fast, reusable: true}}\n", 4,
         "The label 'go' is listed under primary and under modifiers."),
        (f"labels:\n  primary: {{go: {LABEL}}}\n  control:\n    - stop\n    - GO\n", 5,
         "The label 'GO' is listed under primary and under control."),
    ],
)  # fmt: skip
def test_a_label_has_one_meaning(text: str, line: int, message: str) -> None:
    (problem,) = problems_of(text)
    assert (problem.rule, problem.line, problem.message) == ("policy-label", line, message)
    assert problem.hint == "Keep one; GitHub ignores upper and lower case in labels."


def test_a_policy_cannot_be_changed() -> None:
    policy = default_policy()
    with pytest.raises(dataclasses.FrozenInstanceError):
        policy.repository = "acme/bench"  # type: ignore[misc]
    with pytest.raises(TypeError):
        policy.labels.primary["x"] = policy.labels.primary["sweep-enabled"]  # type: ignore[index]


@dataclasses.dataclass(frozen=True)
class Section:
    """A mapping of the file."""

    path: str
    cls: Any
    schema: Mapping[str, Any]  # the part of the schema for this mapping
    merged: bool  # whether the default fills gaps

    @property
    def keys(self) -> dict[str, dataclasses.Field[Any]]:
        return {field.name.replace("_", "-"): field for field in dataclasses.fields(self.cls)}


def sections(
    found: Mapping[str, Any], cls: Any = Policy, path: str = "", merged: bool = True
) -> Iterator[Section]:
    """Yield every mapping of the policy that has a dataclass, with the schema for it."""

    def resolve(node: Mapping[str, Any]) -> Mapping[str, Any]:
        return found["$defs"][node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else node

    node = found if cls is Policy else resolve(found["at"])
    yield Section(path, cls, node, merged)
    for name, hint in typing.get_type_hints(cls).items():
        key = name.replace("_", "-")
        child = resolve(node["properties"].get(key, {}))
        below = {**found, "at": child}
        arguments = [a for a in typing.get_args(hint) if a is not type(None)]
        if dataclasses.is_dataclass(hint):
            yield from sections(below, hint, f"{path}{key}.", merged and key != "labels")
        elif typing.get_origin(hint) is Mapping and dataclasses.is_dataclass(arguments[1]):
            # The keys are chosen by the repository, or a closed set of names whose values have the same shape.
            closed = child.get("properties", {})
            value = next(iter(closed.values()), child["additionalProperties"])
            yield from sections({**found, "at": value}, arguments[1], f"{path}{key}.*.", bool(closed))
        elif typing.get_origin(hint) is tuple and dataclasses.is_dataclass(arguments[0]):
            yield from sections({**found, "at": child["items"]}, arguments[0], f"{path}{key}[].", False)


SECTIONS = list(sections(schema.read_schema("policy")))


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.path or "policy")
def test_schema_and_model_know_the_same_keys(section: Section) -> None:
    """A key only in the schema would be accepted and ignored; a key only in the model could never be set."""
    assert set(section.schema["properties"]) == set(section.keys)
    assert section.schema["additionalProperties"] is False


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.path or "policy")
def test_an_optional_key_of_the_schema_has_a_default(section: Section) -> None:
    """If the packaged default does not fill the gap, the schema must require each field without a default."""
    if section.merged:
        assert section.schema.get("required", []) == []
        return
    missing, factory = dataclasses.MISSING, dataclasses.MISSING
    needed = {key for key, f in section.keys.items() if f.default is missing and f.default_factory is factory}
    assert needed <= set(section.schema["required"])


def test_every_value_of_the_default_reaches_the_model() -> None:
    """Fields are read by name, so a field that file and model spell differently would be lost silently."""

    def plain(value: Any) -> Any:
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return {
                f.name.replace("_", "-"): plain(getattr(value, f.name)) for f in dataclasses.fields(value)
            }
        if isinstance(value, Mapping):
            return {key: plain(child) for key, child in value.items()}
        return [plain(child) for child in value] if isinstance(value, tuple) else value

    def lost(file: Any, model: Any, path: str) -> Iterator[str]:
        if isinstance(file, dict):
            for key, value in file.items():
                yield from lost(value, model.get(key), f"{path}.{key}")
        elif file != model:
            yield path

    values = yaml12.load_mapping(DEFAULT.read_bytes(), "default.yaml").value
    assert list(lost(values, plain(default_policy()), "")) == []


def test_a_part_has_the_values_of_the_whole_policy() -> None:
    """All commands must read the same policy, so the fields of a part have the same names and types."""
    text = b"repository: acme/bench\nformer-names: [old/bench]\npr-link: {placeholders: [TBD]}\n"
    for whole, part in (
        (default_policy(), default_part(ChangelogPolicy)),
        (parse_policy(text, "p"), parse_part(text, "p", ChangelogPolicy)),
    ):
        for field in dataclasses.fields(ChangelogPolicy):
            assert getattr(part, field.name) == getattr(whole, field.name)


def test_a_part_of_a_wrong_policy_is_refused() -> None:
    with pytest.raises(ProblemsError, match='unknown key "pr-links"'):
        parse_part(b"pr-links: {}\n", "policy.yaml", ChangelogPolicy)

"""The effective policy: shown values are read back equal, and each value has the line that sets it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infx import yaml12
from infx.errors import ProblemsError, UnknownNamesError
from infx.policy.load import default_policy, load_default, parse_policy
from infx.policy.show import EffectivePolicy, default_effective, find_part, parse_effective, render_yaml

OWN = """\
repository: acme/bench
sweep:
  row-minutes: 30
labels:
  primary:
    go: {scope: full, canary: true, fail-fast: false}
signoff:
  checks: {chat: "off"}
results:
  model-aliases: {"a: #b": [x, "1e3", "yes", "\\u202E"]}
"""
# A profile must be complete; JSON is YAML, too.
OWN += f"evals: {{mine: {json.dumps(load_default('x').value['evals']['default'])}}}\n"

DEFAULT = default_effective()

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.dictionaries(
    texts,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
        max_leaves=12,
    ),
    max_size=4,
)


def show(policy: EffectivePolicy, *, with_origin: bool) -> bytes:
    return render_yaml(policy, policy.values, (), with_origin=with_origin).encode()


@pytest.mark.parametrize("with_origin", [False, True])
def test_the_shown_policy_is_a_policy_file_with_the_same_effect(with_origin: bool) -> None:
    own = parse_policy(OWN.encode(), "own.yaml")
    assert parse_policy(show(parse_effective(OWN.encode(), "own.yaml"), with_origin=with_origin), "x") == own
    assert parse_policy(show(default_effective(), with_origin=with_origin), "x") == default_policy()


@given(values)
@settings(max_examples=50)
def test_properties_any_value_is_read_back_as_it_was(value: dict[str, object]) -> None:
    text = render_yaml(DEFAULT, value, (), with_origin=False)
    assert yaml12.load(text.encode(), "shown").value == value


def test_each_value_has_the_line_that_sets_it() -> None:
    """Maps are merged, so a section has values of both files; `labels` is replaced as a whole."""
    policy = parse_effective(OWN.encode(), "abc123:configs/policy.yaml")
    found = {value.keys: (value.path, value.line) for value in policy.find_values(policy.values, ())}
    assert found["sweep", "row-minutes"] == ("abc123:configs/policy.yaml", 3)
    assert found["labels", "primary", "go", "canary"] == ("abc123:configs/policy.yaml", 6)
    assert found["signoff", "checks", "chat"] == ("abc123:configs/policy.yaml", 8)
    lines = load_default("x")
    job = lines.line("sweep", "job")
    assert found["sweep", "job"] == ("infx/policy/default.yaml", job)
    assert ("labels", "control") not in found
    assert found["evals", "default", "emit-task"][0] == "infx/policy/default.yaml"
    assert found["evals", "mine", "emit-task"] == ("abc123:configs/policy.yaml", 11)


def test_a_dotted_name_finds_a_part_also_if_a_key_has_a_dot() -> None:
    values = {"labels": {"v1.2": {"scope": "full"}, "v1": {"scope": "trimmed"}}, "sweep": {"job": "x"}}
    assert find_part(values, "labels.v1.2.scope") == (("labels", "v1.2", "scope"), "full")
    assert find_part(values, "labels.v1") == (("labels", "v1"), {"scope": "trimmed"})
    assert find_part(values, "sweep") == (("sweep",), {"job": "x"})


@pytest.mark.parametrize("name", ["sweep.jbo", "swep.job", "sweep.job.x", ""])
def test_an_unknown_name_is_refused_with_the_nearest(name: str) -> None:
    with pytest.raises(UnknownNamesError) as caught:
        find_part({"sweep": {"job": "x"}}, name)
    assert caught.value.exit_code == 2
    assert ("Did you mean sweep.job" in str(caught.value)) is (name != "")


def test_a_file_with_problems_is_not_shown() -> None:
    with pytest.raises(ProblemsError, match="row-minutes"):
        parse_effective(b"sweep: {row-minutes: soon}\n", "own.yaml")

"""The example of each table in docs/tables.md fits the schema of this table."""

from __future__ import annotations

import re

import pytest

from infx import schema, yaml12
from infx.matrix.acceptance import parse_curve
from infx.policy.load import default_policy
from infx.rowfile.thresholds import MIN_SCORE
from infx.signoff.checks.accuracy import parse_thresholds
from infx.signoff.checks.deprecation import parse_models
from tests.conftest import ROOT

PAGE = (ROOT / "docs/tables.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"(?ms)^```yaml (\S+)\n(.*?)^```$", PAGE))


def test_every_file_that_may_be_missing_has_an_example() -> None:
    policy = default_policy()
    for path in (policy.models, policy.eval_thresholds, policy.golden_al, policy.priorities):
        name = path.rpartition("/")[2]
        assert re.search(rf"(?m)^## {re.escape(name)}/?: ", PAGE)
        assert name.removesuffix(".yaml") in EXAMPLES


@pytest.mark.parametrize("kind", EXAMPLES)
def test_examples_fit_their_schemas(kind: str) -> None:
    document = yaml12.load_mapping(EXAMPLES[kind].encode(), "example", text_keys=kind == "golden-al")
    assert schema.check(kind, document) == []


def test_examples_are_read_by_their_checks() -> None:
    assert parse_models(EXAMPLES["models"], "x").models["m0"].deprecated is not None
    bars = parse_thresholds(EXAMPLES["eval-thresholds"], "x")
    assert (bars.find_bar("m1", "gsm8k"), bars.find_bar("m2", "gsm8k"), bars.find_bar("m2", "x")) == (
        0.94,
        0.9,
        MIN_SCORE,
    )
    assert str(MIN_SCORE) in PAGE
    assert len(parse_curve(EXAMPLES["golden-al"], "x")) == 6

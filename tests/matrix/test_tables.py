"""Valid and invalid tables: the whole message, path and line of each problem."""

from __future__ import annotations

import pytest

from infx.matrix.tables import check_models, check_priorities, check_thresholds, parse_golden_lengths
from tests.matrix.samples import change

MODELS = """\
scenarios:
  agentic-coding: {title: AgentX}
  8k1k: {}
  1k1k: {deprecated: 2026-07-17}
models:
  m1:
    title: Model One
    precisions: [fp8]
    scenarios: {8k1k: {}, 1k1k: {deprecated: 2026-07-17}}
  m2: {title: Model Two, deprecated: 2026-10-01, scenarios: {8k1k: {}}}
"""

THRESHOLDS = """\
default: {gsm8k: 0.90, mmlu: 0.0}
models:
  m1: {gsm8k: 0.94}
"""

LENGTHS = """\
acme/m1:
  thinking_on: {1: 1.79, 3: 2.49}
  thinking_off: {3: 1.0}
"""

PRIORITIES = """\
version: 1
base-score: 1.0
adjustments:
  event: {push: 2.0}
  model-prefix: {m1: 0.5}
labels:
  skip-queue: {name: skip_queue}
  checklist-complete: {names: [ci-checklist-complete], adjustment: 0.25}
  patchwork: {names: [ci-patchwork], score: 0.0, waived-by: [ci-patchwork-waived]}
"""

LABELS = ["skip_queue", "ci-checklist-complete", "ci-patchwork", "ci-patchwork-waived"]


def test_valid_files_have_no_problems() -> None:
    assert not check_models(MODELS.encode(), "m.yaml")
    assert not check_thresholds(THRESHOLDS.encode(), "t.yaml")
    assert not parse_golden_lengths(LENGTHS.encode(), "g.yaml")[1]
    assert not check_priorities(PRIORITIES.encode(), "p.yaml", LABELS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            change(MODELS, "  8k1k: {}\n", "  8k1k: {deprecated: 2026-02-30}\n"),
            ["m.yaml:3: scenarios.8k1k.deprecated: 2026-02-30 is not a valid date."],
            id="a day that does not exist",
        ),
        pytest.param(
            change(MODELS, "8k1k: {}, 1k1k", "8k1k: {}, 1k8k"),
            ['m.yaml:9: models.m1.scenarios.1k8k: "1k8k" is not among the scenarios. Did you mean 1k1k?'],
            id="an unknown scenario",
        ),
        pytest.param(
            change(MODELS, "deprecated: 2026-10-01", "deprecated: soon"),
            ['m.yaml:10: models.m2.deprecated: found "soon"; expected a date such as 2026-07-17.'],
            id="no date",
        ),
        pytest.param(
            change(MODELS, "    title: Model One\n", ""),
            ['m.yaml:6: models.m1: the key "title" is missing. Add title.'],
            id="no title",
        ),
        pytest.param(
            change(MODELS, "precisions: [fp8]", "precisions: fp8"),
            ['m.yaml:8: models.m1.precisions: found "fp8"; expected a list.'],
            id="precision no list",
        ),
    ],
)
def test_wrong_models(text: str, expected: list[str]) -> None:
    assert [str(problem) for problem in check_models(text.encode(), "m.yaml")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            change(THRESHOLDS, "gsm8k: 0.94", "gsm8k: 94"),
            ["t.yaml:3: models.m1.gsm8k: found 94; expected a score from 0 to 1."],
            id="a percentage",
        ),
        pytest.param(
            change(THRESHOLDS, "gsm8k: 0.94", 'gsm8k: "0.94"'),
            ['t.yaml:3: models.m1.gsm8k: found "0.94"; expected a number.'],
            id="text",
        ),
        pytest.param(
            change(THRESHOLDS, "default: {gsm8k: 0.90, mmlu: 0.0}\n", ""),
            ['t.yaml:1: the file: the key "default" is missing. Add default.'],
            id="no default",
        ),
        pytest.param(
            change(THRESHOLDS, "  m1: {gsm8k: 0.94}", "  m1: 0.94"),
            ["t.yaml:3: models.m1: found 0.94; expected a mapping."],
            id="no tasks",
        ),
    ],
)
def test_wrong_thresholds(text: str, expected: list[str]) -> None:
    assert [str(problem) for problem in check_thresholds(text.encode(), "t.yaml")] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            change(LENGTHS, "3: 2.49", "3: 4.01"),
            [
                "g.yaml:2: acme/m1.thinking_on.3: 4.01 tokens are more than a draft of 3 can yield; expected at most 4."
            ],
            id="more than the draft",
        ),
        pytest.param(
            change(LENGTHS, "3: 2.49", "3: 0.9"),
            ["g.yaml:2: acme/m1.thinking_on.3: found 0.9; expected a length of at least 1."],
            id="less than one",
        ),
        pytest.param(
            change(LENGTHS, "thinking_on", "thinking"),
            [
                'g.yaml:2: acme/m1: unknown key "thinking". Known keys: thinking_off, thinking_on. Did you mean thinking_on or thinking_off?'
            ],
            id="mode",
        ),
        pytest.param(
            change(LENGTHS, "3: 2.49", "three: 2.49"),
            ['g.yaml:2: acme/m1.thinking_on.three: found "three"; expected a draft length.'],
            id="draft length",
        ),
        pytest.param(
            change(LENGTHS, "3: 2.49", "1: 2.49"),
            ['g.yaml:2: The key "1" occurs twice, on lines 2 and 2. Keep one of them.'],
            id="a length twice",
        ),
        pytest.param(
            change(LENGTHS, "{3: 1.0}", "{}"),
            ["g.yaml:3: acme/m1.thinking_off: found {}; expected at least 1 key."],
            id="no lengths",
        ),
        pytest.param(
            change(LENGTHS, "3: 2.49", "3: 2.49x"),
            ['g.yaml:2: acme/m1.thinking_on.3: found "2.49x"; expected a number.'],
            id="text",
        ),
    ],
)
def test_wrong_golden_lengths(text: str, expected: list[str]) -> None:
    assert [str(problem) for problem in parse_golden_lengths(text.encode(), "g.yaml")[1]] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            change(PRIORITIES, "version: 1", "version: 2"),
            ["p.yaml:1: version: found 2; expected 1."],
            id="version",
        ),
        pytest.param(
            change(PRIORITIES, "base-score: 1.0\n", ""),
            ['p.yaml:1: the file: the key "base-score" is missing. Add base-score.'],
            id="no base",
        ),
        pytest.param(
            change(PRIORITIES, "push: 2.0", "push: high"),
            ['p.yaml:4: adjustments.event.push: found "high"; expected a number.'],
            id="a word",
        ),
        pytest.param(
            change(PRIORITIES, "name: skip_queue", "name: skip-queue"),
            [
                'p.yaml:7: labels.skip-queue.name: "skip-queue" is not a label of the policy. Did you mean skip_queue?'
            ],
            id="label with a hyphen",
        ),
        pytest.param(
            change(PRIORITIES, "[ci-patchwork],", "[ci-patchworks, x],"),
            [
                'p.yaml:9: labels.patchwork.names[0]: "ci-patchworks" is not a label of the policy. Did you mean ci-patchwork or ci-patchwork-waived?',
                'p.yaml:9: labels.patchwork.names[1]: "x" is not a label of the policy. Add it to labels.control of the policy.',
            ],
            id="two labels",
        ),
        pytest.param(
            change(PRIORITIES, "adjustments:", "adjustment:"),
            [
                'p.yaml:3: the file: unknown key "adjustment". Known keys: adjustments, base-score, labels, version. Did you mean adjustments?'
            ],
            id="unknown key",
        ),
        pytest.param(
            change(PRIORITIES, "model-prefix: {m1", "models: {m1"),
            [
                'p.yaml:5: adjustments: unknown key "models". Known keys: additional-node, agentic, eval-only, event, framework-prefix, model-prefix, multi-node, precision, spec-decoding.'
            ],
            id="unknown adjustment",
        ),
    ],
)
def test_wrong_priorities(text: str, expected: list[str]) -> None:
    assert [str(problem) for problem in check_priorities(text.encode(), "p.yaml", LABELS)] == expected

"""Invalid policies: the whole message, path and line of each problem."""

from __future__ import annotations

import pytest

from infx.errors import ProblemsError
from infx.policy.load import parse_policy

_LABEL = "labels: {primary: {go: {scope: full, canary: true, fail-fast: true}}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a", "1: The file holds a list; expected a mapping."),
        (
            "canary: {pools: [[single-node 8k1]]}",
            '1: canary.pools[0][0]: found "single-node 8k1"; expected a family of throughput jobs, such as '
            "single-node 8k1k, multi-node 4096_512 or agentic.",
        ),
        ("drafts: [", "1: This is not YAML: while parsing a flow node, did not find expected node content."),
        (
            "drafts: allow\ndrafts: ignore",
            '2: The key "drafts" occurs twice, on lines 1 and 2. Keep one of them.',
        ),
        ("drafts: !allow x", "1: The tag !allow is not allowed. Remove it; quote text that needs it."),
        ("repository: acme", '1: repository: found "acme"; expected owner/name.'),
        ("repository: acme/bench/x", '1: repository: found "acme/bench/x"; expected owner/name.'),
        ("repository: 7", "1: repository: found 7; expected text. Put it in quotes."),
        ('base-branch: ""', '1: base-branch: found ""; expected text that is not empty.'),
        (
            "changelog: /etc/passwd",
            '1: changelog: found "/etc/passwd"; expected a path inside the repository.',
        ),
        ("runners: ../x", '1: runners: found "../x"; expected a path inside the repository.'),
        ("golden-al: /abs", '1: golden-al: found "/abs"; expected a path inside the repository.'),
        ("master-configs: []", "1: master-configs: found []; expected at least 1 item."),
        ("master-configs: a.yaml", '1: master-configs: found "a.yaml"; expected a list.'),
        ("identities: []", "1: identities: found []; expected at least 1 item."),
        ("labels: {}", '1: labels: the key "primary" is missing. Add primary.'),
        ("labels: {primary: {}}", "1: labels.primary: found {}; expected at least 1 key."),
        (
            "labels: {primary: {go: {scope: all, canary: true, fail-fast: true}}}",
            '1: labels.primary.go.scope: found "all"; expected one of full, trimmed.',
        ),
        (
            "labels: {primary: {go: {scope: full, canary: yes, fail-fast: true}}}",
            '1: labels.primary.go.canary: found "yes"; expected true or false.',
        ),
        (
            "labels: {primary: {go: {scope: full, fail-fast: true}}}",
            '1: labels.primary.go: the key "canary" is missing. Add canary.',
        ),
        (
            _LABEL + ", control: [GO]}",
            "1: The label 'GO' is listed under primary and under control. "
            "Keep one; GitHub ignores upper and lower case in labels.",
        ),
        (
            _LABEL + ", modifiers: {slow: {effect: slow, reusable: true}}}",
            '1: labels.modifiers.slow.effect: found "slow"; expected one of all-evals, evals-only, fast.',
        ),
        (
            'pr-link: {placeholders: ["#"]}',
            '1: pr-link.placeholders[0]: found "#"; expected a word of letters.',
        ),
        ("drafts: maybe", '1: drafts: found "maybe"; expected one of allow, ignore.'),
        ("on-merge: sweep", '1: on-merge: found "sweep"; expected one of nothing, reuse, reuse-or-sweep.'),
        (
            "drafts: allow\nlimits:\n  matrix-rows: 257",
            "3: limits.matrix-rows: found 257; expected at most 256.",
        ),
        ("limits: {api-requests: 1e2}", "1: limits.api-requests: found 100.0; expected a whole number."),
    ],
)
def test_an_invalid_policy_is_reported(text: str, expected: str) -> None:
    with pytest.raises(ProblemsError) as caught:
        parse_policy(text.encode() + b"\n", "policy.yaml")
    assert [str(problem) for problem in caught.value.problems] == [f"policy.yaml:{expected}"]


def test_labels_without_modifiers_are_enough() -> None:
    policy = parse_policy(_LABEL.encode() + b"}\n", "policy.yaml")
    assert policy.labels.names == {"go"}
    assert not policy.labels.modifiers

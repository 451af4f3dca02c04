"""Compute the queue priority of rows: a free runner should take the row with the highest score first.

The weights come from the repository (`ci-priority.yaml`). Scores are decimals, rounded half up to three
places.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from infx.bench.row import Row, render_row
from infx.records import record

_PLACES = Decimal("0.001")
_NOTHING = Decimal(0)


@record
class Priorities:
    """The weights of a row's score: every number that applies is added to `base_score`."""

    base_score: Decimal
    event: Mapping[str, Decimal]
    additional_node: Decimal
    multi_node: Decimal
    agentic: Decimal
    eval_only: Decimal
    precision: Mapping[str, Decimal]
    spec_decoding: Mapping[str, Decimal]
    framework_prefix: Mapping[
        str, Decimal
    ]  # the first key equal to the framework or to its start before a `-`
    model_prefix: Mapping[str, Decimal]  # exact
    checklist_labels: frozenset[str]
    checklist_adjustment: Decimal
    patchwork_labels: frozenset[str]  # on a pull request, they fix the score to patchwork_score
    patchwork_score: Decimal
    waived_by: frozenset[str]  # on a pull request, these labels cancel patchwork_labels
    skip_queue_label: str | None


NO_PRIORITIES = Priorities(
    base_score=Decimal(1), event={}, additional_node=_NOTHING, multi_node=_NOTHING, agentic=_NOTHING,
    eval_only=_NOTHING, precision={}, spec_decoding={}, framework_prefix={}, model_prefix={},
    checklist_labels=frozenset(), checklist_adjustment=_NOTHING, patchwork_labels=frozenset(),
    patchwork_score=_NOTHING, waived_by=frozenset(), skip_queue_label=None,
)  # fmt: skip


def read_priorities(values: Mapping[str, Any]) -> Priorities:
    """Build the weights from a `ci-priority.yaml` that fits its schema (version 1)."""
    adjustments = values.get("adjustments", {})
    labels = values.get("labels", {})
    checklist, patchwork = labels.get("checklist-complete", {}), labels.get("patchwork", {})
    return Priorities(
        base_score=_read_decimal(values.get("base-score", 1)),
        event=_read_table(adjustments.get("event")),
        additional_node=_read_decimal(adjustments.get("additional-node", 0)),
        multi_node=_read_decimal(adjustments.get("multi-node", 0)),
        agentic=_read_decimal(adjustments.get("agentic", 0)),
        eval_only=_read_decimal(adjustments.get("eval-only", 0)),
        precision=_read_table(adjustments.get("precision")),
        spec_decoding=_read_table(adjustments.get("spec-decoding")),
        framework_prefix=_read_table(adjustments.get("framework-prefix")),
        model_prefix=_read_table(adjustments.get("model-prefix")),
        checklist_labels=frozenset(checklist.get("names", ())),
        checklist_adjustment=_read_decimal(checklist.get("adjustment", 0)),
        patchwork_labels=frozenset(patchwork.get("names", ())),
        patchwork_score=_read_decimal(patchwork.get("score", 0)),
        waived_by=frozenset(patchwork.get("waived-by", ())),
        skip_queue_label=labels.get("skip-queue", {}).get("name"),
    )


def score_row(
    row: Row, nodes: int, priorities: Priorities, *, event: str = "", labels: Collection[str] = ()
) -> Decimal:
    """Return the score of one row.

    event: the event that started the run. labels: the labels of the pull request.
    """
    if priorities.patchwork_labels.intersection(labels) and not priorities.waived_by.intersection(labels):
        return priorities.patchwork_score.quantize(_PLACES, ROUND_HALF_UP)
    recipe = row.recipe
    score = priorities.base_score + priorities.event.get(event, _NOTHING)
    score += (nodes - 1) * priorities.additional_node
    if recipe.is_multinode:
        score += priorities.multi_node
    if recipe.is_agentic:
        score += priorities.agentic
    if row.eval_only:
        score += priorities.eval_only
    score += priorities.precision.get(recipe.precision, _NOTHING)
    score += priorities.spec_decoding.get(recipe.spec_decoding.value, _NOTHING)
    score += _score_framework(recipe.framework, priorities.framework_prefix)
    score += priorities.model_prefix.get(recipe.model_prefix, _NOTHING)
    if priorities.checklist_labels.intersection(labels):
        score += priorities.checklist_adjustment
    return score.quantize(_PLACES, ROUND_HALF_UP)


def make_queue_token(row: Row, place: str, namespace: str) -> str:
    """Return 32 hex digits that identify one row of one attempt to a scheduler.

    place: the row's position in the plan, such as `single_node/8k1k/0`. namespace: `<run id>:<attempt>`.
    """
    text = json.dumps(render_row(row), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(f"{namespace}:{place}:{text}".encode()).hexdigest()[:32]


def _score_framework(framework: str, table: Mapping[str, Decimal]) -> Decimal:
    for prefix, adjustment in table.items():
        if framework == prefix or framework.startswith(f"{prefix}-"):
            return adjustment
    return _NOTHING


def _read_table(values: Mapping[str, Any] | None) -> dict[str, Decimal]:
    return {key: _read_decimal(value) for key, value in (values or {}).items()}


def _read_decimal(value: float | str) -> Decimal:
    return Decimal(str(value))

"""Judge required checks as GitHub does: by name, by app, and only the newest report."""

from __future__ import annotations

from typing import Any

import pytest

from infx.merge.checks import CheckState, judge_checks, list_unknown_apps
from infx.model import ACTIONS_APP, RequiredCheck, StatusState
from tests.builders import APP, BOT, EVE, status
from tests.merge.facts import check

OTHER_APP = 77


def judge(
    required: RequiredCheck, *reports: Any, statuses: tuple[Any, ...] = (), apps: Any = None
) -> CheckState:
    (verdict,) = judge_checks([required], reports, statuses, apps or {})
    return verdict.state


@pytest.mark.parametrize(
    ("conclusion", "expected"),
    [
        ("success", CheckState.GREEN),
        ("skipped", CheckState.GREEN),
        ("neutral", CheckState.GREEN),
        ("failure", CheckState.BAD),
        ("timed_out", CheckState.BAD),
        ("action_required", CheckState.BAD),
        ("startup_failure", CheckState.BAD),
        ("cancelled", CheckState.BAD),
        ("stale", CheckState.WAITING),
        (None, CheckState.WAITING),
    ],
)
def test_a_conclusion(conclusion: str | None, expected: CheckState) -> None:
    assert judge(RequiredCheck(context="ci"), check(conclusion=conclusion)) is expected


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (StatusState.SUCCESS, CheckState.GREEN),
        (StatusState.PENDING, CheckState.WAITING),
        (StatusState.FAILURE, CheckState.BAD),
        (StatusState.ERROR, CheckState.BAD),
    ],
)
def test_a_status(state: StatusState, expected: CheckState) -> None:
    assert judge(RequiredCheck(context="ci"), statuses=(status("ci", state=state),)) is expected


def test_a_check_and_a_status_of_one_name_must_both_be_green() -> None:
    pending = (status("ci", state=StatusState.PENDING),)
    assert judge(RequiredCheck(context="ci"), check(), statuses=pending) is CheckState.WAITING


def test_a_check_that_no_one_reported_is_missing() -> None:
    assert judge(RequiredCheck(context="ci"), check("lint")) is CheckState.MISSING


@pytest.mark.parametrize(
    ("app_id", "expected"), [(ACTIONS_APP, CheckState.GREEN), (OTHER_APP, CheckState.MISSING)]
)
def test_a_bound_check_counts_only_from_its_app(app_id: int, expected: CheckState) -> None:
    assert judge(RequiredCheck(context="ci", app_id=app_id), check()) is expected


@pytest.mark.parametrize(
    ("creator", "apps", "app_id", "expected"),
    [
        (BOT, {}, ACTIONS_APP, CheckState.GREEN),
        (APP, {"bench-bot[bot]": OTHER_APP}, OTHER_APP, CheckState.GREEN),
        (APP, {}, OTHER_APP, CheckState.MISSING),  # an app that GitHub does not show
        (EVE, {}, OTHER_APP, CheckState.MISSING),
        (EVE, {"eve": OTHER_APP}, ACTIONS_APP, CheckState.MISSING),
    ],
)
def test_a_bound_status_counts_only_from_its_app(
    creator: Any, apps: dict[str, int], app_id: int, expected: CheckState
) -> None:
    found = judge(
        RequiredCheck(context="ci", app_id=app_id), statuses=(status("ci", creator=creator),), apps=apps
    )
    assert found is expected


def test_only_apps_that_decide_something_are_asked_for() -> None:
    statuses = [
        status(name, creator=who) for name, who in (("ci", APP), ("ci2", APP), ("ci", BOT), ("ci", EVE))
    ]
    required = [RequiredCheck(context="ci", app_id=1), RequiredCheck(context="ci2")]
    assert list(list_unknown_apps(required, statuses, {})) == ["bench-bot[bot]"]

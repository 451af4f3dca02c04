"""Build facts of a merge; without arguments, pull request 77 is ready to be merged."""

from __future__ import annotations

from typing import Any

from infx.comments.status import DesiredStatus
from infx.gate.event import Event, EventName
from infx.gate.facts import Changelog, GateFacts
from infx.merge.facts import Ability, MergeFacts, MergeRequest, Progress
from infx.merge.steps import Refuse, Step, Wait
from infx.model import CheckRun, Conclusion, PullRequest, StatusState
from infx.reconcile.facts import Changes, ReconcileFacts, Resolution
from tests.builders import BASE, BOT, HEAD, pull, status

CHANGELOG = "perf-changelog.yaml"
SWEEP, SIGNOFF = "infx/sweep", "codeowner-signoff-verify"
LABEL = "full-sweep-fail-fast"
ENTRY = Changes(paths=(CHANGELOG,), entries=1)
LINKS = Resolution(changelog=b"canonical", tree=HEAD, parents=(HEAD,))
MERGE = Resolution(changelog=b"both", tree="d" * 40, parents=(HEAD, BASE))


def own_status(context: str, state: StatusState = StatusState.SUCCESS, **fields: Any) -> Any:
    return status(context, state=state, creator=BOT, **{"description": "Swept.", "target_url": "", **fields})


def desired(state: StatusState = StatusState.SUCCESS, description: str = "Swept.") -> DesiredStatus:
    return DesiredStatus(context=SWEEP, state=state, description=description)


def state(pull_request: PullRequest, **fields: Any) -> ReconcileFacts:
    conflicts = fields.pop("conflicts", ())
    gate = GateFacts(
        event=Event(name=EventName.ASKED, pull=77),
        pull=pull_request,
        changelog=Changelog(touched=True),
        conflicts=conflicts,
    )
    signoff = own_status(SIGNOFF)
    defaults: dict[str, Any] = {
        "changes": ENTRY,
        "statuses": (own_status(SWEEP), signoff),
        "signoff": signoff,
    }
    return ReconcileFacts(gate=gate, pull=pull_request, **{**defaults, **fields})


def facts(**fields: Any) -> MergeFacts:
    """Return facts. `pull` and `state` are the fields of the pull request and of its state that differ."""
    made = pull(**{"labels": (LABEL,), **fields.pop("pull", {})})
    request = MergeRequest(pull=77, **{"sha": made.head_sha, **fields.pop("request", {})})
    defaults: dict[str, Any] = {
        "state": state(made, **fields.pop("state", {})),
        "status": desired(),
        "ability": Ability(**fields.pop("ability", {})),
        "progress": Progress(**fields.pop("progress", {})),
    }
    return MergeFacts(request=request, **{**defaults, **fields})


def check(name: str = "ci", conclusion: str | None = "success", **fields: Any) -> CheckRun:
    defaults: dict[str, Any] = {
        "id": 1,
        "status": "completed" if conclusion else "in_progress",
        "conclusion": Conclusion(conclusion) if conclusion else None,
        "app_id": 15368,
        "url": "",
    }
    return CheckRun(name=name, **{**defaults, **fields})


def reason(step: Step) -> str:
    """Return why a merge is refused or waits."""
    assert isinstance(step, Refuse | Wait), step
    return step.reason.value

"""Render the examples in docs/comments.md with the project's own policy."""

from __future__ import annotations

from dataclasses import replace

from infx.comments.greeting import list_linked, make_greeting, make_links
from infx.comments.notices import Cause, NoticeContext, make_notices
from infx.comments.progress import Counts, SweepProgress
from infx.comments.status import make_status
from infx.comments.sticky import Sticky
from infx.comments.visualizer import make_visualizer
from infx.errors import Problem
from infx.evidence.proof import Proof
from infx.gate.decide import decide
from infx.gate.event import Event, EventName
from infx.gate.facts import Approval, Changelog, GateFacts, GateRun
from infx.model import PullRequest
from infx.policy.load import parse_policy
from infx.policy.model import Policy
from infx.reconcile.facts import RepositoryContext
from infx.reuse.command import ReuseCommand
from infx.reuse.decision import PassedRun, ReuseDecision, ReuseReason, ReuseVerdict, SourceFault
from tests import builders
from tests.builders import EVE, comment, run
from tests.conftest import ROOT

PLACE = RepositoryContext(server="https://github.com", repository="acme/bench")
HEAD = "3b48818b08bd9da0e423a24dae34551bf02db415"
BEFORE = "0441375b39016ab26a81c93546394c97731203f4"
LABELS = ("full-sweep-fail-fast",)
PROBLEM = Problem(
    rule="pr-link",
    message="`TBD` is not a valid pr-link; expected `XXX` or https://github.com/acme/bench/pull/77.",
    path="perf-changelog.yaml",
    line=812,
    hint="Write `XXX`; it becomes the link before the merge.",
)


def project_policy() -> Policy:
    return parse_policy((ROOT / "configs" / "policy.yaml").read_bytes(), "configs/policy.yaml")


def pull(labels: tuple[str, ...] = LABELS, *, fork: bool = False, mergeable: bool = True) -> PullRequest:
    return builders.pull(
        title="Add a benchmark",
        author=EVE,
        labels=labels,
        mergeable=mergeable,
        base_sha=BEFORE,
        head_sha=HEAD,
        head_repository="eve/bench" if fork else "acme/bench",
    )


ASKED = GateFacts(event=Event(name=EventName.ASKED, pull=77), pull=pull(), changelog=Changelog(touched=True))
CAUSES = {
    Cause.CONFLICT: replace(ASKED, pull=pull(mergeable=False), conflicts=("perf-changelog.yaml",)),
    Cause.LABELS: replace(ASKED, pull=pull((*LABELS, "full-sweep-enabled"))),
    Cause.CHANGELOG: replace(ASKED, changelog=Changelog(touched=True, problems=(str(PROBLEM),))),
    Cause.NO_ENTRY: replace(ASKED, changelog=Changelog(touched=False)),
    Cause.FORK: replace(ASKED, pull=pull(fork=True)),
    Cause.APPROVAL_VOID: replace(ASKED, pull=pull(fork=True), approval=Approval(sha=BEFORE)),
    Cause.TOKEN_LABEL: replace(ASKED, label_actor="github-actions[bot]"),
    Cause.LINKS: ASKED,
    Cause.REUSE_COMMAND: ASKED,
    Cause.REUSE: ASKED,
}
MISREAD = ("/reuse-sweep-run 42 please",)

ASKED_REUSE = comment("/reuse-sweep-run", "mia")
REFUSED = ReuseDecision(
    verdict=ReuseVerdict.REFUSED,
    reason=ReuseReason.NO_SUITABLE_RUN,
    words="the pull request has no suitable run",
    pin="/reuse-sweep-run 34660106061",
    command=ReuseCommand(run_id=None, comment=ASKED_REUSE),
    passed_over=(
        PassedRun(
            run=run(conclusion="cancelled", head_sha=HEAD, id=34660106061),
            fault=SourceFault(
                reason=ReuseReason.CONCLUSION,
                words="it ended as cancelled, and it covers 5 of 40 rows (35 missing)",
                helps_to_pin=True,
            ),
        ),
        PassedRun(
            run=run(head_sha=BEFORE, id=34655656558),
            fault=SourceFault(reason=ReuseReason.NO_RESULTS, words="its results have expired"),
        ),
    ),
)


def make_notice(context: NoticeContext, cause: Cause) -> Sticky:
    """Return the notice about a cause that applies."""
    return next(sticky for sticky in make_notices(context, (cause,)) if sticky.text is not None)


def notice(policy: Policy, cause: Cause) -> str:
    problems = (PROBLEM,) if cause is Cause.CHANGELOG else ()
    context = NoticeContext(
        policy=policy,
        facts=CAUSES[cause],
        problems=problems,
        clone_url=PLACE.url,
        misread=MISREAD,
        reuse=REFUSED,
    )
    return below_marker(make_notice(context, cause))


def below_marker(sticky: Sticky) -> str:
    """Return the text of a comment without its marker and order."""
    lines = sticky.whole.split("\n")
    return "\n".join(line for line in lines if not line.startswith("<!-- "))


def sweeps() -> tuple[SweepProgress, ...]:
    now = SweepProgress(
        run=run(conclusion=None, head_sha=HEAD, id=34660106061),
        rows=Counts(done=9, failed=1, running=2, waiting=2),
        evals=Counts(done=1, waiting=2),
        has_results=True,
        swept=True,
    )
    earlier = run(conclusion="failure", head_sha=BEFORE, id=34655656558)
    return (now, SweepProgress(run=earlier, has_results=True, swept=True))


def comments() -> dict[str, str]:
    """Return the Markdown of each example, without its marker, by name."""
    policy = project_policy()
    links = make_links(policy, PLACE.repository, PLACE.server, list_linked(policy))
    greeting = make_greeting(policy, links, policy.comments.greeting.phrase)
    visualizer = make_visualizer(policy, sweeps())
    assert visualizer is not None
    kept = {"greeting": below_marker(greeting), "visualizer": below_marker(visualizer)}
    return kept | {f"notice {cause}": notice(policy, cause) for cause in Cause}


EDITED = ".github/workflows/run-sweep.yml"


def statuses() -> list[tuple[str, str, str]]:
    """Return the situation, state and description of each example."""
    policy = project_policy()
    unlabeled = replace(ASKED, pull=pull(()))
    started = replace(ASKED, runs=(GateRun(id=1, url="", conclusion=None, swept=None),))
    partly, edited = Proof(gap="5 of 17 planned rows did not succeed in it"), Proof(edits=(EDITED,))
    cases: list[tuple[str, GateFacts, SweepProgress | None, tuple[Problem, ...]]] = [
        ("the changelog is untouched", CAUSES[Cause.NO_ENTRY], None, ()),
        ("the changelog breaks a rule", CAUSES[Cause.CHANGELOG], None, (PROBLEM,)),
        ("there is no sweep label yet", unlabeled, None, ()),
        ("two labels start a sweep", CAUSES[Cause.LABELS], None, ()),
        ("the branch conflicts", CAUSES[Cause.CONFLICT], None, ()),
        ("a fork is not approved", CAUSES[Cause.FORK], None, ()),
        ("there is a sweep label, but no run yet", ASKED, None, ()),
        ("a run has started", started, None, ()),
        ("a sweep is running", ASKED, sweeps()[0], ()),
        ("the sweep failed", ASKED, _ended("failure"), ()),
        ("the sweep was cancelled", ASKED, _ended("cancelled"), ()),
    ]
    proofs: list[tuple[str, Proof | None]] = [
        ("the sweep is done, and every planned row succeeded", Proof()),
        ("the sweep is done, but planned rows did not succeed", partly),
        ("the pull request edits workflows or the policy", edited),
        ("a maintainer settled these edits", replace(edited, settled_by="mia")),
        ("there is no clone of the repository", None),
    ]
    situations = [
        *((when, facts, sweep, problems, None) for when, facts, sweep, problems in cases),
        *((when, ASKED, _ended("success"), (), proof) for when, proof in proofs),
    ]
    made = [
        (
            when,
            make_status(
                policy,
                decide(facts, policy),
                sweep,
                problems,
                touched=facts.changelog.touched,
                entries=1,
                proof=proof,
            ),
        )
        for when, facts, sweep, problems, proof in situations
    ]
    return [(when, status.state.value, status.description) for when, status in made]


def _ended(conclusion: str) -> SweepProgress:
    rows = {
        "success": Counts(done=14),
        "failure": Counts(done=8, failed=1, stopped=5),
        "cancelled": Counts(done=8, stopped=6),
    }[conclusion]
    return SweepProgress(
        run=run(conclusion=conclusion, id=34660106061), rows=rows, evals=Counts(done=3), swept=True
    )

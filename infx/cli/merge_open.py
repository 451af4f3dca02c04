"""Open what a merge needs: two clients, a clone, and what publishes infx's statuses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from infx.cli.github import Connect, connect_with
from infx.cli.reconcile import make_reconciler
from infx.cli.signoff_verify import open_verifier
from infx.errors import UsageError
from infx.model import WORKFLOW_LOGIN
from infx.policy.identity import is_listed
from infx.policy.model import Policy

if TYPE_CHECKING:
    from infx.apply.merge import Merger
    from infx.apply.reconcile import Reconciler
    from infx.apply.requeue import Requeuer
    from infx.github.api import GitHub
    from infx.merge.steps import Step


def open_merger(policy: Policy, connect: Connect, *, wait: float, tell: Callable[[Step], None]) -> Merger:
    """Return what merges pull requests with the tokens of this process."""
    from infx.apply.merge import Merger
    from infx.apply.publish_statuses import StatusWriter
    from infx.gather.merge import MergeGatherer
    from infx.merge.facts import Ability

    github = connect()
    reconciler = make_reconciler(policy, github, dry_run=False)
    clone = reconciler.clone
    if clone is None:
        raise UsageError(
            "A merge is prepared with git, and this folder is not a clone of the repository.",
            hint="Run it in a clone with the whole history.",
        )
    login = github.viewer()
    starter = _connect_starter(github, login, clone.push_token)
    if starter is not None and clone.push_token is None:
        clone = replace(clone, push_token=clone.token)  # the starter's own
    ability = Ability(can_start=starter is not None, can_publish=is_listed(login, policy.publisher))
    gatherer = MergeGatherer(
        github=github,
        states=reconciler.open(()),
        clone=clone,
        policy=policy,
        place=reconciler.place,
        ability=ability,
    )
    return Merger(
        github=github,
        starter=starter,
        gatherer=gatherer,
        clone=clone,
        policy=policy,
        publish=StatusWriter(reconciler, open_verifier(policy, connect)),
        wait=wait,
        tell=tell,
    )


def open_requeuer(policy: Policy, connect: Connect, reconciler: Reconciler) -> Requeuer | None:
    """Return what queues pull requests again; None without an App's token, or if the policy does not want it."""
    from infx.apply.requeue import Requeuer

    if reconciler.clone is None or reconciler.clone.push_token is None or not policy.merge.requeue:
        return None

    def open_silent() -> Merger:
        return open_merger(policy, connect, wait=0.0, tell=lambda step: None)

    return Requeuer(connect(), policy, open_silent)


def _connect_starter(github: GitHub, login: str, push_token: str | None) -> GitHub | None:
    """Return the client whose writes start workflows: an App's, or a person's own."""
    if push_token is not None:
        return connect_with(push_token, github.repository)
    return None if login.lower() == WORKFLOW_LOGIN else github

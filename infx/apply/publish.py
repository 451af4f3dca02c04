"""Deliver validated results: store them, announce the event, send the event, and say so.

Each row is stored once, because a store may be asked again. The event is sent at most once: a run that is killed after the
announcement leaves a state that only a person's decision ends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from infx.apply.writes import check_publisher
from infx.comments.status import fit_description
from infx.errors import InfxError, ProblemsError
from infx.github.errors import (
    BadCredentialsError,
    NotFoundError,
    PermissionDeniedError,
    RateLimitError,
    ValidationError,
)
from infx.model import CommitStatus, StatusState
from infx.phrases import count
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.publish.decide import PublishVerdict, make_unknown
from infx.publish.delivery import Delivery, DeliveryState, read_delivery, render_not_sent, render_sending
from infx.publish.events import TargetEvent, make_merge_event
from infx.publish.handover import ValidatedMerge
from infx.publish.publication import make_publication
from infx.records import record
from infx.store.port import ResultStore

_S = TypeVar("_S")
_T = TypeVar("_T")

# GitHub surely did not carry out a request that it answered in one of these ways.
REFUSALS = (BadCredentialsError, NotFoundError, PermissionDeniedError, RateLimitError, ValidationError)


class DeliveryWriter(Protocol):
    """The requests that delivering makes to the repository."""

    @property
    def repository(self) -> str: ...
    def status_log(self, sha: str) -> list[CommitStatus]: ...
    def create_status(
        self, sha: str, *, context: str, state: StatusState, description: str, target_url: str = ""
    ) -> CommitStatus: ...
    def write_then_look(self, write: Callable[[], _T], look: Callable[[], _T | None]) -> _T: ...


class TargetPort(Protocol):
    """The requests to the repository that takes the event."""

    def dispatch_event(self, name: str, payload: Mapping[str, object]) -> None: ...
    def look_then_write(self, look: Callable[[], _S], write: Callable[[_S], _T]) -> _T: ...


@record
class DeliveryReport:
    """What happened to the results of one merge.

    Attributes:
        words: a sentence, or several.
        is_good: nothing is left to do for a person.
    """

    sha: str
    words: str
    is_good: bool


@dataclass(frozen=True)
class Publisher:
    """Delivers the results of merges.

    Attributes:
        target: takes the event; None: there is no token for it.
        claim: a link that no other attempt to deliver uses.
        merge_run: the run that holds the merges' changelog entries.
        recovers: a person has decided that an event of unknown fate is sent again.
    """

    github: DeliveryWriter
    policy: Policy
    store: ResultStore
    target: TargetPort | None
    claim: str
    merge_run: int | None
    now: datetime
    recovers: bool = False

    def deliver(self, merge: ValidatedMerge) -> DeliveryReport:
        """Deliver the results of a merge, or publish why they are not."""
        sentence = "\n".join([merge.sentence, *(f"  {problem}" for problem in merge.problems)])
        match merge.verdict:
            case PublishVerdict.PUBLISH:
                return self._publish(merge)
            case PublishVerdict.WAIT:
                self._say(merge, StatusState.PENDING)
            case PublishVerdict.REFUSED:
                self._say(merge, StatusState.FAILURE)
            case _:
                pass
        is_good = merge.verdict not in {PublishVerdict.REFUSED, PublishVerdict.UNKNOWN}
        return DeliveryReport(sha=merge.sha, words=sentence, is_good=is_good)

    def _read(self, merge: ValidatedMerge) -> Delivery:
        return read_delivery(self.github.status_log(merge.sha), self.policy)

    def _say(self, merge: ValidatedMerge, state: StatusState) -> None:
        """Publish why results are not delivered, unless the status says so or says something that matters more."""
        delivery = self._read(merge)
        text = self._fit(merge.words)
        known = (delivery.status.state, delivery.status.description) if delivery.status else None
        if delivery.state not in {DeliveryState.SENDING, DeliveryState.DONE} and known != (state, text):
            self._set(merge.sha, state, text, merge.run_url)

    def _publish(self, merge: ValidatedMerge) -> DeliveryReport:
        delivery = self._read(merge)
        event = make_merge_event(merge, self.policy.publish, self.github.repository, self.merge_run)
        if delivery.state is DeliveryState.DONE:
            return self._report(merge, "Its results were published before.")
        if problem := self._find_obstacle(delivery, event):
            return DeliveryReport(sha=merge.sha, words=f"{merge.sentence} {problem}", is_good=False)
        stored = self._store(merge)
        if event is None:
            self._finish(merge, None)
            return self._report(merge, stored)
        if self.target is None:
            why = f"there is no token for {event.target}"
            self._set(
                merge.sha, StatusState.FAILURE, self._fit(render_not_sent(event.key, why)), merge.run_url
            )
            hint = "Give the job a token of an App or a person that may write contents there."
            words = f"{stored} The event was not sent: {why}. {hint}"
            return self._report(merge, words, is_good=False)
        announced = self._announce(merge, event)
        if announced.state is DeliveryState.DONE:  # the announcement came later, and would hide the success
            self._finish(merge, event)
            return self._report(merge, f"{stored} Another run has sent the event.")
        if announced.claim != self.claim and delivery.state is not DeliveryState.SENDING:
            decision = make_unknown(announced.key, announced.claim)
            return self._report(merge, f"{stored} But {decision.words}. {decision.fix}", is_good=False)
        self._send(merge, event, self.target)
        self._finish(merge, event)
        return self._report(
            merge, f"{stored} The event {event.name} ({event.key}) was sent to {event.target}."
        )

    def _report(self, merge: ValidatedMerge, words: str, *, is_good: bool = True) -> DeliveryReport:
        return DeliveryReport(sha=merge.sha, words=f"{merge.sentence} {words}", is_good=is_good)

    def _find_obstacle(self, delivery: Delivery, event: TargetEvent | None) -> str | None:
        """Return why an event of unknown fate is not sent again, as sentences; None if nothing is in the way."""
        if delivery.state is not DeliveryState.SENDING:
            return None
        if not self.recovers:
            decision = make_unknown(delivery.key, delivery.claim)
            return f"But {decision.words}. {decision.fix}"
        if event is None or event.key != delivery.key:
            return (
                f"But the event that may have been sent has the key {delivery.key}, and this one has "
                f"{event.key if event else 'none'}: the source run or the target has changed since. Tell the target by hand."
            )
        return None

    def _store(self, merge: ValidatedMerge) -> str:
        """Store the rows, and return a sentence about them."""
        publication = make_publication(merge, self.now)
        if publication is None:
            return "It has no throughput results to store."
        change = self.store.publish(publication)
        return (
            f"Stored: {count(change.added, 'new row')}, {change.replaced:,} replaced, "
            f"{change.unchanged:,} as before."
        )

    def _announce(self, merge: ValidatedMerge, event: TargetEvent) -> Delivery:
        """Announce that the event is about to be sent, and return the state: another run may have been faster."""
        self._set(
            merge.sha,
            StatusState.PENDING,
            render_sending(event.key),
            self.claim,
            look=lambda: self._find_claim(merge),
        )
        return self._read(merge)

    def _find_claim(self, merge: ValidatedMerge) -> CommitStatus | None:
        """Return the announcement of this attempt, if GitHub has it although its answer was lost."""
        statuses = self.github.status_log(merge.sha)
        return next((status for status in statuses if self._is_claim(status)), None)

    def _is_claim(self, status: CommitStatus) -> bool:
        return status.target_url == self.claim and is_identity(status.creator, self.policy.publisher)

    def _send(self, merge: ValidatedMerge, event: TargetEvent, target: TargetPort) -> None:
        """Send the event once. Raises UnknownOutcomeError if it may have been sent."""
        try:
            target.look_then_write(lambda: None, lambda _: target.dispatch_event(event.name, event.payload))
        except REFUSALS as error:
            if not self.recovers:  # the earlier event of the same key may have been sent
                text = render_not_sent(event.key, error.message)
                self._set(merge.sha, StatusState.FAILURE, self._fit(text), merge.run_url)
            raise

    def _finish(self, merge: ValidatedMerge, event: TargetEvent | None) -> None:
        rows = count(len(merge.rows), "result")
        part = f", incomplete: {merge.coverage}" if merge.coverage else ""
        sent = f"; {event.target} got the event ({event.key})" if event else ""
        text = f"Published {rows} of run {merge.run}{sent}{part}"
        self._set(merge.sha, StatusState.SUCCESS, self._fit(text), merge.run_url)

    def _fit(self, text: str) -> str:
        return fit_description(text, self.policy.limits.status_characters)

    def _set(
        self,
        sha: str,
        state: StatusState,
        description: str,
        url: str,
        look: Callable[[], CommitStatus | None] = lambda: None,
    ) -> None:
        """Set the status. look: finds it if the answer was lost; by default it is set again, which does no harm."""
        context = self.policy.publish.context
        made = self.github.write_then_look(
            lambda: self.github.create_status(
                sha, context=context, state=state, description=description, target_url=url
            ),
            look,
        )
        check_publisher(made.creator, self.policy)


def deliver_all(
    publisher: Publisher, merges: tuple[ValidatedMerge, ...]
) -> tuple[list[DeliveryReport], list[tuple[str, InfxError]]]:
    """Deliver the merges one after another; a failure of one does not stop the others, except for a rate limit."""
    reports: list[DeliveryReport] = []
    failures: list[tuple[str, InfxError]] = []
    for merge in merges:
        try:
            reports.append(publisher.deliver(merge))
        except (InfxError, ProblemsError) as error:
            failures.append((merge.sha, error))
            if isinstance(error, RateLimitError):
                break
    return reports, failures

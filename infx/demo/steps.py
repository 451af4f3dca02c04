"""The record of a demo: its steps with what each of them wrote, its sweeps, and what was saved and published."""

from __future__ import annotations

from infx.demo.chapters import Theme
from infx.play.steps import PlayStep, RowOutcome
from infx.publish.handover import ValidatedRow
from infx.records import record
from infx.results.points import CollectedPoint


@record
class CommentVersion:
    """A comment as a step left it."""

    id: int
    author: str
    body: str
    action: str  # created, edited or deleted


@record
class StatusVersion:
    """A commit status that a step set."""

    sha: str
    context: str
    state: str
    words: str


@record
class DemoStep(PlayStep):
    """A step of the story, with what it changed on the hub."""

    scene: str
    at: str = ""  # the hub's time
    comments: tuple[CommentVersion, ...] = ()
    statuses: tuple[StatusVersion, ...] = ()


@record
class Chapter:
    """A part of a scene; `step` is the number of its first step."""

    scene: str
    pull: int
    step: int
    theme: Theme


@record
class SweepRecord:
    """A sweep, as the page needs it.

    Attributes:
        step: the number of the step that names the outcome of its rows.
        points: the published results.
    """

    run: int
    pull: int
    step: int
    rows: tuple[RowOutcome, ...]
    points: tuple[CollectedPoint, ...]
    gpu_hours: float  # an estimate, without rows that were stopped


@record
class Saving:
    """GPU-hours that infx saved at a step, with the reason."""

    pull: int
    step: int
    words: str
    gpu_hours: float


@record
class PublishedMerge:
    """The results that the merge of a pull request has published, as the handover to the results store names them."""

    pull: int
    step: int
    run: int
    rows: tuple[ValidatedRow, ...]

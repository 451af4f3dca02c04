"""The policy's section `publish`."""

from __future__ import annotations

from infx.records import record


@record
class PublishEvents:
    """Names of the events that tell the target about published results."""

    throughput: str  # a merge without AgentX rows
    agentic: str  # a merge with AgentX throughput rows


@record
class StagePolicy:
    """The comment command that shows a finished sweep on a staging site before the merge.

    Attributes:
        command: the whole comment is this word, or this word and a run's id.
        marker: how the answer begins; `{comment}` is replaced by the id of the command's comment.
        target: `owner/name` of the repository that the event goes to; None: the command is refused.
        event: the name of the event.
    """

    command: str
    marker: str
    event: str
    target: str | None = None


@record
class PublishPolicy:
    """Where the results of a merge go.

    Attributes:
        context: the commit status that says whether a merge was published.
        workflow: the file of the workflow that publishes.
        days: how old a merge may be that `infx reconcile` has published.
        events: names of the events.
        database_target: a field of the event of a merge with AgentX rows.
        stage: the command for a staging site.
        target: `owner/name` of the repository that gets a `repository_dispatch`; None: results are only stored.
    """

    context: str
    workflow: str
    days: int
    events: PublishEvents
    database_target: str
    stage: StagePolicy
    target: str | None = None

    @property
    def workflow_file(self) -> str:
        """Return the workflow's file name, which GitHub's API takes as its id."""
        return self.workflow.rpartition("/")[2]

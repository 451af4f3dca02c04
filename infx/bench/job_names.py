"""Parse the name of a row's job, without loading the code that plans rows.

To map a job of a run back to its row, parse the id in its name and look it up in the plan.
"""

from __future__ import annotations

import re

from infx.records import record

SEPARATOR = " · "
_JOB_ID = r"(?P<id>[0-9a-f]{12}(?:-[2-9]|-[1-9][0-9]+)?) · (?P<family>[^·]+) · (?P<runner>[^·]+?)(?: · .*)?"


@record
class JobName:
    """The parts of a job's name that are never cut."""

    id: str
    family: str
    runner: str


def parse_job_name(name: str) -> JobName | None:
    """Return the id, family and runner of a job, or None if the job does not belong to a row."""
    # A called workflow adds the name of the calling job and ` / ` in front.
    match = re.fullmatch(_JOB_ID, name.rsplit(" / ", 1)[-1])
    return JobName(id=match["id"], family=match["family"], runner=match["runner"]) if match else None

"""Check 4: someone with write access has chosen the sweep whose results the merge reuses."""

from __future__ import annotations

from infx.policy.model import Policy
from infx.policy.reuse import RunId
from infx.reuse.command import select_command
from infx.signoff.coverage import find_candidates
from infx.signoff.facts import SignoffFacts
from infx.signoff.outcome import CheckOutcome, Link, code, name_all, not_applicable, passed, warned


def check_reuse(facts: SignoffFacts, policy: Policy) -> CheckOutcome:
    """Find the newest reuse command, which must be on a line of its own, outside of code and quotes."""
    if facts.plan is not None and not facts.plan.problem and not facts.plan.rows:
        return not_applicable("The pull request plans no rows, so there is nothing to reuse.")
    people = {person.login.lower(): person for person in facts.people}
    command = select_command(facts.comments, policy.reuse, people)
    if command is None:
        forms = " or ".join(
            code(f"{word} <run id>" if needs is RunId.REQUIRED else f"{word} [run id]")
            for word, needs in policy.reuse.commands.items()
        )
        unknown = [person.login for person in facts.people if not person.is_known]
        unread = f" The role of {name_all(unknown)} could not be read." if unknown else ""
        return warned(f"No one with write access has posted {forms} on a line of its own.{unread}")
    author = code(command.comment.author.login)
    link = Link(text="comment", url=command.comment.url)
    if command.run_id is None:
        return passed(f"{author} asked for the newest suitable run to be reused.", link)
    own = {evidence.run.id for evidence in find_candidates(facts, policy)}
    if command.run_id not in own:
        text = f"{author} named run {command.run_id}, which is not a sweep on a commit of this pull request."
        return warned(text, link, evidence=[f"sweeps of this pull request: {sorted(own)}"])
    return passed(f"{author} asked for run {command.run_id} to be reused.", link)

"""What a conversation says: which comments are sign-offs, whose role has to be known, and which hold commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from infx.errors import InfxError
from infx.evidence.settle import parse_settlements
from infx.markdown import MAX_STRANGE
from infx.model import Collaborator, Comment, CommentKind, CommentReference
from infx.policy.identity import is_ours
from infx.policy.model import Policy
from infx.reuse.command import find_command, list_commands
from infx.signoff.checklist import holds_phrase
from infx.signoff.record import find_our_comment
from infx.signoff.request import find_outdated, find_refusal, find_signer_refusal, find_tampered_signoffs

MAX_SIGNOFFS = 10  # of one pull request that are assessed, newest first
MAX_SIGNERS = 12  # whose role is asked for, newest first
MAX_COMMANDERS = 12  # the same, of those who settle, and of those who ask for reuse

People = Mapping[str, Collaborator]  # by lower-case login, as far as somebody was asked for


@dataclass(frozen=True, kw_only=True)
class Said:
    """A conversation that was parsed.

    alike: comments that look like sign-offs, oldest first, each with the reason that it is none, if its text or its
    kind is one. signers: logins of the authors of the others, newest first. commands: comments that hold commands.
    settlers, reusers: logins of those who give them, in the order in which they should be asked for.
    """

    comments: tuple[Comment, ...]
    alike: tuple[tuple[Comment, str | None], ...]
    signers: tuple[str, ...]
    commands: tuple[Comment, ...]
    settlers: tuple[str, ...]
    reusers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class SignoffSelection:
    """signoffs: by people who may sign, oldest first. passed_over: what merely looks like one, and why it is none."""

    signoffs: tuple[Comment, ...]
    passed_over: tuple[tuple[Comment, str], ...]

    def choose(self, only: CommentReference | None) -> tuple[Comment, ...]:
        """Those that are assessed; of what is left out the comments stay as they are."""
        newest = self.signoffs[-MAX_SIGNOFFS:]
        return tuple(s for s in self.signoffs if s in newest or (only and _is(s, only)))

    def require(self, only: CommentReference, comments: Iterable[Comment]) -> None:
        """Raises InfxError with the reason if this comment is no sign-off."""
        if any(_is(signoff, only) for signoff in self.signoffs):
            return
        for comment, why in self.passed_over:
            if _is(comment, only):
                raise InfxError(f"This comment starts no verification: {why}")
        if not any(_is(comment, only) for comment in comments):
            raise InfxError(
                f"#{only.pull_number} has no {only.kind} {only.id}.", hint="Copy its whole address."
            )
        raise InfxError(
            "This comment is no sign-off.", hint="Its first paragraph starts with the policy's phrase."
        )


def _is(comment: Comment, reference: CommentReference) -> bool:
    return (comment.kind, comment.id) == (reference.kind, reference.id)


def list_strangers(comments: Sequence[Comment], policy: Policy) -> tuple[str, ...]:
    """Logins of those whose role is to be known before what they wrote is parsed: a parser takes seconds for what is
    made to be slow.
    """
    outdated = find_outdated(comments)
    return tuple(
        dict.fromkeys(
            comment.author.login
            for comment in comments
            if _is_strange(comment)
            and (
                (holds_phrase(comment.body, policy.signoff.phrase) and not _is_outdated(comment, outdated))
                or _may_command(comment, policy)
            )
        )
    )


def read_said(comments: Sequence[Comment], policy: Policy, people: People) -> Said:
    """Parse a conversation. people: at least `list_strangers`."""
    outdated = find_outdated(comments)
    phrase = policy.signoff.phrase
    alike = sorted(
        (comment for comment in comments if holds_phrase(comment.body, phrase)),
        key=lambda comment: (comment.created_at, comment.id),
    )
    judged = [
        (
            comment,
            outdated[comment.id]
            if _is_outdated(comment, outdated)
            else find_refusal(comment, phrase)
            if _is_read(comment, people)
            else find_signer_refusal(people.get(comment.author.login.lower()), comment.author.login),
        )
        for comment in alike
    ]
    signers = dict.fromkeys(comment.author.login for comment, why in reversed(judged) if why is None)
    commands = tuple(comment for comment in comments if _is_command(comment, policy, people))
    settlers = dict.fromkeys(
        comment.author.login
        for comment in commands
        if parse_settlements(comment, policy.signoff.settle_command)
    )
    reusers = [command.comment.author.login for command in list_commands(commands, policy.reuse)]
    return Said(
        comments=tuple(comments),
        alike=tuple(judged),
        signers=tuple(signers)[:MAX_SIGNERS],
        commands=commands,
        settlers=tuple(settlers)[-MAX_COMMANDERS:],
        reusers=tuple(reusers[:MAX_COMMANDERS]),
    )


def select(said: Said, people: People, editors: Mapping[str, str]) -> SignoffSelection:
    """people: at least `said.signers`. editors: by node id, who edited a comment last."""
    signoffs: list[Comment] = []
    passed_over: list[tuple[Comment, str]] = []
    for comment, refusal in said.alike:
        login = comment.author.login
        signer = people.get(login.lower()) if login in said.signers else None
        why = refusal or find_signer_refusal(signer, login)
        if why is None:
            signoffs.append(comment)
        else:
            passed_over.append((comment, why))
    foreign = find_tampered_signoffs(signoffs, editors)
    return SignoffSelection(
        signoffs=tuple(s for s in signoffs if s not in [comment for comment, _ in foreign]),
        passed_over=(*passed_over, *foreign),
    )


def list_edited(
    signoffs: Sequence[Comment], comments: Sequence[Comment], policy: Policy
) -> tuple[Comment, ...]:
    """Sign-offs, and our own comments about them, that somebody has edited: whoever may write here may edit every
    comment. GitHub's list of reviews does not even tell that one was edited.
    """
    ours = [own for s in signoffs if (own := find_our_comment(comments, s, policy))]
    return tuple(
        comment
        for comment in (*signoffs, *ours)
        if comment.kind is CommentKind.REVIEW or comment.updated_at != comment.created_at
    )


def _is_strange(comment: Comment) -> bool:
    return len(comment.body) > MAX_STRANGE and comment.author.is_human


def _is_read(comment: Comment, people: People) -> bool:
    """Not a long one by somebody who may not write here."""
    if not _is_strange(comment):
        return True
    author = people.get(comment.author.login.lower())
    return author is not None and author.can_write


def _is_outdated(comment: Comment, outdated: Mapping[int, str]) -> bool:
    return comment.kind is CommentKind.REVIEW and comment.id in outdated


def _may_command(comment: Comment, policy: Policy) -> bool:
    if comment.kind is not CommentKind.ISSUE or is_ours(comment.author, policy.identities):
        return False
    words = (policy.signoff.settle_command, *policy.reuse.commands)
    return comment.author.is_human and any(word in comment.body for word in words)


def _is_command(comment: Comment, policy: Policy, people: People) -> bool:
    if not _may_command(comment, policy) or not _is_read(comment, people):
        return False
    settles = bool(parse_settlements(comment, policy.signoff.settle_command))
    return settles or find_command(comment.body, policy.reuse.commands) is not None

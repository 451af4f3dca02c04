"""Parse a conversation: which comments are sign-offs, which contain commands, and whose role must be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from infx.errors import InfxError
from infx.evidence.settle import parse_settlements
from infx.markdown import MAX_UNTRUSTED
from infx.model import Collaborator, Comment, CommentKind, CommentReference
from infx.policy.identity import is_identity
from infx.policy.model import Policy
from infx.records import record
from infx.reuse.command import find_command
from infx.signoff.checklist import has_phrase
from infx.signoff.record import find_verdict_comment
from infx.signoff.request import find_outdated, find_refusal, find_signer_refusal, find_tampered_signoffs

MAX_SIGNOFFS = 10  # of one pull request that are assessed, newest first
MAX_SIGNERS = 12  # whose role is read, newest first
MAX_COMMANDERS = 12  # who settle checks, whose role is read

People = Mapping[str, Collaborator]  # by lower-case login; only people whose role was read


@record
class ParsedConversation:
    """The sign-offs and commands of a conversation."""

    comments: tuple[Comment, ...]
    # Comments that look like sign-offs, oldest first, each with the reason for rejecting its text or kind.
    candidates: tuple[tuple[Comment, str | None], ...]
    signers: tuple[str, ...]  # authors of candidates without such a reason, newest first
    commands: tuple[Comment, ...]  # comments that contain commands
    settlers: tuple[str, ...]  # authors of settle commands, in the order in which to read their roles


@record
class SignoffSelection:
    """The sign-offs of a conversation that count, and the comments that only look like sign-offs."""

    signoffs: tuple[Comment, ...]  # by people who may sign, oldest first
    passed_over: tuple[tuple[Comment, str], ...]  # each with the reason for rejecting it

    def choose(self, only: CommentReference | None) -> tuple[Comment, ...]:
        """Return the sign-offs to assess. Verdicts on the other sign-offs stay as they are."""
        newest = self.signoffs[-MAX_SIGNOFFS:]
        return tuple(s for s in self.signoffs if s in newest or (only and _is(s, only)))

    def require(self, only: CommentReference, comments: Iterable[Comment]) -> None:
        """Raise InfxError with the reason if a comment is not a valid sign-off."""
        if any(_is(signoff, only) for signoff in self.signoffs):
            return
        for comment, why in self.passed_over:
            if _is(comment, only):
                raise InfxError(f"This comment is not verified: {why}")
        if not any(_is(comment, only) for comment in comments):
            raise InfxError(
                f"#{only.pull_number} has no {only.kind} {only.id}.", hint="Copy the comment's full address."
            )
        raise InfxError(
            "This comment is not a sign-off.", hint="A sign-off starts with the phrase of the checklist."
        )


def _is(comment: Comment, reference: CommentReference) -> bool:
    return (comment.kind, comment.id) == (reference.kind, reference.id)


def list_long_comment_authors(comments: Sequence[Comment], policy: Policy) -> tuple[str, ...]:
    """Return the authors of long comments, whose roles must be known before these comments are parsed.

    The Markdown parser takes seconds for a text that is made to be slow.
    """
    outdated = find_outdated(comments)
    return tuple(
        dict.fromkeys(
            comment.author.login
            for comment in comments
            if _is_long(comment)
            and (
                (has_phrase(comment.body, policy.signoff.phrase) and not _is_outdated(comment, outdated))
                or _may_command(comment, policy)
            )
        )
    )


def parse_conversation(comments: Sequence[Comment], policy: Policy, people: People) -> ParsedConversation:
    """Parse a conversation. people: at least those of `list_long_comment_authors`."""
    outdated = find_outdated(comments)
    phrase = policy.signoff.phrase
    similar = sorted(
        (comment for comment in comments if has_phrase(comment.body, phrase)),
        key=lambda comment: (comment.created_at, comment.id),
    )
    judged = [
        (
            comment,
            outdated[comment.id]
            if _is_outdated(comment, outdated)
            else find_refusal(comment, phrase)
            if _may_parse(comment, people)
            else find_signer_refusal(people.get(comment.author.login.lower()), comment.author.login),
        )
        for comment in similar
    ]
    signers = dict.fromkeys(comment.author.login for comment, why in reversed(judged) if why is None)
    commands = tuple(comment for comment in comments if _is_command(comment, policy, people))
    settlers = dict.fromkeys(
        comment.author.login
        for comment in commands
        if parse_settlements(comment, policy.signoff.settle_command)
    )
    return ParsedConversation(
        comments=tuple(comments),
        candidates=tuple(judged),
        signers=tuple(signers)[:MAX_SIGNERS],
        commands=commands,
        settlers=tuple(settlers)[-MAX_COMMANDERS:],
    )


def select_signoffs(
    conversation: ParsedConversation, people: People, editors: Mapping[str, str]
) -> SignoffSelection:
    """Select the sign-offs that count.

    people: at least the conversation's signers. editors: who edited a comment last, by node id.
    """
    signoffs: list[Comment] = []
    passed_over: list[tuple[Comment, str]] = []
    for comment, refusal in conversation.candidates:
        login = comment.author.login
        signer = people.get(login.lower()) if login in conversation.signers else None
        why = refusal or find_signer_refusal(signer, login)
        if why is None:
            signoffs.append(comment)
        else:
            passed_over.append((comment, why))
    tampered = find_tampered_signoffs(signoffs, editors)
    return SignoffSelection(
        signoffs=tuple(s for s in signoffs if s not in [comment for comment, _ in tampered]),
        passed_over=(*passed_over, *tampered),
    )


def find_edited_comments(
    signoffs: Sequence[Comment], comments: Sequence[Comment], policy: Policy
) -> tuple[Comment, ...]:
    """Return the sign-offs, and infx's comments on them, that were edited or may have been.

    Everyone with write access may edit any comment.
    """
    verdicts = [own for s in signoffs if (own := find_verdict_comment(comments, s, policy))]
    return tuple(
        comment
        for comment in (*signoffs, *verdicts)
        # GitHub's list of reviews does not show whether a review was edited.
        if comment.kind is CommentKind.REVIEW or comment.updated_at != comment.created_at
    )


def _is_long(comment: Comment) -> bool:
    return len(comment.body) > MAX_UNTRUSTED and comment.author.is_human


def _may_parse(comment: Comment, people: People) -> bool:
    """Return whether a comment is short or its author has write access."""
    if not _is_long(comment):
        return True
    author = people.get(comment.author.login.lower())
    return author is not None and author.can_write


def _is_outdated(comment: Comment, outdated: Mapping[int, str]) -> bool:
    return comment.kind is CommentKind.REVIEW and comment.id in outdated


def _may_command(comment: Comment, policy: Policy) -> bool:
    if comment.kind is not CommentKind.ISSUE or is_identity(comment.author, policy.identities):
        return False
    words = (policy.signoff.settle_command, *policy.reuse.commands)
    return comment.author.is_human and any(word in comment.body for word in words)


def _is_command(comment: Comment, policy: Policy, people: People) -> bool:
    if not _may_command(comment, policy) or not _may_parse(comment, people):
        return False
    settles = bool(parse_settlements(comment, policy.signoff.settle_command))
    return settles or find_command(comment.body, policy.reuse.commands) is not None

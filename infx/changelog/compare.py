"""A changelog beside its base: what was appended, and which past entries are no longer what they were.

An append is seen by comparing bytes, so that it costs the same whatever the history. Only a head that does not
start with its base is cut into chunks of text, at lines that start an item in the first column, and aligned.
"""

from __future__ import annotations

from infx.changelog.comparison import Comparison


def complete(data: bytes) -> bytes:
    """With a final newline: some histories lost theirs, and an append gives it back."""
    return data if not data or data.endswith(b"\n") else data + b"\n"


def compare(base: bytes, head: bytes) -> Comparison:
    base = complete(base)
    if head.startswith(base):
        return Comparison(base=base, head=head, appended=len(base))
    if head == base[:-1] and not head.endswith(b"\n"):
        return Comparison(base=base, head=head, appended=len(head))
    from infx.changelog.align import align  # most heads are appends

    return align(base, head)


def accept_corrections(comparison: Comparison) -> Comparison:
    """The same head beside a base that has the corrected links already."""
    base, position = b"", 0
    for change in comparison.changes:
        if change.head is not None:
            base += comparison.base[position : change.base.start] + change.head.content
            position = change.base.end
    return compare(base + comparison.base[position:], comparison.head)

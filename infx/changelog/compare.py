"""Compare a changelog with its base: find the appended text and the past entries that changed.

Comparing bytes is enough to find an append, so that the cost does not grow with history. Only a head that does not
start with its base is split into chunks, at lines that start an item in the first column, and aligned.
"""

from __future__ import annotations

from infx.changelog.comparison import Comparison


def complete(data: bytes) -> bytes:
    """Return the data with a final newline."""
    # Some past versions lack it, and an append adds it.
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
    """Compare the same head with a base that already contains the corrected links."""
    base, position = b"", 0
    for change in comparison.changes:
        if change.head is not None:
            base += comparison.base[position : change.base.start] + change.head.content
            position = change.base.end
    return compare(base + comparison.base[position:], comparison.head)

"""Render how the results of a sweep compare with the published ones, for the comment with results.

The comment carries the numbers in an HTML comment too. A later pass renders the section from them, so that it needs no
request for a sweep that the comment has shown already, also when the sweep's artifacts have expired.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from infx.comments.languages import join_inline, words
from infx.policy.model import Language
from infx.results.artifact import ArtifactFile
from infx.results.compare_digest import (
    ComparisonDigest,
    describe_digest,
    parse_digest,
    render_digest,
    render_large_changes,
)

_TITLE = words("Compared with published results", "与已发布结果对比")
_HEADS = (
    words("result", "结果"),
    words("metric", "指标"),
    words("this sweep", "本次"),
    words("baseline", "基线"),
    words("change", "变化"),
)
_LARGEST = words("Largest changes", "变化最大的结果")


def render_comparison(digest: ComparisonDigest | None, languages: Sequence[Language]) -> str:
    """Return the counts, and a folded table of the largest changes; "" without a comparison.

    The counts are only in the first language because they are mostly numbers.
    """
    if digest is None or not (digest.rows or digest.refused or digest.store_failed):
        return ""
    text = f"**{join_inline(_TITLE, languages)}** — {describe_digest(digest)}"
    if digest.store_failed:
        text += " The summary of the job that collected the results says why."
    hidden = _hide(digest)
    first, second, third, fourth, fifth = (join_inline(head, languages, " ") for head in _HEADS)
    if not (changes := render_large_changes(digest, (first, second, third, fourth, fifth))):
        return f"{text}\n\n{hidden}"
    summary = f"<summary>{join_inline(_LARGEST, languages)} ({len(digest.largest)})</summary>"
    return "\n".join([text, "", "<details>", summary, "", changes, "", "</details>", "", hidden])


_HIDDEN = re.compile(r"^<!-- comparison (\{.*\}) -->\r?$", re.MULTILINE)


def _hide(digest: ComparisonDigest) -> str:
    """Return the numbers as an HTML comment, which no text in them can end."""
    text = json.dumps(render_digest(digest), separators=(",", ":"))
    for character in "<>&@":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return f"<!-- comparison {text} -->"


def find_hidden(body: str) -> ComparisonDigest | None:
    """Return the numbers that the body of a comment carries; None if it carries none."""
    matches = _HIDDEN.findall(body)
    return parse_digest(ArtifactFile(path="comment", data=matches[-1].encode())) if matches else None

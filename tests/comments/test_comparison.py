"""The section of the comment with results that compares them with published ones."""

from __future__ import annotations

import cmarkgfm
import pytest

from infx.comments.comparison import find_hidden, render_comparison
from infx.policy.model import Language
from infx.results.compare_digest import (
    MAX_LARGEST,
    MAX_TEXT,
    ComparisonDigest,
    LargeChange,
    SavedChange,
    make_digest,
)
from tests.results.comparisons import compare_results, result

ENGLISH = (Language.ENGLISH,)
BOTH = (Language.ENGLISH, Language.CHINESE)
CHANGE = SavedChange(metric="TPUT/GPU", value=120.0, baseline=100.0)
DIGEST = ComparisonDigest(
    rows=2, compared=1, better=1, largest=(LargeChange(row="m1 c64", changes=(CHANGE,)),)
)


def test_the_whole_section() -> None:
    assert (
        render_comparison(DIGEST, ENGLISH)
        == """\
**Compared with published results** — 1 of 2 results have a published baseline; throughput per GPU: 1 better; 1 without a baseline.

<details>
<summary>Largest changes (1)</summary>

| result | metric | this sweep | baseline | change |
| :-- | :-- | --: | --: | :-- |
| `m1 c64` | TPUT/GPU | 120 | 100 | 🟢 +20.00 (+20.0%) |

</details>

<!-- comparison {"rows":2,"compared":1,"refused":0,"better":1,"worse":0,"equal":0,"store-failed":false,"largest":[{"row":"m1 c64","changes":[{"metric":"TPUT/GPU","value":120.0,"baseline":100.0}]}]} -->"""
    )


def test_both_languages() -> None:
    text = render_comparison(DIGEST, BOTH)
    assert "与已发布结果对比" in text
    assert "| result 结果 | metric 指标 |" in text


@pytest.mark.parametrize("digest", [None, ComparisonDigest(rows=0, compared=0)])
def test_nothing_to_compare_has_no_section(digest: ComparisonDigest | None) -> None:
    assert render_comparison(digest, ENGLISH) == ""


def test_a_comment_carries_the_numbers() -> None:
    digest = make_digest(compare_results([result(tput_per_gpu=1 / 3), result(tp=None)], result()))
    body = f"before\n\n{render_comparison(digest, BOTH)}\n\nafter\n"
    assert find_hidden(body) == digest
    assert find_hidden(body.replace("\n", "\r\n")) == digest
    assert find_hidden("<!-- comparison {} -->") is None
    assert find_hidden("no section") is None


HOSTILE = "@octocat --> <img src=x> <!-- `x` | #1 https://x.test &amp; \n\n<!-- /x -->"


def test_hostile_texts_of_an_artifact_stay_text() -> None:
    digest = ComparisonDigest(rows=1, compared=1, largest=(LargeChange(row=HOSTILE, changes=(CHANGE,)),))
    text = render_comparison(digest, ENGLISH)
    html = cmarkgfm.github_flavored_markdown_to_html(text, options=1 << 17)  # with HTML
    visible = "".join(part.split("-->")[-1] for part in html.split("<!--"))
    assert "<img" not in visible
    assert "<a" not in visible
    outside_code = "".join(part.split("</code>")[-1] for part in visible.split("<code>"))
    assert "@octocat" not in outside_code
    assert find_hidden(text) == digest


def test_the_section_is_bounded() -> None:
    """Every character of a hidden text may need six."""
    large = LargeChange(row="<" * MAX_TEXT, changes=(CHANGE, CHANGE))
    digest = ComparisonDigest(rows=1, compared=1, largest=(large,) * MAX_LARGEST)
    assert len(render_comparison(digest, BOTH)) < 20_000

"""One HTML file with charts, which runs its own scripts only and requests nothing.

A content security policy allows exactly the scripts and styles of the file, by their hashes. So markup in a name, which
escaping should have stopped already, could not run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from infx.page.chart import ChartLine, render_data
from infx.records import record

MAX_BYTES = 6_000_000  # of a page
_DATA = Path(__file__).with_name("data")


@record
class ChartPage:
    """A page with charts.

    Attributes:
        body: HTML, with the elements of `render_chart`.
        sets: the lines of the charts, by the names that the elements have.
        style: the style sheet of the body, which follows that of the charts.
        script: of the page, which runs before the charts are drawn for the first time.
    """

    title: str
    body: str
    sets: Mapping[str, Sequence[ChartLine]]
    style: str = ""
    script: str = ""


def render_chart_page(page: ChartPage, library: str) -> str:
    """Return the HTML file. library: from `read_library`."""
    style = (_DATA / "charts.css").read_text(encoding="utf-8") + page.style
    before, after = ((_DATA / name).read_text(encoding="utf-8") for name in ("before.js", "charts.js"))
    scripts = (before, library, after, *([page.script] if page.script else []))
    assert not any("</script" in script.lower() or "<!--" in script for script in scripts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_render_policy(scripts, (style, ""))}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(page.title)}</title><style>{style}</style></head><body>{page.body}"
        f'<script type="application/json" id="chart-data">{render_data(page.sets)}</script>'
        f"{''.join(f'<script>{script}</script>' for script in scripts)}</body></html>\n"
    )


def _render_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """Return the policy. The library writes its rules into a style sheet that is empty at first."""
    return (
        f"default-src 'none'; script-src {' '.join(map(_hash, scripts))}; style-src {' '.join(map(_hash, styles))}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

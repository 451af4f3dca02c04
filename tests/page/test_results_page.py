"""The page with results as HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import unescape
from html.parser import HTMLParser
from typing import Any

import pytest

from infx.page.document import MAX_BYTES
from infx.page.facts import PageFacts
from infx.page.library import read_library
from infx.page.lines import make_lines
from infx.page.results_page import render_results_page
from infx.policy.model import ResultLink
from infx.records import replace
from infx.results.collect import RowState
from tests.page.made import HOSTILE, make_large_facts, make_planned, make_point, make_scores
from tests.results.comparisons import compare_results

LIBRARY = "var Plotly;"


class Elements(HTMLParser):
    """The names and attributes of all elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def make_facts(**changes: Any) -> PageFacts:
    points = [make_point(conc) for conc in (4, 8, 32)]
    published = [{**point, "tput_per_gpu": point["tput_per_gpu"] / 2} for point in points[:2]]
    facts = PageFacts(
        comparison=compare_results(points, *published),
        planned=(
            *(make_planned(point, RowState.PRESENT) for point in points),
            make_planned(make_point(16), RowState.FAILED, "server: CUDA out of memory"),
        ),
        scores=make_scores({"score": 0.95}, {"score": 0.8}),
        run=301,
        links=(ResultLink(text="View", short="performance", url="https://bench.test/{run}"),),
    )
    return replace(facts, **changes)


def read_data(html: str) -> list[dict[str, object]]:
    match = re.search(r'<script type="application/json" id="chart-data">(.*?)</script>', html)
    assert match is not None
    lines: list[dict[str, object]] = json.loads(match[1])["sets"]["results"]
    return lines


def read_cells(html: str, table: str) -> list[list[str]]:
    body = html.partition(f'<table id="{table}">')[2].partition("</table>")[0].partition("<tbody>")[2]
    return [
        [unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in body.split("</tr>")[:-1]
    ]


def test_the_line_has_a_gap_at_the_failed_row() -> None:
    (line,) = read_data(render_results_page(make_facts(), LIBRARY))
    assert (line["name"], line["missing"]) == ("b200 vllm fp4", [16])
    assert line["frontier"]["interactivity"] == [[0, 1], [2]]  # type: ignore[index]  # 4 and 8, then 32
    assert line["groups"] == {"model": "m1", "lengths": "1k1k", "hardware": "b200"}


def test_the_tables_say_the_same_without_scripts() -> None:
    html = render_results_page(make_facts(), LIBRARY)
    assert read_cells(html, "incomplete") == [["✕ failed", "m1 b200 vllm c16", "server: CUDA out of memory"]]
    first, _, last = read_cells(html, "points")
    assert first[:8] == [
        "m1",
        "1k1k",
        "b200",
        "vllm fp4",
        "tp4",
        "4",
        f"{make_point(4)['tput_per_gpu']:.5g}",
        "▲ +100.0%",
    ]
    assert first[-1] == "run 1, 2026-08-02"
    assert (last[5], last[7], last[-1]) == ("32", "", "none")
    assert [row[:3] for row in read_cells(html, "scores")] == [
        ["✕ not reached", "dsr1 b200 vllm fp4", "gsm8k"],
        ["✓ reached", "dsr1 b200 vllm fp4", "gsm8k"],
    ]
    assert "<noscript><p>The charts need scripts" in html


def test_the_head_counts_rows_and_changes() -> None:
    html = render_results_page(make_facts(), LIBRARY)
    assert "<h1>Results of run 301</h1>" in html
    assert (
        "<p>3 of 4 planned rows complete, 1 failed. 2 of 3 results have a published baseline; throughput per GPU: 2 better; "
        "1 without a baseline.</p>" in html
    )


def test_the_policy_allows_the_scripts_and_styles_of_the_page_only() -> None:
    html = render_results_page(make_facts(), LIBRARY)
    match = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert match is not None
    rules = dict(rule.strip().split(" ", 1) for rule in match[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert not {"unsafe-inline", "unsafe-eval", "http:", "https:", "data:", "*"} & set(
        re.findall(r"[\w*:-]+", match[1])
    )
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", html, re.DOTALL) + ([""] if tag == "style" else [])
        hashes = {
            f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" for text in texts
        }
        assert set(rules[rule].split()) == hashes


def test_only_https_links_of_the_policy_are_shown() -> None:
    links = tuple(
        ResultLink(text="x", short="x", url=url)
        for url in ("http://a.test/{run}", "javascript:{run}", "https://b.test")
    )
    shown = [
        attrs["href"]
        for tag, attrs in Elements(render_results_page(make_facts(links=links), LIBRARY)).found
        if tag == "a"
    ]
    assert shown == ["https://b.test"]
    assert "<a" not in render_results_page(make_facts(run=None), LIBRARY)


def test_hostile_texts_make_no_elements() -> None:
    point = make_point(4, infmax_model_prefix=HOSTILE, hw=HOSTILE, framework=HOSTILE, precision=HOSTILE)
    facts = make_facts(
        comparison=compare_results([point]),
        planned=(make_planned(point, RowState.FAILED, HOSTILE),),
        scores=make_scores({"hw": HOSTILE, "task": HOSTILE, "error": HOSTILE, "score": 0.5}),
    )
    usual, hostile = (Elements(render_results_page(shown, LIBRARY)).found for shown in (make_facts(), facts))
    assert {tag for tag, _ in hostile} <= {tag for tag, _ in usual}
    assert sum(tag == "script" for tag, _ in hostile) == sum(tag == "script" for tag, _ in usual)
    names = {name for _, attrs in hostile for name in attrs}
    assert not {name for name in names if name.startswith("on")}
    assert HOSTILE[:20] in str(read_data(render_results_page(facts, LIBRARY)))


@cache
def large() -> PageFacts:
    return make_large_facts()


def test_a_large_sweep_fits_completely() -> None:
    html = render_results_page(large(), read_library())
    assert len(html.encode()) <= MAX_BYTES
    assert "did not fit" not in html
    assert sum(len(line["points"]) for line in read_data(html)) == len(large().comparison.rows) >= 1800  # type: ignore[arg-type, misc]  # lists


def test_tables_are_cut_before_charts() -> None:
    """The library leaves room for the lines, and for some rows of the tables."""
    html = render_results_page(large(), "x" * (MAX_BYTES - 800_000))
    assert len(html.encode()) <= MAX_BYTES
    assert re.search(r"[\d,]+ more rows did not fit", html)
    assert len(read_data(html)) == len(make_lines(large().comparison.rows, ()))


def test_a_page_with_hardly_any_room_says_what_it_leaves_out() -> None:
    html = render_results_page(large(), "x" * (MAX_BYTES - 150_000))
    assert len(html.encode()) <= MAX_BYTES
    assert "more lines did not fit into this page" in html


def test_long_hostile_names_fit_too() -> None:
    """Escapes make a text up to six times as long."""
    points = [
        make_point(4, framework=f"{number}{'<' * 150}", hw=f"{'&' * 150}{number}") for number in range(900)
    ]
    facts = PageFacts(
        comparison=compare_results(points),
        planned=tuple(make_planned(point, RowState.FAILED, '"' * 1000) for point in points),
        scores=make_scores(
            *({"task": "'" * 500, "error": "<" * 900, "conc": number} for number in range(900))
        ),
    )
    html = render_results_page(facts, "x" * 4_800_000)
    assert len(html.encode()) <= MAX_BYTES


def test_a_sweep_without_results_shows_its_errors() -> None:
    planned = (make_planned(make_point(4), RowState.MISSING, "no artifact bmk_1"),)
    html = render_results_page(PageFacts(comparison=compare_results([]), planned=planned, scores=()), LIBRARY)
    assert "<h1>Results</h1>" in html
    assert read_cells(html, "incomplete") == [["○ missing", "m1 b200 vllm c4", "no artifact bmk_1"]]


def test_the_library_is_free_of_what_would_end_its_element() -> None:
    """The hash of a script that a browser reads differently would not match."""
    with pytest.raises(AssertionError):
        render_results_page(make_facts(), "x = '</script>'")
    assert "</script" not in read_library().lower()

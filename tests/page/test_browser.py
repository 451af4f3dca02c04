"""The page with results in a real browser, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infx.page.facts import PageFacts
from infx.page.library import read_library
from infx.page.results_page import render_results_page
from infx.results.collect import RowState
from tests.chromium import Page, find_chromium, open_browser
from tests.page.made import HOSTILE, make_large_facts, make_planned, make_point, make_scores
from tests.results.comparisons import compare_results

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium on this machine; .ci/run installs it"
)
SECONDS = 2.0  # in which a page of 1,820 rows must be usable


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    assert CHROMIUM is not None
    with open_browser(CHROMIUM) as page:
        yield page


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("page"), make_large_facts())


def write(folder: Path, facts: PageFacts) -> Path:
    file = folder / "results_page.html"
    file.write_text(render_results_page(facts, read_library()), encoding="utf-8")
    return file


def show(browser: Page, file: Path, width: int = 1300, theme: str = "light") -> None:
    """Open a page and wait until its charts are drawn."""
    browser.resize(width, 900)
    browser.set_theme(theme)
    browser.open(file)
    browser.run("infxCharts.drawn")


def read_lines(browser: Page) -> list[Any]:
    """Return the x values of each drawn line of the first chart, without those of the baseline."""
    lines: list[Any] = browser.run(
        "document.querySelector('.plot').data.filter(({mode, line}) => mode === 'lines' && line.dash === 'solid').map(({x}) => x)"
    )
    return lines


def count_points(browser: Page) -> int:
    number: int = browser.run("document.querySelectorAll('.plot')[0].querySelectorAll('.points path').length")
    return number


def change(browser: Page, name: str, value: object) -> None:
    """Change a filter like a person, and wait until the charts are drawn."""
    kind = "checked" if isinstance(value, bool) else "value"
    browser.run(
        f"(() => {{ const field = document.querySelector('[name={name}]'); field.{kind} = {str(value).lower() if kind == 'checked' else repr(value)};"
        "field.dispatchEvent(new Event('input', {bubbles: true})); field.dispatchEvent(new Event('change', {bubbles: true}));"
        "return infxCharts.redraw(); })()"
    )


def measure(file: Path) -> float:
    """Return the seconds of the page's thread until the charts are drawn, in a new browser; other processes do not count."""
    assert CHROMIUM is not None
    with open_browser(CHROMIUM) as browser:
        browser.send("Performance.enable", timeDomain="threadTicks")
        show(browser, file)
        metrics = {item["name"]: item["value"] for item in browser.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


@pytest.mark.parametrize("factor", [pytest.param(1, marks=pytest.mark.nightly), 2], ids=["idle", "busy"])
def test_a_large_page_is_usable_within_two_seconds(large: Path, factor: int) -> None:
    """A machine that also runs other tests, or an older one, may take twice the time."""
    assert any(measure(large) < factor * SECONDS for _ in range(3))


def test_a_page_requests_nothing_and_reports_no_error(browser: Page, large: Path) -> None:
    show(browser, large)
    assert browser.list_requests() == [large.as_uri()]
    assert browser.list_errors() == []
    assert browser.run("document.querySelectorAll('.plot svg').length") > 0


def test_filters_and_switches(browser: Page, large: Path) -> None:
    show(browser, large)
    every = count_points(browser)
    change(browser, "hardware", "b300")
    assert browser.run("document.querySelector('.chart-legend').textContent") == "Lines▲ b300 sglang fp4"
    some = count_points(browser)
    assert 0 < some < every
    assert (
        browser.run("document.getElementById('shown').textContent") == "27"
    )  # three layouts at nine concurrencies
    change(browser, "dominated", False)
    assert 0 < count_points(browser) < some
    browser.run("document.querySelector('.chart-legend input').click()")
    assert browser.run("document.querySelector('.plot').hidden")
    browser.run("document.querySelector('.chart-legend input').click()")
    change(browser, "words", "nothing has this name")
    assert browser.run("document.querySelector('.none').hidden") is False
    change(browser, "words", "")
    change(browser, "latency", "ttft")
    assert "(ms)" in browser.run("document.querySelectorAll('.plot')[1].layout.xaxis.title.text")
    assert browser.list_errors() == []


def test_a_line_has_a_gap_where_rows_did_not_run(browser: Page, tmp_path: Path) -> None:
    points = [make_point(conc) for conc in (4, 8, 32, 64)]
    failed = make_planned(make_point(16), RowState.FAILED, "x")
    show(
        browser, write(tmp_path, PageFacts(comparison=compare_results(points), planned=(failed,), scores=()))
    )
    numbers = [point["median_intvty"] for point in points]
    assert read_lines(browser) == [[*numbers[:2], None, *numbers[2:]]]


def test_the_table_is_read_when_it_is_opened(browser: Page, large: Path) -> None:
    show(browser, large)
    assert browser.run("document.getElementById('points')") is None
    browser.run(
        "new Promise((done) => { const all = document.getElementById('all'); all.addEventListener('toggle', done); all.open = true; })"
    )
    rows = "[...document.querySelectorAll('#points tr[data-line]')]"
    assert browser.run(f"{rows}.length") >= 1800
    change(browser, "hardware", "b300")
    assert browser.run(f"{rows}.filter((row) => !row.hidden).length") == 27


def test_the_keyboard_reads_points(browser: Page, large: Path) -> None:
    show(browser, large)
    browser.run("document.querySelector('.plot').focus()")
    browser.press("ArrowRight")
    first = browser.run("document.querySelector('.tip').textContent")
    assert first.startswith("b200 trt fp4\ntp4, concurrency 4\nThroughput per GPU: ")
    browser.press("ArrowLeft")
    last = browser.run("document.querySelector('.tip').textContent")  # the points of the baseline come last
    assert last.startswith("mi355x sglang fp4 (baseline)\n")
    browser.press("Escape")
    assert browser.run("document.querySelector('.tip').hidden")


def test_hovering_shows_a_point(browser: Page, tmp_path: Path) -> None:
    facts = PageFacts(comparison=compare_results([make_point(4), make_point(64)]), planned=(), scores=())
    show(browser, write(tmp_path, facts))
    place = browser.run(
        "(() => { const {left, top, width, height} = document.querySelector('.points path').getBoundingClientRect();"
        "return [left + width / 2, top + height / 2]; })()"
    )
    browser.run(
        "void (window.hovered = new Promise((done) => document.querySelector('.plot').on('plotly_hover', done)).then(() => 0))"
    )
    for nudge in (0, 1):  # the library compares a place with the place before
        browser.send("Input.dispatchMouseEvent", type="mouseMoved", x=place[0] + nudge, y=place[1])
    browser.run("hovered")
    assert "concurrency 4" in browser.run("document.querySelector('.tip').textContent")
    assert browser.run("document.querySelectorAll('.hoverlayer text').length") == 0


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_narrow_window_does_not_scroll_sideways(browser: Page, large: Path, theme: str) -> None:
    show(browser, large, width=390, theme=theme)
    assert browser.run("document.documentElement.scrollWidth") == 390
    ground, text = (
        browser.run(f"getComputedStyle(document.body).{name}") for name in ("backgroundColor", "color")
    )
    assert (sum(map(int, ground[4:-1].split(","))) > 380) is (theme == "light")
    assert browser.run("document.querySelector('.plot').layout.font.color") == text
    browser.run("document.getElementById('theme').click()")
    assert browser.run("getComputedStyle(document.body).backgroundColor") != ground
    assert browser.list_errors() == []


def test_hostile_texts_are_inert(browser: Page, tmp_path: Path) -> None:
    names: dict[str, Any] = {
        "infmax_model_prefix": HOSTILE,
        "hw": "<a href='https://x.test'>x</a>",
        "framework": HOSTILE,
        "precision": "&lt;b&gt;",
    }
    points = [make_point(conc, **names) for conc in (4, 8)]
    facts = PageFacts(
        comparison=compare_results(points, points[0]),
        planned=(
            make_planned(
                make_point(16, **names), RowState.FAILED, f"{HOSTILE} <a href='javascript:alert(1)'>x</a>"
            ),
        ),
        scores=make_scores({"task": HOSTILE, "error": HOSTILE, "score": 0.5}),
    )
    show(browser, write(tmp_path, facts))
    browser.run(
        "new Promise((done) => { const all = document.getElementById('all'); all.addEventListener('toggle', done); all.open = true; })"
    )
    browser.run("document.querySelector('.plot').focus()")
    browser.press("ArrowRight")
    assert (
        "<a href='https://x.test'>x</a>" in browser.run("document.querySelector('.tip').textContent").lower()
    )
    assert browser.run("document.querySelectorAll('img, a, b').length") == 0
    assert HOSTILE.lower() in browser.run("document.querySelector('.chart-legend').textContent").lower()
    assert browser.list_errors() == []
    assert len(browser.list_requests()) == 1


def test_without_scripts_the_tables_are_there(browser: Page, tmp_path: Path) -> None:
    facts = PageFacts(
        comparison=compare_results([make_point(4)]), planned=(), scores=make_scores({"score": 0.5})
    )
    file = write(tmp_path, facts)
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.resize(390, 800)
        browser.open(file)
        text = browser.run("document.body.innerText")
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)
    assert "The charts need scripts" in text
    assert "vllm fp4" in text
    assert "Dark or light" not in text

"""The demo's page in a real browser: no errors, no requests, no line that is wider than the window, keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from infx.demo.play import Play
from tests.chromium import Page, find_chromium, open_browser

CHROMIUM = find_chromium()
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium on this machine; .ci/run installs it"
)


@pytest.fixture(scope="module")
def file(played: Play, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "demo.html"
    path.write_text(played.page(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    assert CHROMIUM is not None
    with open_browser(CHROMIUM) as page:
        yield page


@pytest.mark.parametrize(
    ("width", "theme"), [(1440, "light"), (1440, "dark"), (1100, "light"), (390, "dark")]
)
def test_the_page_is_drawn_without_errors_and_requests_nothing(
    browser: Page, file: Path, width: int, theme: str
) -> None:
    browser.resize(width, 900)
    browser.set_theme(theme)
    browser.open(file)
    browser.run("infxCharts.drawn")
    assert browser.list_errors() == []
    assert browser.list_requests() == [file.as_uri()]
    assert browser.run("document.documentElement.scrollWidth") == width
    grounds = {"light": "rgb(255, 255, 255)", "dark": "rgb(13, 17, 23)"}
    assert browser.run("getComputedStyle(document.body).backgroundColor") == grounds[theme]


def test_the_charts_show_every_published_result(browser: Page, file: Path, played: Play) -> None:
    """Both charts have the same points; an axis that a result has not would leave it out."""
    browser.open(file)
    browser.run("infxCharts.drawn")
    points = browser.run(
        "[...document.querySelectorAll('.plot')].map(plot => plot.querySelectorAll('.points path').length)"
    )
    assert points == [sum(len(merge.rows) for merge in played.stage.merges)] * 2


def test_the_first_screen_has_the_whole_story_of_a_pull_request(browser: Page, file: Path) -> None:
    """On a laptop's window, without scrolling: the totals, the grid's head, and every problem of the first pull request."""
    browser.resize(1440, 900)
    browser.open(file)
    bottoms = browser.run(
        "[...document.querySelectorAll('.totals, .grid thead, .grid tbody')].map(e => e.getBoundingClientRect().bottom)"
    )
    totals, head, *pulls = bottoms
    assert totals < head < pulls[0] < pulls[1] < 900


def test_the_page_works_by_keyboard(browser: Page, file: Path) -> None:
    """The first tab stop skips the navigation, a mark leads to its step, and comments are opened and closed."""
    browser.open(file)
    browser.press("Tab", windowsVirtualKeyCode=9)
    assert browser.run("document.activeElement.getAttribute('href')") == "#scenes"
    browser.run("document.querySelector('a.mark').focus()")
    browser.press("Enter", windowsVirtualKeyCode=13, text="\r")
    target = browser.run("document.querySelector(':target').id")
    assert browser.run("document.querySelector('a.mark').getAttribute('href')") == f"#{target}"
    closed = "[...document.querySelectorAll('.comment details')].find(details => !details.open)"
    browser.run(f"window.folded = {closed}; folded.querySelector('summary').focus()")
    browser.press("Enter", windowsVirtualKeyCode=13, text="\r")
    assert browser.run("folded.open") is True

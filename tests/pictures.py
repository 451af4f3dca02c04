"""Make the pictures of the documentation: `make pictures`. It needs Chromium."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from infx.demo.play import play
from infx.page.library import read_library
from infx.page.results_page import render_results_page
from tests.chromium import find_chromium, open_browser
from tests.demo.quiet import Quiet
from tests.page.made import make_large_facts

DOCS = Path(__file__).parents[1] / "docs"


def render_page() -> str:
    return render_results_page(make_large_facts(), read_library())


def render_demo() -> str:
    with tempfile.TemporaryDirectory() as folder, play(Path(folder)) as story:
        story.begin(lambda _: None, Quiet())
        for act in story.scenes().values():
            act.play()
        return story.page()


# file → its HTML, and the size of the window
PICTURES: Mapping[str, tuple[Callable[[], str], tuple[int, int]]] = {
    "page.png": (render_page, (1180, 900)),
    "demo.png": (render_demo, (1440, 1120)),
}


def main() -> int:
    """Write each picture into docs."""
    chromium = find_chromium()
    if chromium is None:
        print("There is no Chromium on this machine.", file=sys.stderr)
        return 2
    with open_browser(chromium) as browser, tempfile.TemporaryDirectory() as folder:
        for name, (render, size) in PICTURES.items():
            file = Path(folder, "picture.html")
            file.write_text(render(), encoding="utf-8")
            browser.resize(*size)
            browser.set_theme("light")
            browser.open(file)
            browser.run("window.infxCharts?.drawn")
            (DOCS / name).write_bytes(browser.take_picture())
            print(f"Wrote docs/{name}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Check the demo's page: what its first screen says, and that every step shows what it wrote, as it was then."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape

import pytest

from infx.demo.overview import read_overview
from infx.demo.play import Play
from infx.demo.queue import FIRST, SECOND, THIRD

OFFLOAD, ARMS, DISAGG = 2996, 3028, 3405
PULLS = (OFFLOAD, ARMS, DISAGG, FIRST, SECOND, THIRD)


@pytest.fixture(scope="module")
def page(played: Play) -> str:
    """Return the page without its scripts."""
    return re.sub(r"<script.*?</script>", "", played.page(), flags=re.DOTALL)


def cut_steps(page: str) -> list[str]:
    """Return the HTML of each step."""
    return re.split(r'<div class="step" id="step-\d+">', page)[1:]


def find_marks(played: Play, head: str) -> dict[int, list[str]]:
    """Return the states of a column of the grid by pull request."""
    return {
        overview.pull.number: [outcome.state for outcome in dict(overview.columns)[head]]
        for overview in read_overview(played.stage)
    }


def test_the_grid_shows_how_the_changelog_was_checked(played: Play) -> None:
    """A and C begin with an invalid link. B's bot merges main, and every author who pushes is checked again."""
    marks = find_marks(played, "changelog")
    assert {number: states[0] for number, states in marks.items()} == {
        **dict.fromkeys(PULLS, "success"),
        OFFLOAD: "failure",
        DISAGG: "failure",
    }
    assert all(states[-1] == "success" for states in marks.values())


def test_the_grid_shows_when_the_gate_started_a_sweep(played: Play) -> None:
    """A: no label twice, two sweeps, a merge of main. B: no label, two labels. C: each time an approval was missing."""
    yes, no = "success", "none"
    assert find_marks(played, "gate") == {
        OFFLOAD: [no, no, yes, yes, no],
        ARMS: [no, no, yes, yes],
        DISAGG: [no, yes, no, yes],
        FIRST: [yes],
        SECOND: [yes, no],  # after infx merged main
        THIRD: [yes, no, no],
    }


def test_the_grid_shows_sweeps_sign_offs_and_merges(played: Play) -> None:
    """B's first sweep fails. Wrong owner in A, open item in B. The queue removes the second once, the third twice."""
    good, bad, wait = "success", "failure", "pending"
    assert find_marks(played, "sweep") == {
        OFFLOAD: [good, good],
        ARMS: [bad, good],
        DISAGG: [good, good],
        **{number: [good] for number in (FIRST, SECOND, THIRD)},
    }
    assert find_marks(played, "sign-off") == {
        OFFLOAD: [wait, bad, wait, good],
        ARMS: [wait, bad, wait, good],
        DISAGG: [wait, good],
        **{number: [good] for number in (FIRST, SECOND, THIRD)},
    }
    assert find_marks(played, "merge") == {
        **{number: [good, good] for number in (OFFLOAD, ARMS, DISAGG)},  # merged, published
        FIRST: [good, good, good],  # queued, merged, published
        SECOND: [wait, good, bad, good, good],  # waits for the check of its link
        THIRD: [good, bad, bad, good, good],
    }


def test_the_grid_names_each_problem_once(played: Play, page: str) -> None:
    """The last pull request is pushed out of the queue twice, which is one problem."""
    counts = {overview.pull.number: len(overview.problems) for overview in read_overview(played.stage)}
    assert counts == {OFFLOAD: 3, ARMS: 4, DISAGG: 4, FIRST: 0, SECOND: 2, THIRD: 1}
    (grid,) = re.findall(r'<table class="grid">.*?</table>', page, re.DOTALL)
    assert grid.count('<td class="wrong"') == 14
    assert "<b>14</b> problems" in page


def test_every_link_leads_to_an_element_or_to_githubs_docs(page: str) -> None:
    """Addresses of the hub do not exist on GitHub, so they become links within the page, or plain text."""
    names = re.findall(r' id="([^"]+)"', page)
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert len(names) == len(set(names))
    assert targets <= set(names)
    outside = re.findall(r'(?:href|src)="([^#"][^"]*)"', page)
    assert {address.split("/")[2] for address in outside} == {"docs.github.com"}
    assert not re.search(r"url\(|@import| style=", page)


def test_links_lead_to_runs_and_to_settlements(played: Play, page: str) -> None:
    settled = {
        f"comment-{comment.id}"
        for comment in played.hub.state.comments.values()
        if "/settle" in (comment.body or "")
    }
    assert len(settled) == 3
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets >= {*settled, *(f"run-{sweep.run}" for sweep in played.stage.sweeps)}


def test_every_status_is_shown_at_its_step_as_it_was_set(played: Play, page: str) -> None:
    for step, html in zip(played.stage.steps, cut_steps(page), strict=True):
        shown = re.findall(r'class="status (\w+)">([^<]+)</span>', html)
        assert shown == [(status.state, status.context) for status in step.statuses]
    statuses = [status for step in played.stage.steps for status in step.statuses]
    assert len(statuses) == len(played.hub.state.statuses)


def test_a_line_about_a_comment_leads_to_the_version_that_the_step_wrote(played: Play, page: str) -> None:
    """A comment that was edited has an element for each version."""
    found = 0
    for step, html in zip(played.stage.steps, cut_steps(page), strict=True):
        lines = [line for line in step.shown if re.search(r"(create|update) the .* comment", line)]
        targets = re.findall(r'<li><a href="#(comment-[\d-]+)">[^<]*(?:create|update) the [^<]*</a>', html)
        assert len(targets) == len(set(targets)) == len(lines)
        assert all(f'id="{target}"' in html for target in targets)
        found += len(targets)
    assert found > 20


def test_each_version_of_a_comment_is_shown_with_its_text_of_that_time(played: Play, page: str) -> None:
    """The comment about A's runs first links only the first run, then the second one, with the first one folded."""
    first, second = [sweep.run for sweep in played.stage.sweeps if sweep.pull == OFFLOAD]
    shown = [
        html for html in cut_steps(page) if "unofficialRun" in unescape(html) or "View unofficial" in html
    ]
    assert f"#run-{first}" in shown[0]
    assert f"#run-{second}" not in shown[0]
    assert f"#run-{second}" in shown[1]


def test_a_deleted_notice_was_shown_and_its_deletion_links_it(page: str) -> None:
    """The scenes have seven: two links, two conflicts, two labels, a fork, a void approval."""
    deleted = re.findall(r'<p class="gone">.*?<a href="#(comment-\d+(?:-\d+)?)">', page)
    assert len(deleted) == 7
    assert all(f'<div class="comment" id="{target}">' in page for target in deleted)


def test_a_text_that_a_reader_has_seen_is_folded(page: str) -> None:
    """There is a greeting for each of six pull requests, of which only the first is open."""
    greetings = re.findall(
        r"<details( open)?><summary>(?:(?!</summary>).)*Thank you for the contribution", page
    )
    assert greetings == [" open", "", "", "", "", ""]


def test_wide_tables_scroll_by_themselves_and_by_keyboard(page: str) -> None:
    body = page.partition('<div id="scenes">')[2]
    assert (
        len(re.findall(r"<table>", body))
        == len(re.findall(r'<div class="wide" tabindex="0"><table>', body))
        > 10
    )


def test_a_table_repeats_what_the_cells_show_on_hover(played: Play, page: str) -> None:
    """A failed or stopped row has a line without numbers."""
    for sweep in played.stage.sweeps:
        (figure,) = re.findall(rf'<figure class="sweep" id="run-{sweep.run}">(.*?)</figure>', page, re.DOTALL)
        assert figure.count(' title="') == len(sweep.rows)
        points = Counter(point.id for point in sweep.points)
        lines = sum(points[row.job.id] or 1 for row in sweep.rows)
        assert figure.partition("<table>")[2].count("<tr>") == 1 + lines
    words = (
        "The process engine ended with 1 before the client ended. torch.OutOfMemoryError: CUDA out of memory."
    )
    assert page.count(f"failure: {words} Tried to allocate 4.45 GiB") == 1


def test_a_table_has_every_published_result_without_scripts(played: Play, page: str) -> None:
    section = page.partition('<section id="results">')[2]
    assert section.count("<tr>") == 1 + sum(len(merge.rows) for merge in played.stage.merges)

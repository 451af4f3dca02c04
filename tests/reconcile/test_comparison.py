"""The comment with results shows how the newest sweep compares with published results."""

from __future__ import annotations

import json
from dataclasses import replace as change

import pytest

from infx.comments.comparison import find_hidden
from infx.comments.visualizer import find_page
from infx.hub.state import Run
from infx.results.compare_digest import ComparisonDigest, make_digest, render_digest
from tests.reconcile.world import LABEL, VISUALIZER, World
from tests.results.comparisons import compare_results, result

DIGEST = make_digest(compare_results([result(tput_per_gpu=120.0)], result()))


def body(world: World) -> str:
    (text,) = (text for text in world.comments() if text.startswith(VISUALIZER))
    return text


def upload(world: World, run: Run, digest: ComparisonDigest = DIGEST, *, expired: bool = False) -> None:
    files = {"comparison.json": json.dumps(render_digest(digest))}
    world.hub.add_artifact(run.id, "results_compare", files, expired=expired)


def downloads(world: World) -> int:
    return sum(exchange.path.endswith("/zip") for exchange in world.hub.log)


def lists(world: World) -> int:
    return sum(exchange.path.endswith("/artifacts") for exchange in world.hub.log)


def sweep(world: World) -> Run:
    world.pull(labels=[LABEL])
    return world.sweep(done=2, status="completed", conclusion="success")


def test_the_largest_changes_of_a_finished_sweep_are_shown(world: World) -> None:
    upload(world, sweep(world))
    world.reconcile()
    assert (
        "| `m1 b200 vllm fp4 none 1024-1024 tp4 c64` | TPUT/GPU | 120 | 100 | 🟢 +20.00 (+20.0%) |"
        in body(world)
    )


def test_a_comparison_is_read_once(world: World) -> None:
    upload(world, sweep(world))
    world.reconcile()
    before = body(world)
    world.hub.clear_log()
    world.reconcile()
    assert (downloads(world), lists(world), world.hub.writes) == (0, 0, 0)
    assert body(world) == before


def test_it_stays_when_the_artifact_has_expired(world: World) -> None:
    upload(world, sweep(world))
    world.reconcile()
    before = body(world)
    for artifact in world.hub.state.artifacts.values():
        artifact.expired = True
    world.reconcile()
    assert body(world) == before


def test_a_running_sweep_has_none(world: World) -> None:
    world.pull(labels=[LABEL])
    upload(world, world.sweep(done=1, running=1))
    world.reconcile()
    assert "Compared with" not in body(world)


def test_a_new_attempt_is_compared_again(world: World) -> None:
    run = sweep(world)
    upload(world, run)
    world.reconcile()
    run.attempt += 1
    upload(world, run, make_digest(compare_results([result(tput_per_gpu=150.0)], result())))
    world.reconcile()
    assert "🟢 +50.00 (+50.0%)" in body(world)


def test_numbers_that_another_account_edited_are_replaced(world: World) -> None:
    upload(world, sweep(world))
    world.reconcile()
    before = body(world)
    (comment,) = (c for c in world.hub.comments_of(77) if (c.body or "").startswith(VISUALIZER))
    forged = before.replace('"value":120.0', '"value":999.0').replace("120 | 100", "999 | 100")
    assert (hidden := find_hidden(forged)) is not None
    assert hidden != DIGEST
    world.hub.edit_comment(comment.id, forged, by="eve")
    world.reconcile()
    assert body(world) == before


@pytest.mark.parametrize("content", [b"not a zip", {"comparison.json": "{}"}, {"x.json": "{}"}], ids=str)
def test_an_artifact_that_another_job_replaced_is_not_shown(
    world: World, content: bytes | dict[str, str]
) -> None:
    world.hub.add_artifact(sweep(world).id, "results_compare", content)
    report = world.reconcile()
    assert report.failed == []
    assert "Compared with" not in body(world)


def test_an_expired_artifact_is_not_downloaded(world: World) -> None:
    upload(world, sweep(world), expired=True)
    world.reconcile()
    assert downloads(world) == 0
    assert "Compared with" not in body(world)


def test_a_store_that_could_not_be_read_is_said(world: World) -> None:
    upload(world, sweep(world), change(DIGEST, store_failed=True))
    world.reconcile()
    assert "No baseline could be read from the store of published results." in body(world)


PAGE = "results_page.html"


def add_page(world: World, run: Run, *, expired: bool = False) -> int:
    """Upload a page, which is not zipped."""
    return world.hub.add_artifact(run.id, PAGE, b"<!doctype html>", expired=expired).id


def test_the_page_is_linked_after_the_links_of_the_policy(world: World) -> None:
    run = sweep(world)
    upload(world, run)
    add_page(world, run)
    page = add_page(world, run)  # a repeated job has replaced the first
    world.reconcile()
    link = f"https://github.com/acme/bench/actions/runs/{run.id}/artifacts/{page}"
    (line,) = (line for line in body(world).splitlines() if "/artifacts/" in line)
    assert line == f"View results page · 查看结果页面: {link}"
    assert body(world).splitlines().index(line) == 4  # after marker, order and two links


def test_a_page_is_looked_up_once_and_never_downloaded(world: World) -> None:
    run = sweep(world)
    upload(world, run)
    add_page(world, run)
    world.reconcile()
    assert (downloads(world), lists(world)) == (1, 2)
    before = body(world)
    assert "/artifacts/" in before
    world.hub.clear_log()
    world.reconcile()
    assert (downloads(world), lists(world), world.hub.writes) == (0, 0, 0)
    assert body(world) == before


def test_a_page_that_has_expired_is_not_linked(world: World) -> None:
    run = sweep(world)
    upload(world, run)
    add_page(world, run, expired=True)
    world.reconcile()
    assert "/artifacts/" not in body(world)


@pytest.mark.parametrize(
    ("text", "page"),
    [
        ("View results page: https://x.test/runs/1/artifacts/7\n", 7),
        ("查看结果页面: https://x.test/runs/1/artifacts/7\r\n", 7),
        ("View results page: https://x.test/runs/2/artifacts/7\n", None),
        ("View results page: https://x.test/runs/1/artifacts/7/x\n", None),
        ("| `https://x.test/runs/1/artifacts/7` |\n", None),
    ],
)
def test_a_comment_carries_its_page(text: str, page: int | None) -> None:
    assert find_page(f"before\n{text}after\n", "https://x.test/runs/1") == page

"""infx results page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infx.bench.uploads import artifact_name
from infx.results.collect import collect, render_files
from tests.calling import Called, call
from tests.cli.stores import publish
from tests.results.made import AGENTIC_JOB, DISAGG_JOB, FIXED_JOB, JOBS, MULTI, RULES, artifact, good, result

ROLES = {
    "is_multinode": True, "prefill_num_workers": 2, "prefill_tp": 8, "prefill_ep": 8, "prefill_dp_attention": True,
    "decode_num_workers": 1, "decode_tp": 16, "decode_ep": 16, "decode_dp_attention": False,
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Write what collect writes for a sweep in which the second row is missing, and a store."""
    monkeypatch.chdir(tmp_path)
    files = good()
    files[artifact_name(FIXED_JOB)] = {"agg.json": result(ep=1)}
    files[artifact_name(DISAGG_JOB)] = {"agg.json": [result(conc=conc, **MULTI, **ROLES) for conc in (4, 8)]}
    del files[artifact_name(AGENTIC_JOB)]
    artifacts = [artifact(name, content) for name, content in files.items()]
    collection = collect(JOBS, artifacts, RULES)
    for name, text in render_files(collection).items():
        path = tmp_path / "results" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    published = {**collection.points[0].values, "tput_per_gpu": 1000.0}
    publish(f"sqlite:{tmp_path / 'results.db'}", tmp_path, published)
    return tmp_path


def make_page(folder: Path, *arguments: str, **environ: str) -> Called:
    variables = {"INFX_STORE": f"sqlite:{folder / 'results.db'}", **environ}
    return call("results", "page", "results", "--out", "page.html", *arguments, environ=variables)


def read_lines(folder: Path) -> Any:
    match = re.search(r'id="chart-data">(.*?)</script>', (folder / "page.html").read_text(encoding="utf-8"))
    assert match is not None
    return json.loads(match[1])["sets"]["results"]


def test_the_page_has_results_baselines_errors_and_scores(folder: Path) -> None:
    called = make_page(folder, "--run", "77")
    assert (called.code, called.err) == (0, "Wrote page.html (4.8 MB).\n")
    html = (folder / "page.html").read_text(encoding="utf-8")
    assert "<h1>Results of run 77</h1>" in html
    assert "3 of 4 planned rows complete, 1 missing. 1 of 3 results have a published baseline" in html
    assert "no artifact " in html
    assert "gsm8k" in html
    names = {line["name"]: len(line["points"]) for line in read_lines(folder)}
    assert names == {"cluster:h200-a vllm fp8": 1, "cluster:h200-a dynamo-vllm fp8 disagg": 2}


def test_a_store_that_cannot_be_read_makes_a_page_without_baselines(folder: Path) -> None:
    called = make_page(folder, INFX_STORE="branch:none")
    assert called.code == 3
    assert "No baseline could be read" in (folder / "page.html").read_text(encoding="utf-8")
    assert all(point[3] == 0 for line in read_lines(folder) for point in line["points"])


def test_a_sweep_without_any_result_has_a_page(folder: Path) -> None:
    for name, text in render_files(collect(JOBS, [], RULES)).items():
        (folder / "results" / name).write_text(text)
    for name in ("results_bmk/agg_bmk.json", "eval_results_all/agg_eval_all.json"):
        (folder / "results" / name).unlink()
    called = make_page(folder)
    assert called.code == 0
    assert "0 of 4 planned rows complete, 4 missing." in (folder / "page.html").read_text(encoding="utf-8")


def test_another_folder_is_refused(folder: Path) -> None:
    (folder / "results/coverage.json").unlink()
    called = make_page(folder)
    assert called.code == 2
    assert "Name the folder that infx results collect wrote." in called.err
    assert not (folder / "page.html").exists()


def test_without_the_library_the_extra_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infx.page.library.find_spec", lambda name: None)
    called = make_page(folder)
    assert called.code == 2
    assert "pip install 'infx[page]'" in called.err


def test_a_result_that_cannot_be_compared_is_named(folder: Path) -> None:
    path = folder / "results/results_bmk/agg_bmk.json"
    values = json.loads(path.read_text())
    del values[0]["ep"]
    path.write_text(json.dumps(values))
    called = make_page(folder)
    assert (called.code, called.err.count("ep is missing")) == (0, 1)
    assert "<td>agg_bmk.json, result 1</td><td>ep is missing</td>" in (folder / "page.html").read_text(
        encoding="utf-8"
    )

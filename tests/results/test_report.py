"""The run summary: the order of sections, the counts, and foreign text."""

from __future__ import annotations

from dataclasses import replace

import pytest
from markdown_it import MarkdownIt

from infx.bench.row import Row
from infx.bench.uploads import artifact_name
from infx.results.artifact import ReadArtifact
from infx.results.collect import collect
from infx.results.report import render_report
from tests.matrix.rows import FIXED, row
from tests.results.made import EVAL_JOB, FIXED_JOB, JOBS, RULES, artifact, good, make_jobs, result


def test_failed_rows_come_first_then_missing_rows_then_results() -> None:
    files = good()
    del files[artifact_name(EVAL_JOB)]
    files[artifact_name(FIXED_JOB)] = {"agg.json": result(framework="sglang")}
    text = render_report(collect(JOBS, [artifact(name, content) for name, content in files.items()], RULES))
    assert text.startswith(
        "## Sweep: 2 of 4 rows\n\n1 failed, 1 missing, 3 throughput results and 0 accuracy results published.\n"
    )
    heads = [line for line in text.splitlines() if line.startswith("###")]
    assert heads == ["### Failed (1)", "### Missing (1)", "### Rejected (1)", "### Results (3)"]
    assert f"| `{FIXED_JOB.id}` | single-node 8k1k |" in text
    assert f"| `{EVAL_JOB.id}` | eval |" in text
    assert "| no artifact eval" in text


def test_numbers_have_the_units_of_their_columns() -> None:
    values = result(output_tput_per_gpu=137.25, median_tpot=0.0125, median_intvty=80, median_e2el=13.05)
    text = render_report(collect(JOBS[:1], [artifact(artifact_name(FIXED_JOB), {"agg.json": values})], RULES))
    assert "| 8192/1024 | 64 | 1,234 | 137.2 | 250 | 12.5 | 80 | 13.05 |" in text  # seconds shown as ms


def test_rows_are_sorted_by_identity() -> None:
    rows = [row(FIXED, conc) for conc in (64, 4, 16)]
    jobs = make_jobs(rows)
    artifacts = [
        artifact(artifact_name(job), {"agg.json": result(conc=job.row.conc[0], benchmark_outcome=None)})
        for job in jobs
    ]
    lines = [
        line for line in render_report(collect(jobs, artifacts, RULES)).splitlines() if "8192/1024" in line
    ]
    assert [line.split(" | ")[6] for line in lines] == ["4", "16", "64"]


def test_a_summary_without_results() -> None:
    text = render_report(collect(JOBS, [], RULES))
    assert text.startswith("## Sweep: 0 of 4 rows\n\n0 failed, 4 missing, 0 throughput results")


@pytest.mark.parametrize(
    "text",
    [
        "@acme/core #12 <img src=x> [a](https://evil.test)",
        "a|b|c",
        "`x` ```",
        "\n# head\n::error::x\n",
        "<!-- ",
    ],
)
def test_foreign_text_stays_text(text: str) -> None:
    files = {"agg.json": result(infmax_model_prefix=text or "x", framework=text)}
    name = text.strip()  # as every result is read
    strange: Row = row(replace(FIXED, model_prefix=name, framework=name, runner=name), 64)
    jobs = make_jobs([strange, row(FIXED, 64)])
    values = result(infmax_model_prefix=text, framework=text, hw=text)
    artifacts = [
        artifact(artifact_name(jobs[0]), {"agg.json": values}),
        artifact(artifact_name(jobs[1]), {f"agg{text}.json": files["agg.json"]}),
        ReadArtifact(name=f"bmk_{text}"),
    ]
    markdown = render_report(collect(jobs, artifacts, RULES))
    html = MarkdownIt("commonmark").enable("table").render(markdown)
    assert "<img" not in html
    assert "<a " not in html
    assert not any(line.lstrip().startswith("::") for line in markdown.splitlines())
    body = [line for line in markdown.splitlines() if line.startswith("| `") and "8192/1024" in line]
    assert [line.replace("\\|", "").count("|") for line in body] == [14]


def test_a_summary_of_an_empty_plan() -> None:
    text = render_report(collect([], [ReadArtifact(name="bmk_x")], RULES))
    assert text == (
        "## Sweep: nothing planned\n\nNo rows were planned, so there is nothing to collect.\n\n"
        "Ignored (matches no planned row): `bmk_x`.\n"
    )

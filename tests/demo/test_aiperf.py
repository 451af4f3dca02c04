"""A real client from PyPI drives the demo's servers under supervision, and its output becomes a result."""

from __future__ import annotations

import fcntl
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from infx.results.collect import RowState
from tests.calling import call
from tests.cli.stores import publish
from tests.conftest import ROOT
from tests.demo.measuring import SINGLE, Measured, measure, read_chart, write_collection
from tests.demo.servers import BENCHMARKS
from tests.matrix.rows import AGENTIC, row

pytestmark = [pytest.mark.nightly, pytest.mark.timeout(1800)]
LOCK = ROOT / "requirements/nightly.txt"
UV = Path(sys.executable).with_name("uv")
OFFLINE = ("error sending request", "dns error", "Failed to fetch", "network was disabled", "timed out")
SESSIONS, TURNS, WARMUPS, ANSWER = 6, 3, 2, 24

# Words of the client's own texts and of the engine, so that both count the same tokens.
TOKENIZER = """\
import sys
from pathlib import Path
import aiperf
from answers import WORDS
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast
tokenizer = Tokenizer(models.WordLevel(unk_token="[UNK]"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
texts = [path.read_text() for path in Path(aiperf.__file__).parent.rglob("shakespeare.txt")]
trainer = trainers.WordLevelTrainer(vocab_size=100_000, special_tokens=["[UNK]", "[EOS]"])
tokenizer.train_from_iterator([*texts, *WORDS], trainer)
PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="[UNK]", eos_token="[EOS]").save_pretrained(sys.argv[1])
"""
CLIENT = f"""\
"$AIPERF/bin/aiperf" profile --model "$MODEL" --url "$BASE_URL" --tokenizer "$AIPERF/tokenizer" --ui none \
  --endpoint-type chat --streaming --concurrency "$CONC" --random-seed 1 --warmup-request-count {WARMUPS} \
  --conversation-num {SESSIONS} --conversation-turn-mean {TURNS} --conversation-turn-stddev 0 \
  --synthetic-input-tokens-mean 64 --synthetic-input-tokens-stddev 0 \
  --output-tokens-mean {ANSWER} --output-tokens-stddev 0 --extra-inputs ignore_eos:true \
  --output-artifact-dir "$RESULT_DIR/aiperf_artifacts" &&
"$PYTHON" row.py process && "$PYTHON" row.py check-replay --metric vllm:
"""


def run(*command: str | Path) -> None:
    """Run a command. Skips the test if the package index cannot be reached."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=BENCHMARKS)
    if done.returncode and any(words in done.stderr for words in OFFLINE):
        pytest.skip(f"the package index cannot be reached: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def aiperf() -> Path:
    """Return an environment with AIPerf and a tokenizer, which is made once for each lock."""
    if sys.version_info >= (3, 14):
        pytest.skip("AIPerf needs Python 3.13 or older")
    digest = hashlib.sha256(LOCK.read_bytes() + TOKENIZER.encode() + sys.version.encode()).hexdigest()[:12]
    folder = ROOT / ".venv" / f"aiperf-{digest}"
    with (ROOT / ".venv/aiperf.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in several processes
        if not (folder / "tokenizer").exists():
            python = folder / "bin/python"
            run(UV, "venv", "--quiet", "--clear", "--python", sys.executable, folder)
            run(UV, "pip", "install", "--quiet", "--python", python, "--require-hashes", "--only-binary", ":all:",
                "--requirements", LOCK)  # fmt: skip
            run(python, "-c", TOKENIZER, folder / "tokenizer.draft")
            (folder / "tokenizer.draft").rename(folder / "tokenizer")
    return folder


def drive(folder: Path, aiperf: Path, fault: str = "error-every=1000") -> Measured:
    return measure(folder, row(AGENTIC, 2), SINGLE, 4, client=CLIENT, AIPERF=str(aiperf), FAULT=fault)


def test_the_output_of_a_real_client_becomes_a_result(
    aiperf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client counts tokens by its own tokenizer, and agrees with what the engine reports and counts."""
    measured = drive(tmp_path, aiperf)
    assert measured.code == 0, measured.err
    collection = measured.collect()
    assert [item.state for item in collection.coverage] == [RowState.PRESENT], collection.rejected
    summary = measured.read("aiperf_artifacts/profile_export_aiperf.json")
    assert summary["usage_discrepancy_count"]["avg"] == summary["osl_mismatch_count"]["avg"] == 0
    aggregate = measured.read(f"agg_{measured.job.result_name}.json")
    assert aggregate["num_requests_successful"] == SESSIONS * TURNS
    assert aggregate["request_metrics"]["tokens"]["output_actual"]["mean"] == ANSWER
    assert aggregate["server_metrics"]["adapter"] == "vllm"
    [point] = collection.points
    assert point.row.metrics["mean_ttft"] == pytest.approx(
        summary["time_to_first_token"]["avg"] / 1000, abs=1e-5
    )
    assert point.row.metrics["mean_e2el"] == pytest.approx(summary["request_latency"]["avg"] / 1000, abs=1e-5)
    check_bound(tmp_path / "aiperf_artifacts/profile_export.jsonl")
    monkeypatch.chdir(tmp_path)
    write_collection(collection, tmp_path / "results")
    store = {"INFX_STORE": f"sqlite:{tmp_path / 'results.db'}"}
    publish(store["INFX_STORE"], tmp_path, point.values)
    compared = call("results", "compare", "results/results_bmk", "--format", "table", environ=store)
    assert (compared.code, compared.err) == (
        0,
        "1 of 1 result has a published baseline; throughput per GPU: 1 equal.\n",
    )
    drawn = call("results", "page", "results", "--out", "page.html", environ=store)
    assert drawn.code == 0, drawn.err
    [line] = read_chart(tmp_path / "page.html")
    assert [values[0] for values in line["points"]] == [2]


def check_bound(records: Path) -> None:
    """On eight GPUs and with a clock that is 4 times as fast, a token takes more than 1 / (100 * 8**0.6 * 4) s."""
    for record in map(json.loads, records.read_text().splitlines()):
        latency = record["metrics"]["request_latency"]["value"] / 1000
        assert latency >= (ANSWER - 1) / (100 * 8**0.6 * 4)


def test_a_real_client_sees_the_failed_requests(aiperf: Path, tmp_path: Path) -> None:
    measured = drive(tmp_path, aiperf, "error-every=3")
    assert measured.code == 1
    assert "requests failed, at most 10 % may" in measured.err
    assert [item.state for item in measured.collect().coverage] == [RowState.FAILED]


def test_an_engine_that_dies_under_a_real_client_stops_it(aiperf: Path, tmp_path: Path) -> None:
    measured = drive(tmp_path, aiperf, "die-after=5")
    assert measured.code == 91
    assert [item.state for item in measured.collect().coverage] == [RowState.FAILED]

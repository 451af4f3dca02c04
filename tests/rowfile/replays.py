"""A folder of an AgentX replay, as the client and the server leave it, and the environment of its row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from infx.rowfile.agentic_process import process_agentic

EXPORT = "results/aiperf_artifacts"
ENVIRONMENT = {
    "RESULT_FILENAME": "m1_tp4",
    "RUNNER_TYPE": "cluster:b200-nv",
    "IMAGE": "acme/serve:1",
    "MODEL": "acme/m1",
    "MODEL_PREFIX": "m1",
    "FRAMEWORK": "vllm",
    "PRECISION": "fp8",
    "TP": "4",
    "EP_SIZE": "1",
    "CONC": "8",
    "KV_OFFLOADING": "none",
}


def record(number: int = 0, **changes: Any) -> dict[str, Any]:
    """Return a good record: it starts at second `number` and takes 1 s for 100 tokens in and 50 out.

    changes: `phase`, `error`, `start` and `end` in seconds, `conversation`, `turn`, or a metric's value by its name.
    """
    metadata: dict[str, Any] = {
        "conversation_id": changes.pop("conversation", "trace"),
        "turn_index": changes.pop("turn", number),
        "benchmark_phase": changes.pop("phase", "profiling"),
        "request_start_ns": int(changes.pop("start", number) * 10**9),
        "request_end_ns": int(changes.pop("end", number + 1) * 10**9),
    }
    error = changes.pop("error", None)
    metrics = {
        "input_sequence_length": 100,
        "output_sequence_length": 50,
        "time_to_first_token": 30.0,
        "request_latency": 1000.0,
        "inter_token_latency": 20.0,
        **changes,
    }
    return {
        "metadata": metadata,
        "metrics": {name: {"value": value, "unit": "?"} for name, value in metrics.items()},
        "error": error,
    }


def write_replay(
    folder: Path,
    records: list[dict[str, Any]],
    *,
    summary: Any = None,
    metrics: dict[str, Any] | None = None,
    log: str | None = None,
    export: str = EXPORT,
) -> None:
    """Write the files of a replay below a folder. metrics: of the server, by name, as `counters` and `gauge` make them."""
    place = folder / export
    place.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps(item) + "\n" for item in records)
    (place / "profile_export.jsonl").write_text(lines)
    if summary is not None:
        (place / "profile_export_aiperf.json").write_text(json.dumps(summary))
    if metrics is not None:
        (place / "server_metrics_export.json").write_text(json.dumps({"metrics": metrics}))
    if log is not None:
        (folder / "results" / "server.log").write_text(log)


def place(folder: Path, **changes: str | None) -> dict[str, str]:
    """Return the environment of a row whose replay is below a folder. changes: None removes a variable."""
    values = {
        **ENVIRONMENT,
        "RESULT_DIR": str(folder / "results"),
        "AGENTIC_OUTPUT_DIR": str(folder / "out"),
        **changes,
    }
    return {name: value for name, value in values.items() if value is not None}


def aggregate(folder: Path, **changes: str | None) -> dict[str, Any]:
    """Process the replay below a folder, and return the aggregate that is then in its file."""
    path = process_agentic(place(folder, **changes)).path
    values: dict[str, Any] = json.loads(Path(path).read_text())
    return values


def counters(*totals: float, **labels: str) -> dict[str, Any]:
    """Return a metric of the server: a series for each total, all with these labels."""
    return {"series": [{"labels": labels, "stats": {"total": total}} for total in totals]}


def by_label(label: str, totals: dict[str, float]) -> dict[str, Any]:
    """Return a metric of the server: a series for each value of a label."""
    return {
        "series": [{"labels": {label: value}, "stats": {"total": total}} for value, total in totals.items()]
    }


def gauge(*values: float, statistic: str = "max") -> dict[str, Any]:
    """Return a metric of the server that has a level instead of a total."""
    return {"series": [{"stats": {statistic: value}} for value in values]}

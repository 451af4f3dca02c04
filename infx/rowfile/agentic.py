"""The aggregate of an AgentX replay: the client's export and the environment of the row → one JSON object."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from .agentic_deployment import EnvironmentReader, describe_deployment, raise_problems
from .agentic_metrics import measure_requests
from .agentic_pool import parse_sglang_pool, parse_vllm_pool, read_logs
from .agentic_records import Replay, read_replay
from .agentic_series import ServerSeries
from .agentic_servers import NO_METRICS, choose_adapter, read_server
from .agentic_statistics import divide, read_number, round_all
from .agentic_traces import find_expected
from .errors import RowError

ARTIFACTS = "aiperf_artifacts"  # the client's folder, in the folder of results
RECORDS = "profile_export.jsonl"
SUMMARY = "profile_export_aiperf.json"
SERVER = "server_metrics_export.json"


class ReplayFiles:
    """What a replay left.

    Attributes:
        folder: where the client's files are.
        replay: its records.
        summary: the client's own aggregate; empty without one.
        server: the server's metrics by name; empty without them.
        warnings: sentences about optional files that are missing or unusable.
    """

    def __init__(self, results: str) -> None:
        """Read the files. Raises RowError without records."""
        self.folder = find_export(results, RECORDS)
        self.replay = read_replay(os.path.join(self.folder, RECORDS))
        self.warnings: list[str] = []
        self.summary = self._read_optional(SUMMARY)
        metrics = self._read_optional(SERVER).get("metrics")
        self.server: dict[str, Any] = metrics if isinstance(metrics, dict) else {}
        if not self.server:
            self.warnings.append(SERVER + " missing or empty")

    def _read_optional(self, name: str) -> dict[str, Any]:
        try:
            with open(os.path.join(self.folder, name), encoding="utf-8") as file:
                value = json.load(file)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            self.warnings.append(name + " is not a readable JSON object")
            return {}
        return value


def find_export(results: str, name: str) -> str:
    """Return the client's folder that holds a file: that of the results, or the first of its subfolders.

    Raises RowError if neither holds the file.
    """
    folder = os.path.join(results, ARTIFACTS)
    try:
        subfolders = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        subfolders = []
    for place in (folder, *subfolders):
        if os.path.isfile(os.path.join(place, name)):
            return place
    raise RowError(folder + ": the client left no " + name + " here.")


def make_aggregate(environment: Mapping[str, str], files: ReplayFiles, results: str) -> dict[str, Any]:
    """Return the aggregate. Raises RowError if the environment or the server's metrics cannot be read.

    results: the folder of results, where the logs of the server are.
    """
    reader = EnvironmentReader(environment)
    fields, gpus = describe_deployment(reader)
    raise_problems(reader)
    server = _describe_server(files, fields["framework"], results)
    expected = find_expected(environment.get("HF_HUB_CACHE", ""), files.replay.good)
    metadata = files.summary.get("metadata")
    aggregate = {
        **fields,
        "num_requests_total": files.replay.total,
        "num_requests_successful": len(files.replay.good),
        "request_accounting": files.replay.account(),
        "request_metrics": measure_requests(
            files.replay.good, expected, read_theoretical(files.summary), gpus
        ),
        "server_metrics": server,
        "kv_cache_pool_tokens": server["kv_cache"]["gpu_total_tokens"],
    }
    if isinstance(metadata, dict) and isinstance(metadata.get("dataset"), dict):
        aggregate["dataset"] = metadata["dataset"]
    if files.warnings:
        aggregate["warnings"] = files.warnings
    rounded: dict[str, Any] = round_all(aggregate)
    return rounded


def read_theoretical(summary: dict[str, Any]) -> float | None:
    """Return the best possible share of cache hits: of the sums if they are there, else the mean."""
    hit = summary.get("theoretical_prefix_cache_hit")
    if not isinstance(hit, dict):
        return None
    rate = divide(read_number(hit.get("sum")), read_number(hit.get("count")))
    mean = read_number(hit.get("avg"))
    if rate is None and mean is not None:
        rate = mean / 100 if hit.get("unit") == "%" else mean
    return rate


def _describe_server(files: ReplayFiles, framework: str, results: str) -> dict[str, Any]:
    """Return the server's part. Raises RowError for metrics of no known server."""
    series = ServerSeries(files.server)
    adapter = choose_adapter(series, framework)
    if adapter is None and series.names:
        raise RowError(
            os.path.join(files.folder, SERVER) + ": no known server has the metric " + series.names[0]
            + ". Expected names that begin with vllm:, sglang:, dynamo_ or atom:."
        )  # fmt: skip
    sections = read_server(adapter, series)
    pool = _read_pool(adapter, results)
    if pool is not None:
        sections["kv_cache"]["gpu_total_tokens"] = pool
    tokens, good = sections["tokens"], files.replay.good
    for name, lengths in (
        ("prompt_total", [record.input_tokens for record in good if record.input_tokens is not None]),
        ("generation_total", [record.output_tokens for record in good if record.output_tokens is not None]),
    ):
        if tokens[name] is None and lengths:
            tokens[name] = sum(lengths)
    tokens["requests_completed"] = len(good)
    return {
        "present": bool(series.names),
        "adapter": adapter if series.names else NO_METRICS,
        "metric_count": len(series.names),
        **sections,
    }


def _read_pool(adapter: str | None, results: str) -> int | None:
    """Return the size of the KV cache by the server's log, in tokens; None if it does not say."""
    if adapter == "sglang":
        return parse_sglang_pool(read_logs(results))
    if adapter in ("vllm", "dynamo-vllm"):
        return parse_vllm_pool(read_logs(results))
    return None


def mark_outcome(aggregate: dict[str, Any], replay: Replay, limit: float) -> bool:
    """Write how the replay's requests ended into the aggregate. Return whether the replay has a result at all.

    limit: the largest share of failed requests with which the row passes, from 0 to 1.
    """
    completed, failed = len(replay.good), replay.failed_measured
    passes = bool(completed) and failed / (completed + failed) <= limit
    aggregate["benchmark_outcome"] = {
        "requested": completed + failed,
        "completed": completed,
        "failed": failed,
        "max_failure_rate": limit,
        "status": "passed" if passes else "failed",
    }
    return bool(completed)

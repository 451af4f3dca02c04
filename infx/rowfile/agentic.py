"""The aggregate of an AgentX replay: the client's export and the environment of the row → one JSON object."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping

from .agentic_metrics import measure_requests
from .agentic_pool import parse_sglang_pool, parse_vllm_pool, read_logs
from .agentic_records import read_replay
from .agentic_series import ServerSeries
from .agentic_servers import NO_METRICS, choose_adapter, read_server
from .agentic_statistics import clean, divide
from .agentic_traces import find_expected
from .faults import FaultsError, RowFault
from .values import parse_finite, show_value

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
        """Read the files. Raises FaultsError without records."""
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

    Raises FaultsError if neither holds the file.
    """
    folder = os.path.join(results, ARTIFACTS)
    try:
        subfolders = sorted(entry.path for entry in os.scandir(folder) if entry.is_dir())
    except OSError:
        subfolders = []
    for place in (folder, *subfolders):
        if os.path.isfile(os.path.join(place, name)):
            return place
    message = "The client left no " + name + " here."
    raise FaultsError([RowFault("replay-file-missing", message, folder)])


def make_aggregate(
    fields: Mapping[str, Any], gpus: int, files: ReplayFiles, results: str, cache: str
) -> dict[str, Any]:
    """Return the aggregate. Raises FaultsError if the server's metrics cannot be read.

    fields: what the environment says. results: the folder of results, where the logs of the server are. cache: folder of
    downloaded data sets; empty if there is none.
    """
    server = _describe_server(files, fields["framework"], results)
    expected = find_expected(cache, files.replay.good)
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
    rounded: dict[str, Any] = clean(aggregate)
    return rounded


def read_theoretical(summary: dict[str, Any]) -> float | None:
    """Return the best possible share of cache hits: of the sums if they are there, else the mean."""
    hit = summary.get("theoretical_prefix_cache_hit")
    if not isinstance(hit, dict):
        return None
    rate = divide(parse_finite(hit.get("sum")), parse_finite(hit.get("count")))
    mean = parse_finite(hit.get("avg"))
    if rate is None and mean is not None:
        rate = mean / 100 if hit.get("unit") == "%" else mean
    return rate


def _describe_server(files: ReplayFiles, framework: str, results: str) -> dict[str, Any]:
    """Return the server's part. Raises FaultsError for metrics of no known server."""
    series = ServerSeries(files.server)
    adapter = choose_adapter(series, framework)
    if adapter is None and series.names:
        message = (
            "No known server has the metric " + show_value(series.names[0])
            + "; expected names that begin with vllm:, sglang:, dynamo_ or atom:."
        )  # fmt: skip
        path = os.path.join(files.folder, SERVER)
        raise FaultsError([RowFault("server-metrics-unknown", message, path)])
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

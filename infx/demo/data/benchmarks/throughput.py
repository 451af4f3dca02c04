"""Measure the throughput of fixed lengths, and write what `vllm bench serve --save-result` writes."""

from __future__ import annotations

import argparse
import functools
import json
import sys
import time
from typing import Any, Iterator

from answers import WORDS
from loop import Loop
from measure import RequestSample, Target, describe, send, send_all

MAX_FAILURE_RATE = 0.05


def run_throughput(loop: Loop, target: Target, options: argparse.Namespace) -> Any:
    """Return the coroutine that measures every concurrency; its result is the exit code."""

    async def run() -> int:
        codes = []
        for conc in options.concurrencies:
            name = options.result_filename + ("_conc" + str(conc) if options.has_suffix else "")
            codes.append(await _measure(loop, target, options, conc, name))
        return max(codes)

    return run()


async def _measure(loop: Loop, target: Target, options: argparse.Namespace, conc: int, name: str) -> int:
    """Measure a concurrency, write its file and return the exit code."""
    number = options.num_prompts or max(conc, 8)
    bodies = _make_bodies(options, number + options.num_warmups)
    warmups = await _send_bodies(loop, target, [next(bodies) for _ in range(options.num_warmups)], conc)
    errors = [sample.error for sample in warmups if sample.error]
    if errors:
        print("The warm-up failed:", errors[0], file=sys.stderr)
        return 1
    began_at, start = time.time(), time.monotonic()
    samples = await _send_bodies(loop, target, list(bodies), conc)
    seconds = time.monotonic() - start
    result = make_result(samples, options, conc, seconds, began_at)
    with open(name + ".json", "w", encoding="utf-8") as file:
        json.dump(result, file)
    failed = result["failed"]
    print(f"Failed: {failed} of {number}. Wrote {name}.json.", file=sys.stderr)
    for error in sorted({sample.error for sample in samples if sample.error})[:5]:
        print("  " + error, file=sys.stderr)
    return int(failed > MAX_FAILURE_RATE * number)


def _make_bodies(options: argparse.Namespace, number: int) -> Iterator[dict[str, Any]]:
    """Yield requests with different prompts of the same length."""
    is_chat = options.endpoint == "chat"
    for index in range(number):
        start = (options.seed * 7919 + index * 104_729) % len(WORDS)
        # The first word differs, so that no prompt begins like another.
        words = [str(options.seed) + "-" + str(index), *(WORDS * (options.isl // len(WORDS) + 2))[start:]]
        text = " ".join(words[: options.isl])
        prompt: dict[str, Any] = (
            {"messages": [{"role": "user", "content": text}]} if is_chat else {"prompt": text}
        )
        yield {
            "model": options.model,
            **prompt,
            "max_tokens": options.osl,
            "ignore_eos": True,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }


async def _send_bodies(
    loop: Loop, target: Target, bodies: list[dict[str, Any]], conc: int
) -> list[RequestSample]:
    samples: list[RequestSample] = []

    async def send_one(body: dict[str, Any]) -> None:
        samples.append(await send(target, body))

    jobs = (functools.partial(send_one, body) for body in bodies)
    await send_all(loop, jobs, conc)
    return samples


def make_result(
    samples: list[RequestSample], options: argparse.Namespace, conc: int, seconds: float, began_at: float
) -> dict[str, Any]:
    """Return the content of a result file. Times are in the engine's time: `--time-scale` times as long as here."""
    scale = options.time_scale
    good = [sample for sample in samples if not sample.error]
    duration = seconds * scale
    inputs, outputs = sum(sample.inputs for sample in good), sum(sample.outputs for sample in good)
    times = {
        "ttft": [sample.first - sample.start for sample in good],
        "tpot": [sample.token_seconds for sample in good if sample.outputs > 1],
        "itl": [gap for sample in good for gap in sample.gaps],
        "e2el": [sample.end - sample.start for sample in good],
    }
    return {
        "date": time.strftime("%Y%m%d-%H%M%S", time.gmtime(began_at)),
        "backend": "openai-chat" if options.endpoint == "chat" else "openai",
        "label": None,
        "model_id": options.model,
        "tokenizer_id": options.model,
        "num_prompts": len(samples),
        "request_rate": "inf",
        "burstiness": 1.0,
        "max_concurrency": conc,
        "duration": duration,
        "benchmark_start_time_unix": began_at,
        "benchmark_end_time_unix": began_at + duration,
        "completed": len(good),
        "failed": len(samples) - len(good),
        "total_input_tokens": inputs,
        "total_output_tokens": outputs,
        "request_throughput": len(good) / duration,
        "request_goodput": None,
        "output_throughput": outputs / duration,
        "total_token_throughput": (inputs + outputs) / duration,
        "errors": sorted({sample.error for sample in samples if sample.error})[:10],
        **{
            statistic + "_" + name + "_ms": 1000 * scale * value
            for name, values in times.items()
            for statistic, value in describe(values, options.percentiles).items()
        },
    }

"""Ask a model for results of arithmetic, and write what lm-eval writes: a result file of each concurrency, and metadata."""

from __future__ import annotations

import argparse
import functools
import json
import os
import re
import sys
import time
from typing import Any, Mapping

from loop import Loop
from measure import RequestSample, Target, send, send_all

MAX_FAILURE_RATE = 0.05
_STRICT = re.compile(r"#### (-?[0-9]+)")
_NUMBER = re.compile(r"-?[0-9]+")
_TEXTS = (  # field of the metadata, variable
    ("hw", "RUNNER_TYPE"), ("image", "IMAGE"), ("model", "MODEL"), ("infmax_model_prefix", "MODEL_PREFIX"),
    ("framework", "FRAMEWORK"), ("precision", "PRECISION"), ("spec_decoding", "SPEC_DECODING"),
)  # fmt: skip


async def run_accuracy(loop: Loop, target: Target, options: argparse.Namespace) -> int:
    """Ask all questions at every concurrency, and write the files. Returns 1 if too many requests failed."""
    questions = make_questions(options.questions, options.seed)
    is_batch = len(options.concurrencies) > 1
    completed, failed = [], []
    for conc in options.concurrencies:
        samples = await _ask(loop, target, options, [text for text, _ in questions], conc)
        errors = [sample.error for sample in samples if sample.error]
        if len(errors) > MAX_FAILURE_RATE * len(samples):
            failed.append(conc)
            print(f"Failed: {len(errors)} of {len(samples)}, for example {errors[0]}", file=sys.stderr)
            continue
        completed.append(conc)
        stamp = time.strftime("%Y-%m-%dT%H-%M-%S", time.gmtime())
        name = "results_" + stamp + ("_conc" + str(conc) if is_batch else "") + ".json"
        answers = [number for _, number in questions]
        _write(name, make_result(samples, answers, options.task, options.model))
    lists = {
        "eval_concs": options.concurrencies,
        "completed_eval_concs": completed,
        "failed_eval_concs": failed,
    }
    _write("meta_env.json", make_meta(os.environ, lists if is_batch else {"conc": options.concurrencies[0]}))
    return int(bool(failed))


def make_questions(number: int, seed: int) -> list[tuple[str, int]]:
    """Return questions and their right answers."""
    questions = []
    for index in range(number):
        first, second = 12 + (index * 37 + seed) % 80, 3 + (index * 53 + seed) % 60
        operation = "*" if index % 2 else "+"
        result = first * second if index % 2 else first + second
        questions.append((f"Question: What is {first} {operation} {second} ?\nAnswer:", result))
    return questions


async def _ask(
    loop: Loop, target: Target, options: argparse.Namespace, texts: list[str], conc: int
) -> list[RequestSample]:
    """Return the answers in the order of the questions."""
    samples: dict[int, RequestSample] = {}

    async def ask_one(index: int) -> None:
        body = {
            "model": options.model,
            "messages": [{"role": "user", "content": texts[index]}],
            "max_tokens": 64,
            "temperature": 0.0,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        samples[index] = await send(target, body)

    await send_all(loop, (functools.partial(ask_one, index) for index in range(len(texts))), conc)
    return [samples[index] for index in range(len(texts))]


def make_result(samples: list[RequestSample], answers: list[int], task: str, model: str) -> dict[str, Any]:
    """Return a result file. A failed request is a wrong answer."""
    strict = [_is_right(_STRICT.findall(sample.text), answer) for sample, answer in zip(samples, answers)]
    flexible = [_is_right(_NUMBER.findall(sample.text), answer) for sample, answer in zip(samples, answers)]
    scores: dict[str, Any] = {"alias": task}
    for name, hits in (("strict-match", strict), ("flexible-extract", flexible)):
        score = sum(hits) / len(hits)
        scores["exact_match," + name] = score
        scores["exact_match_stderr," + name] = (score * (1 - score) / max(1, len(hits) - 1)) ** 0.5
    config = {"task": task, "metric_list": [{"metric": "exact_match"}], "metadata": {"model": model}}
    return {
        "results": {task: scores},
        "configs": {task: config},
        "n-samples": {task: {"original": len(answers), "effective": len(samples)}},
        "lm_eval_version": "demo",
        "model_name": model,
        "date": time.time(),
    }


def _is_right(numbers: list[str], answer: int) -> bool:
    return bool(numbers) and int(numbers[-1]) == answer


def make_meta(environment: Mapping[str, str], concs: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata: what the row's variables say, and the concurrencies."""
    texts = {field: environment[name] for field, name in _TEXTS if environment.get(name)}
    return {**texts, **_list_layout(environment), **concs}


def _list_layout(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the sizes of one engine, or those of both roles."""
    pairs: list[tuple[str, str]] = []
    if environment.get("IS_MULTINODE") == "true":
        for role in ("prefill", "decode"):
            names = (("tp", "TP"), ("ep", "EP"), ("dp_attention", "DP_ATTN"), ("num_workers", "NUM_WORKERS"))
            pairs += [(role + "_" + field, role.upper() + "_" + name) for field, name in names]
    else:
        pairs = [("tp", "TP"), ("ep", "EP_SIZE"), ("dp_attention", "DP_ATTENTION")]
    values = {field: environment[name] for field, name in pairs if environment.get(name)}
    return {field: int(value) if value.isdigit() else value == "true" for field, value in values.items()}


def _write(name: str, value: Any) -> None:
    with open(name, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)

#!/usr/bin/env python3
"""A client for benchmarks: it measures a server's throughput, replays coding sessions, or asks questions.

Variables of the row are the defaults of the options, so a recipe needs few of them.
"""

from __future__ import annotations

import argparse
import os
import sys

from loop import Loop
from measure import Target, parse_base


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("mode", choices=("throughput", "replay", "accuracy"))
    add = parser.add_argument
    port = _get("PORT", "8000")
    add("--base-url", default=_get("BASE_URL", "http://127.0.0.1:" + port), help="$BASE_URL, or of $PORT")
    add("--model", default=_get("MODEL"), help="$MODEL")
    add("--endpoint", choices=("completions", "chat"), default="completions")
    add("--isl", type=int, default=_get("ISL", "0"), help="tokens of a prompt: $ISL")
    add("--osl", type=int, default=_get("OSL", "0"), help="tokens of an answer: $OSL")
    add("--concurrencies", help="separated by blanks: $EVAL_CONC in accuracy runs, $CONC_LIST or $CONC")
    add(
        "--num-prompts",
        type=int,
        default=_get("NUM_PROMPTS", "0"),
        help="default: the concurrency, at least 8",
    )
    add("--num-warmups", type=int, default=_get("NUM_WARMUPS", "1"))
    add("--seed", type=int, default=0)
    add("--percentiles", default="90 99", help="separated by blanks")
    add("--time-scale", type=float, default=_get("TIME_SCALE", "1"), help="as of the engine: $TIME_SCALE")
    add("--timeout", type=float, default=600, help="seconds for an answer")
    add("--result-filename", default=_get("RESULT_FILENAME", "result"), help="$RESULT_FILENAME")
    add("--result-dir", default=_get("RESULT_DIR", "."), help="of a replay: $RESULT_DIR")
    add("--sessions", type=int, default=0, help="of a replay; default: the concurrency, at least 4")
    add("--turns", type=int, default=3, help="requests of a session")
    add("--questions", type=int, default=40, help="of an accuracy run")
    add("--task", default="gsm8k", help="name of the accuracy run")
    options = parser.parse_args(arguments)
    options.has_suffix = False
    if not options.concurrencies:
        evaluated = _get("EVAL_CONC") if options.mode == "accuracy" else ""
        options.has_suffix = bool(_get("CONC_LIST")) and options.mode == "throughput"
        options.concurrencies = evaluated or _get("CONC_LIST") or _get("CONC", "1")
    else:
        options.has_suffix = len(options.concurrencies.split()) > 1
    _check(parser, options)
    return options


def _get(name: str, default: str = "") -> str:
    return os.environ.get(name) or default


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Parse lists. Ends with exit code 2 if an option is wrong."""
    try:
        options.concurrencies = [int(word) for word in options.concurrencies.replace(",", " ").split()]
        options.percentiles = [float(word) for word in options.percentiles.split()]
        options.host, options.port = parse_base(options.base_url)
    except ValueError as error:
        parser.error(str(error))
    if not options.model:
        parser.error("name the model with --model, or the variable MODEL")
    if not options.concurrencies or min(options.concurrencies) < 1:
        parser.error("expected concurrencies of 1 or more")
    if options.mode == "throughput" and (options.isl < 1 or options.osl < 1):
        parser.error("--isl and --osl must be 1 or more")


def main(arguments: list[str]) -> int:
    """Run a benchmark. Returns 1 if too many requests failed."""
    options = parse_arguments(arguments)
    is_chat = options.endpoint == "chat" or options.mode != "throughput"
    path = "/v1/chat/completions" if is_chat else "/v1/completions"
    target = Target(options.host, options.port, path, options.timeout)
    loop = Loop()
    if options.mode == "replay":
        from replay import run_replay

        return loop.run(lambda: run_replay(loop, target, options))
    if options.mode == "accuracy":
        from accuracy import run_accuracy

        return loop.run(lambda: run_accuracy(loop, target, options))
    from throughput import run_throughput

    return loop.run(lambda: run_throughput(loop, target, options))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

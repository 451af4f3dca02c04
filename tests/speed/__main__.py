"""Measure speed as ratios on this machine: `make bench`, or `python -m tests.speed [WORD...] [--runs N]`.

Each row compares a command with the minimum that any program would need for the same result. Both run alternately,
so that a busy machine slows both. The ratio is the median over the pairs; the limit is what infx promises. A new row
is one line in RATIOS.
"""

from __future__ import annotations

import argparse
import os
import sys

from tests.speed.folders import REAL
from tests.speed.measure import SkippedError, measure
from tests.speed.ratios import RATIOS, find_limit


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.speed", description="Measure speed as ratios.")
    parser.add_argument("word", nargs="*", help="measure only rows whose name contains one of these words")
    parser.add_argument("--runs", type=int, default=15, help="number of pairs for each row (default: 15)")
    options = parser.parse_args()
    for who in ("AUTHOR", "COMMITTER"):
        os.environ |= {f"GIT_{who}_NAME": "cody", f"GIT_{who}_EMAIL": "cody@example.com"}
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    over = 0
    print(f"{'':<36}{'base':>9}{'command':>9}{'ratio':>8}{'limit':>7}")
    for ratio in RATIOS:
        if options.word and not any(word in ratio.name for word in options.word):
            continue
        try:
            measured = measure(ratio, options.runs)
        except SkippedError as reason:
            print(f"{ratio.name:<36}  skipped: {reason}.", flush=True)
            continue
        limit = find_limit(ratio)
        is_over = limit is not None and measured.ratio > limit
        over += is_over
        print(
            f"{ratio.name:<36}{measured.base:>8.3f}s{measured.command:>8.3f}s{measured.ratio:>7.2f}x{limit or '-':>7}"
            f"{'  over' if is_over else ''}",
            flush=True,
        )
    if not REAL.is_dir():
        print(
            "The limits of some rows apply to hundreds of configurations; the data folder with them is missing."
        )
    return int(over > 0)


if __name__ == "__main__":
    sys.exit(main())

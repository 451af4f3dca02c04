"""Write plans to files, in the format of `infx plan`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from infx.bench.family import bucket_of
from infx.bench.row import Row, render_row


def write_plan(path: Path, rows: Sequence[Row]) -> Path:
    plan: dict[str, Any] = {"single_node": {}, "multi_node": {}}
    for value in rows:
        *above, last = bucket_of(value)
        lists = plan
        for key in above:
            lists = lists.setdefault(key, {})
        lists.setdefault(last, []).append(render_row(value))
    path.write_text(json.dumps(plan))
    return path

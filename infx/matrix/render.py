"""Rows as JSON text, one a line, so that a diff of two outputs is a diff of rows."""

from __future__ import annotations

import json
from collections.abc import Iterable

from infx.matrix.row import Row, render_row


def render_rows(rows: Iterable[Row]) -> str:
    """A JSON array."""
    lines = [json.dumps(render_row(row), ensure_ascii=False) for row in rows]
    return "[\n" + ",\n".join(lines) + "\n]" if lines else "[]"

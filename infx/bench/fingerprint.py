"""A name for what is measured, the same for all concurrencies: results with one fingerprint form one curve."""

from __future__ import annotations

import hashlib
import json

from infx.bench.row import Recipe, render_recipe


def fingerprint_recipe(recipe: Recipe) -> str:
    """SHA-256, 64 hex digits, of the recipe's compact, key-sorted, ASCII JSON.

    Fixed workloads hash with `run-eval: false`, as their rows have it when no accuracy run is asked for.
    """
    values = render_recipe(recipe)
    if not recipe.is_agentic:
        values["run-eval"] = False
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()

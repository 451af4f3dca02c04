"""Write JSON files completely or not at all."""

from __future__ import annotations

import json
import math
import os


def write_json(folder: str, name: str, value: object) -> None:
    """Write a value into a folder, which is created if needed: a hidden file first, then a rename.

    Numbers that are not finite are left out.
    """
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    draft = os.path.join(folder, "." + name + "." + str(os.getpid()))
    try:
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(drop_infinite(value), file, indent=2, allow_nan=False)
            file.write("\n")
        os.replace(draft, path)
    except BaseException:
        remove_file(draft)
        raise


def drop_infinite(value: object) -> object:
    """Return a JSON value without the fields whose numbers are not finite, because JSON has no such numbers."""
    if isinstance(value, dict):
        return {key: drop_infinite(item) for key, item in value.items() if not _is_infinite(item)}
    if isinstance(value, list):
        return [drop_infinite(item) for item in value if not _is_infinite(item)]
    return value


def _is_infinite(value: object) -> bool:
    return isinstance(value, float) and not math.isfinite(value)


def remove_file(path: str) -> None:
    """Remove a file if it exists."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass

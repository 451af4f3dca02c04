"""Write JSON files completely or not at all."""

from __future__ import annotations

import json
import os


def write_json(folder: str, name: str, value: object) -> None:
    """Write a value into a folder, which is created if needed: a hidden file first, then a rename."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, name)
    draft = os.path.join(folder, "." + name + "." + str(os.getpid()))
    try:
        with open(draft, "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, indent=2, allow_nan=False)
            file.write("\n")
        os.replace(draft, path)
    except BaseException:
        remove_file(draft)
        raise


def remove_file(path: str) -> None:
    """Remove a file if it exists."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass

"""Texts that the files of a new repository share."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)*")
_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"}  # values of some versions of YAML


def render_scalar(text: str) -> str:
    """Return the text as every version of YAML reads it back: plain if that is safe, else in quotes."""
    return text if _PLAIN.fullmatch(text) and text.lower() not in _WORDS else json.dumps(text)


def render_list(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(render_scalar, texts))}]"


def make_file_name(text: str) -> str:
    """Return a label as a part of a key."""
    return re.sub(r"[^A-Za-z0-9.-]", "-", text)

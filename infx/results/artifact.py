"""Artifacts in memory: files by path, and a strict JSON reader. An uploader may have put anything into them."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from infx.records import record

MAX_FILE = 5_000_000  # bytes of one JSON file
MAX_FILES = 500  # JSON files of one artifact
MAX_BYTES = 50_000_000  # bytes of all JSON files of one artifact
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@record
class ArtifactFile:
    """A file of an artifact."""

    path: str  # inside the artifact, with `/`
    data: bytes = b""
    modified: float = 0.0  # seconds since 1970
    fault: str | None = None  # a clause that says why there is no data

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


@record
class ReadArtifact:
    """An artifact whose files have been read."""

    name: str
    files: tuple[ArtifactFile, ...] = ()  # JSON files, sorted by path
    fault: str | None = None  # a clause that says why the artifact could not be read


class JsonFaultError(ValueError):
    """Raised when bytes are not JSON that infx accepts; its text is a clause."""


def read_json(file: ArtifactFile) -> Any:
    """Return the value of a JSON file. Raises JsonFaultError.

    NaN, infinity, duplicate keys, lone surrogates and deep nesting are faults, so every value can be written again.
    """
    if file.fault is not None:
        raise JsonFaultError(file.fault)
    try:
        value = json.loads(
            file.data.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_float=_read_float,
            object_pairs_hook=_make_unique,
        )
        if _SURROGATE.search(file.data):
            json.dumps(value, ensure_ascii=False).encode()
    except JsonFaultError:
        raise
    except UnicodeEncodeError:
        raise JsonFaultError("it is not valid Unicode: it holds a lone surrogate") from None
    except RecursionError:
        raise JsonFaultError("it is nested too deeply") from None
    except ValueError:
        raise JsonFaultError("it is not JSON") from None
    return value


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise JsonFaultError(f"it holds {text[:20]}, which is not a finite number")
    return value


def _refuse_constant(name: str) -> Any:
    raise JsonFaultError(f"it holds {name}, which is not a JSON number")


def _make_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise JsonFaultError("it holds a key twice")
    return values

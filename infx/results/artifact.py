"""An artifact as read: files by name, and JSON in them. Whoever uploaded it may have put in anything."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

MAX_FILE = 5_000_000  # bytes of one JSON file
MAX_FILES = 500  # JSON files of one artifact
MAX_BYTES = 50_000_000  # of all of them together
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


@dataclass(frozen=True, kw_only=True)
class ArtifactFile:
    """path: inside the artifact, with `/`. modified: seconds since 1970. fault: why there is no data, a clause."""

    path: str
    data: bytes = b""
    modified: float = 0.0
    fault: str | None = None

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, kw_only=True)
class ReadArtifact:
    """files: its JSON files, by path. fault: why it could not be read as a whole, a clause."""

    name: str
    files: tuple[ArtifactFile, ...] = ()
    fault: str | None = None


class JsonFaultError(ValueError):
    """Why bytes are no JSON that may be used, as a clause."""


def read_json(file: ArtifactFile) -> Any:
    """The file's value: no NaN or infinity, no key twice, no nesting beyond what Python reads, no half of a
    character. So whatever was read can be written again.
    """
    if file.fault is not None:
        raise JsonFaultError(file.fault)
    try:
        value = json.loads(
            file.data.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            parse_float=_read_float,
            object_pairs_hook=_unique,
        )
        if _SURROGATE.search(file.data):
            json.dumps(value, ensure_ascii=False).encode()
    except JsonFaultError:
        raise
    except UnicodeEncodeError:
        raise JsonFaultError("it holds half a character, which cannot be written again") from None
    except RecursionError:
        raise JsonFaultError("it is nested too deeply") from None
    except ValueError:
        raise JsonFaultError("it is not JSON") from None
    return value


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise JsonFaultError(f"it holds {text[:20]}, which is no finite number")
    return value


def _refuse_constant(name: str) -> Any:
    raise JsonFaultError(f"it holds {name}, which is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise JsonFaultError("it holds a key twice")
    return values

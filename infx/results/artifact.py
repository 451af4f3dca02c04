"""An artifact as read: files by name, and JSON in them. Whoever uploaded it may have put in anything."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

MAX_FILE = 5_000_000  # bytes of one JSON file
MAX_FILES = 500  # JSON files of one artifact


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
    """The file's value: no NaN or infinity, no key twice, no nesting beyond what Python reads."""
    if file.fault is not None:
        raise JsonFaultError(file.fault)
    try:
        return json.loads(file.data, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except JsonFaultError:
        raise
    except RecursionError:
        raise JsonFaultError("it is nested too deeply") from None
    except (ValueError, UnicodeDecodeError):
        raise JsonFaultError("it is not JSON") from None


def _refuse_constant(name: str) -> Any:
    raise JsonFaultError(f"it holds {name}, which is no JSON number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) != len(pairs):
        raise JsonFaultError("it holds a key twice")
    return values

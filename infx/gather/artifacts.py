"""Read the artifacts of a run from a folder of downloaded ones, and download those that the folder does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from infx.artifacts import MAX_ZIP, read_folder, read_zip
from infx.model import Artifact
from infx.results.artifact import ReadArtifact


class ArtifactPort(Protocol):
    """The requests to GitHub that downloading artifacts needs."""

    def artifacts(self, run_id: int, *, name: str | None = None) -> list[Artifact]: ...
    def download_artifact(self, artifact_id: int, *, limit: int) -> bytes: ...


class Wanted:
    """A container of every name for which a function returns True."""

    def __init__(self, is_wanted: Callable[[str], bool]) -> None:
        self.is_wanted = is_wanted

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.is_wanted(name)


def read_artifacts(
    wanted: Wanted, folder: Path | None, run: int | None, connect: Callable[[], ArtifactPort]
) -> Iterator[ReadArtifact]:
    """Return every artifact of the folder, then those that only the run has; unwanted ones have no files."""
    names = set()
    for artifact in read_folder(folder, wanted) if folder is not None else ():
        names.add(artifact.name)
        yield artifact
    if run is None:
        return
    github = connect()
    for item in github.artifacts(run):
        if item.name not in names:
            yield download(github, item) if item.name in wanted else ReadArtifact(name=item.name)


def download(github: ArtifactPort, item: Artifact) -> ReadArtifact:
    """Download an artifact, unless it has expired or is too large."""
    if item.expired:
        return ReadArtifact(name=item.name, fault="it has expired")
    if item.size > MAX_ZIP:
        return ReadArtifact(
            name=item.name, fault=f"it has {item.size:,} bytes, more than the limit of {MAX_ZIP:,}"
        )
    return read_zip(item.name, github.download_artifact(item.id, limit=MAX_ZIP))

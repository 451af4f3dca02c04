"""Wheels of what this environment has installed, so that an installation can be played without a network."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

# What an installer adds; the scripts that it makes lie outside of the package's folder.
_ADDED = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}


def pack_wheels(requirements: str, folder: Path) -> str:
    """Pack every requirement that is installed; returns the same requirements with the hashes of these wheels."""
    folder.mkdir(parents=True)
    lines = []
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", requirements, re.MULTILINE):
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # not for this platform
        assert found.version == version, f"{name} is not the one that is locked"
        digest = hashlib.sha256(_pack(found, folder).read_bytes()).hexdigest()
        lines.append(f"{name}=={version} --hash=sha256:{digest}\n")
    return "".join(lines)


def _pack(found: Distribution, folder: Path) -> Path:
    files = {
        str(file): Path(str(file.locate())).read_bytes()
        for file in found.files or ()
        if ".." not in file.parts and file.name not in _ADDED and file.suffix != ".pyc"
    }
    info = next(name for name in files if name.endswith(".dist-info/WHEEL")).split("/")[0]
    path = folder / f"{info.removesuffix('.dist-info')}-{_tag(found)}.whl"
    record = io.StringIO()
    writer = csv.writer(record)
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        writer.writerow((name, f"sha256={digest}", len(data)))
    writer.writerow((f"{info}/RECORD", "", ""))
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**files, f"{info}/RECORD": record.getvalue().encode()}.items():
            archive.writestr(name, data)
    return path


def _tag(found: Distribution) -> str:
    tags = re.findall(r"^Tag: (\S+)-(\S+)-(\S+)$", found.read_text("WHEEL") or "", re.MULTILINE)
    return "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))

"""Pack wheels from the packages of this environment, so that a test can install them without a network."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import zipfile
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

# Files that an installer adds; its scripts are outside the package's folder.
_ADDED = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}


def pack_wheels(requirements: str, folder: Path) -> str:
    """Pack every installed requirement, and return the requirements with the hashes of these wheels."""
    folder.mkdir(parents=True)
    lines = []
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", requirements, re.MULTILINE):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue  # the requirement is for other platforms
        assert package.version == version, f"the installed {name} is not the locked version"
        digest = hashlib.sha256(_pack(package, folder).read_bytes()).hexdigest()
        lines.append(f"{name}=={version} --hash=sha256:{digest}\n")
    return "".join(lines)


def _pack(package: Distribution, folder: Path) -> Path:
    files = {
        str(file): Path(str(file.locate())).read_bytes()
        for file in package.files or ()
        if ".." not in file.parts and file.name not in _ADDED and file.suffix != ".pyc"
    }
    info = next(name for name in files if name.endswith(".dist-info/WHEEL")).split("/")[0]
    path = folder / f"{info.removesuffix('.dist-info')}-{_read_tag(package)}.whl"
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


def _read_tag(package: Distribution) -> str:
    tags = re.findall(r"^Tag: (\S+)-(\S+)-(\S+)$", package.read_text("WHEEL") or "", re.MULTILINE)
    return "-".join(".".join(dict.fromkeys(parts)) for parts in zip(*tags, strict=True))

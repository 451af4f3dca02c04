"""Steps that copy the checkout to a node that does not share it, and results back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from infx.launch.cluster import WorkspaceTransfer
from infx.launch.steps import Step, StepName
from infx.launch.texts import Texts

_SECONDS = 900
_SENT, _RESULTS = "{scratch}/workspace.tar.gz", "{scratch}/results.tar.gz"  # on this machine

# Arguments: the copy's folder, its archive, and folders that must exist.
_UNPACK = """\
set -e
umask 077
rm -rf -- "$1"
mkdir -- "$1"
tar -xzf "$2" -C "$1"
chmod 700 -- "$1"
rm -f -- "$2"
shift 2
for folder in "$@"; do mkdir -p -- "$folder"; done
"""
# Arguments: the copy's folder, and patterns. A pattern without a file is left out.
_COLLECT = """\
cd -- "$1" || exit 1
shift
shopt -s nullglob
IFS=
files=()
for pattern in "$@"; do
  for file in $pattern; do test -e "$file" && files+=("./$file"); done
done
tar -czf - --files-from /dev/null -- "${files[@]}"
"""
_RUNTIME = ("XDG_RUNTIME_DIR",)  # variables whose folders must exist, for the owner only


def render_sending(
    transfer: WorkspaceTransfer, texts: Texts, environment: Mapping[str, str], in_job: tuple[str, ...]
) -> Iterator[Step]:
    """Yield the steps that pack the checkout, send it and unpack it on the node."""
    path = texts.fill(transfer.path)
    archive = f"{path}.tar.gz"
    pack = ("tar", "-czf", _SENT, "-C", "{workspace}", ".")
    yield Step(name=StepName.PACK, argv=pack, environment={}, seconds=_SECONDS)
    send = ("sbcast", "--jobid={job}", "--force", _SENT, archive)
    yield Step(name=StepName.SEND, argv=send, environment={}, seconds=_SECONDS)
    folders = [environment[name] for name in _RUNTIME if name in environment]
    unpack = (*in_job, "bash", "-c", _UNPACK, "unpack", path, archive, *folders)
    yield Step(name=StepName.UNPACK, argv=unpack, environment={}, seconds=_SECONDS)


def render_bringing_back(
    transfer: WorkspaceTransfer, texts: Texts, gathered: tuple[str, ...], in_job: tuple[str, ...]
) -> Iterator[Step]:
    """Yield the steps that bring results back, also after a failure, and remove the copy.

    gathered: patterns of the row's results, which come back whatever the cluster lists.
    """
    path = texts.fill(transfer.path)
    patterns = dict.fromkeys((*transfer.brought_back, *gathered))
    collect = (*in_job, "bash", "-c", _COLLECT, "collect", path, *patterns)
    yield Step(
        name=StepName.BRING_BACK,
        argv=collect,
        environment={},
        seconds=_SECONDS,
        is_always_run=True,
        output=_RESULTS,
    )
    unpack = ("tar", "-xzf", _RESULTS, "--no-same-owner", "--no-same-permissions", "-C", "{workspace}")
    yield Step(
        name=StepName.UNPACK_RESULTS, argv=unpack, environment={}, seconds=_SECONDS, is_always_run=True
    )
    remove = (*in_job, "rm", "-rf", "--", path, f"{path}.tar.gz")
    yield Step(name=StepName.REMOVE, argv=remove, environment={}, seconds=_SECONDS, is_always_run=True)

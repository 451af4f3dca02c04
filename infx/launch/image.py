"""The step that imports a container image into a squash file, on the machine or on a node."""

from __future__ import annotations

from collections.abc import Mapping

from infx.launch.cluster import Cluster, ImageSource, ImportPlace
from infx.launch.steps import ImageImport, Step, StepName
from infx.launch.texts import Texts, is_file

# Exit codes of the script, in addition to those of signals.
LOCK_TIMED_OUT, IMPORT_FAILED, FILE_INVALID = 75, 74, 73

# One import at a time for each file, under a temporary name, so that a file with the final name is always whole. The
# temporary name is the process's own, because locks of some shared file systems hold on one machine only.
# Arguments: file, address, seconds to wait for the lock, beginning of a scratch folder or nothing.
_SCRIPT = """\
file=$1 address=$2 wait=$3 scratch=$4 new=$1.importing.$HOSTNAME.$$ place=${1%/*} folder=
say() { echo "infx: $*" >&2; }
is_valid() { test -s "$1" && unsquashfs -l "$1" > /dev/null 2>&1; }
make_own() { test -z "$1" || (umask 077; mkdir -p -- "$1"); }
make_own "${TMPDIR:-}" && make_own "${ENROOT_CACHE_PATH:-}" || exit 74
if ! mkdir -p -- "$place" || ! exec 9>> "$file.lock"; then say "cannot write in $place"; exit 74; fi
flock -w "$wait" 9 || { say "another import held $file.lock for $wait seconds"; exit 75; }
is_valid "$file" && exit 0
trap 'rm -rf -- "$new" ${folder:+"$folder"}' EXIT
trap 'exit 143' TERM INT HUP
find "$place" -maxdepth 1 -name "${file##*/}.importing.*" -mmin +1440 -delete
if test -n "$scratch"; then
  folder=$(mktemp -d "$scratch.XXXXXX") || exit 74
  export ENROOT_TEMP_PATH=$folder/tmp ENROOT_CACHE_PATH=$folder/cache ENROOT_DATA_PATH=$folder/data
  export ENROOT_RUNTIME_PATH=$folder/run
  mkdir -- "$folder/tmp" "$folder/cache" "$folder/data" "$folder/run" || exit 74
fi
if ! enroot import -o "$new" "$address" 9>&-; then
  say "enroot did not import $address; free space:"
  df -h -- "$place" ${folder:+"$folder"} >&2
  exit 74
fi
is_valid "$new" || { say "enroot wrote no valid image for $address"; exit 73; }
mv -f -- "$new" "$file" || exit 74
"""


def render_import(cluster: Cluster, texts: Texts, in_job: tuple[str, ...]) -> Step | None:
    """Return the import of a row's image; None if nothing has to be imported.

    in_job: the beginning of an argv that runs a process on a node of the allocation.
    """
    image = cluster.image
    is_missing = image.source is ImageSource.SQUASH and image.place is not ImportPlace.PRE_STAGED
    if not is_missing or is_file(texts.values["image"]):
        return None
    facts = ImageImport(
        file=texts.values["squash"],
        address=texts.fill(image.uri),
        is_on_node=image.place is ImportPlace.NODE,
        lock_seconds=image.lock_timeout,
    )
    environment = expand_home(texts.fill_map(image.env))
    return make_import(
        facts, in_job, environment, minutes=cluster.limits.image_import, scratch=image.scratch or ""
    )


def make_import(
    facts: ImageImport,
    in_job: tuple[str, ...],
    environment: Mapping[str, str],
    *,
    minutes: int,
    scratch: str = "",
) -> Step:
    """Return the step that imports an image. minutes: without the wait for the lock."""
    arguments = (facts.file, facts.address, str(facts.lock_seconds), scratch)
    return Step(
        name=StepName.IMPORT,
        argv=(*(in_job if facts.is_on_node else ()), "bash", "-c", _SCRIPT, "import-image", *arguments),
        environment=environment,
        seconds=facts.lock_seconds + 60 * minutes,
        image_import=facts,
    )


def expand_home(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with `{home}` for `$HOME`, because no shell reads them."""
    return {name: value.replace("$HOME", "{home}") for name, value in environment.items()}

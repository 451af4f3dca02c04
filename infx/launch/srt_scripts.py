"""The shell scripts of a launch through srt-slurm. Their arguments carry all data."""

from __future__ import annotations

# Folder of own recipes, folder of srt-slurm's recipes, and the folders to copy.
OVERLAY = """\
set -e
own=$1 target=$2
shift 2
for folder in "$@"; do
  mkdir -p -- "$target/$folder"
  cp -R -- "$own/$folder/." "$target/$folder"
done
"""

# Folder of srt-slurm.
INSTALL = """\
set -e
cd -- "$1"
if command -v uv > /dev/null; then
  uv venv --seed .venv
else
  python3 -m venv .venv
fi
.venv/bin/python -m pip install --quiet -e .
"""

# Files that must exist.
CHECK = """\
for file in "$@"; do
  test -s "$file" || { echo "infx: the image $file is not there; an operator puts it there" >&2; exit 66; }
done
"""

# File and content.
WRITE = """\
printf '%s\\n' "$2" > "$1"
"""

# Folder of srt-slurm, and a command.
SUBMIT = """\
cd -- "$1" || exit 1
shift
PATH=$PWD/.venv/bin:$PATH exec "$@"
"""

# Job and its log. The log is shown until the job has left the queue; a queue that does not answer is not empty.
WAIT = """\
job=$1 log=$2 failures=0
tail -n +1 -F -- "$log" 2> /dev/null &
trap 'kill %1 2> /dev/null' EXIT
while :; do
  if state=$(timeout 60 squeue --noheader --jobs="$job" --format=%T 2>&1); then
    failures=0
    test -n "$state" || exit 0
  elif [[ $state == *"Invalid job id"* ]]; then
    exit 0
  else
    failures=$((failures + 1))
    test "$failures" -lt 10 || { echo "infx: squeue failed 10 times: $state" >&2; exit 70; }
  fi
  sleep 15
done
"""

# Folder of the job's outputs, workspace, and the stem of the row's results. Without a result the row has failed.
COLLECT = """\
set -e
shopt -s nullglob
found=0
for file in "$1"/*isl*osl*/results_concurrency_*.json "$1"/logs/*isl*osl*/results_concurrency_*.json; do
  name=${file##*/results_concurrency_}
  folder=${file%/*}
  cp -- "$file" "$2/$3_${folder##*/}_conc$name"
  found=$((found + 1))
done
for folder in "$1"/eval_results "$1"/logs/eval_results; do
  test -d "$folder" || continue
  cp -R -- "$folder/." "$2/"
  found=$((found + 1))
done
test "$found" -gt 0 || { echo "infx: srt-slurm left no results in $1" >&2; exit 1; }
"""

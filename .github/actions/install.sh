#!/usr/bin/env bash
# Installs infx from the files that this script came with and puts it on the PATH of the job's later steps.
#
# Every wheel must have a hash in requirements/run.txt; nothing is built but infx itself, with a backend from the same
# list. One job installs once: RUNNER_TEMP is emptied before and after every job.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
home="${RUNNER_TEMP:?install.sh runs inside a job of GitHub Actions}/infx-$(printf '%s' "$root" | cksum | cut -d' ' -f1)"
python=${INFX_PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error::infx needs Python 3.11 or newer on this runner; set INFX_PYTHON to one."
  exit 2
}
if [ ! -e "$home/installed" ]; then
  rm -rf "$home"
  PYTHONSAFEPATH=1 "$python" -m venv "$home" # a venv.py of the checkout that this runs in is not to be run
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
  # A machine that outlives the job must not hand on what an earlier job left in a cache.
  if [ "${RUNNER_ENVIRONMENT:-}" != github-hosted ]; then export PIP_NO_CACHE_DIR=1; fi
  "$home/bin/pip" install --quiet --require-hashes --only-binary :all: -r "$root/requirements/run.txt"
  "$home/bin/pip" install --quiet --no-deps --no-build-isolation "$root"
  touch "$home/installed"
fi
echo "$home/bin" >> "${GITHUB_PATH:?}"

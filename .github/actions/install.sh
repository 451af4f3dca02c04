#!/usr/bin/env bash
# Install infx from this script's repository, and add it to the PATH of the job's later steps.
#
# Every wheel must have a hash in requirements/run.txt. Only infx itself is built, with a backend from the same list.
# A job installs infx once: the runner empties RUNNER_TEMP before and after every job.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
home="${RUNNER_TEMP:?install.sh runs inside a job of GitHub Actions}/infx-$(printf '%s' "$root" | cksum | cut -d' ' -f1)"
python=${INFX_PYTHON:-python3}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error::infx needs Python 3.11 or newer on this runner; set INFX_PYTHON to its path."
  exit 2
}
if [ ! -e "$home/installed" ]; then
  rm -rf "$home"
  PYTHONSAFEPATH=1 "$python" -m venv "$home" # must not run a venv.py of the checkout
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
  # On a machine that outlives the job, an earlier job may have put wrong files into the cache.
  if [ "${RUNNER_ENVIRONMENT:-}" != github-hosted ]; then export PIP_NO_CACHE_DIR=1; fi
  "$home/bin/pip" install --quiet --require-hashes --only-binary :all: -r "$root/requirements/run.txt"
  "$home/bin/pip" install --quiet --no-deps --no-build-isolation "$root"
  touch "$home/installed"
fi
echo "$home/bin" >> "${GITHUB_PATH:?}"

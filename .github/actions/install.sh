#!/usr/bin/env bash
# Install infx from this script's repository, and add it to the PATH of the job's later steps.
#
# Every wheel must have a hash in requirements/actions.txt, which lacks the packages that only `infx demo` imports, or in
# requirements/sql.txt if INFX_STORE names a database. With INFX_EXTRA=page, those of requirements/page.txt are added. infx itself
# is copied, so nothing is built. A job installs infx once: the runner empties RUNNER_TEMP before and after every job.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case "${INFX_STORE:-}" in sqlite:* | postgresql:*) lock=sql ;; *) lock=actions ;; esac
home="${RUNNER_TEMP:?install.sh runs inside a job of GitHub Actions}/infx-$(printf '%s' "$root" | cksum | cut -d' ' -f1)-$lock"
python=${INFX_PYTHON:-python3}
export PYTHONSAFEPATH=1 # must not run a venv.py or pip.py of the checkout

has_uv() { # only the pinned version, because options differ between versions
  local pinned
  pinned=$(sed -n 's/^uv==\([^ ]*\).*/\1/p' "$root/requirements/uv.txt")
  [ "$(uv --version 2> /dev/null | cut -d' ' -f1,2)" = "uv $pinned" ]
}

has_pip() { # pip installs into the environment of another Python since 22.3
  "$python" -c 'import pip, sys; sys.exit([int(part) for part in pip.__version__.split(".")[:2]] < [22, 3])' 2> /dev/null
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || {
  echo "::error::infx needs Python 3.11 or newer on this runner; set INFX_PYTHON to its path."
  exit 2
}
add() { # install the packages of a lock into the environment, which is made first
  local install
  export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
  # On a machine that outlives the job, an earlier job may have put wrong files into the cache.
  if [ "${RUNNER_ENVIRONMENT:-}" != github-hosted ]; then export PIP_NO_CACHE_DIR=1 UV_NO_CACHE=1; fi
  # Installing pip and compiling every module would take longer than all the rest; most jobs import few modules.
  if has_uv; then
    make_environment --without-pip
    # uv reads a uv.toml in its folder and in the folders above, and must not read one of the checkout.
    install=(uv --directory "$home" pip install --python "$home/bin/python")
  elif has_pip; then
    make_environment --without-pip
    install=("$python" -m pip --python "$home/bin/python" install --no-compile)
  else
    make_environment
    install=("$home/bin/python" -m pip install --no-compile)
  fi
  "${install[@]}" --quiet --require-hashes --only-binary :all: -r "$root/requirements/$1.txt"
}

make_environment() {
  [ -e "$home/bin/python" ] || "$python" -m venv "$@" "$home"
}

if [ ! -e "$home/installed" ]; then
  rm -rf "$home"
  add "$lock"
  cp -RL "$root/infx" "$home"/lib/*/site-packages/
  # shellcheck disable=SC2016 # the launcher expands them
  printf '#!/bin/sh\nexec "${0%%/*}/python" -P -c "from infx.cli import main; main()" "$@"\n' > "$home/bin/infx"
  chmod +x "$home/bin/infx"
  touch "$home/installed"
fi
if [ "${INFX_EXTRA:-}" = page ] && [ ! -e "$home/page" ]; then
  add page
  touch "$home/page"
fi
echo "$home/bin" >> "${GITHUB_PATH:?}"

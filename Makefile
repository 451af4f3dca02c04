# Every target installs what it needs into .venv; only Python 3.11+, git and make must be there.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint bench fix lock nightly pictures release clean

demo: .venv/run
	@$(BIN)/infx demo --html demo.html

test: .venv/dev
	@$(BIN)/pytest -n 2 --dist worksteal

nightly: .venv/dev
	@$(BIN)/pytest -n auto --timeout 14400 -m nightly
	@HYPOTHESIS_PROFILE=nightly $(BIN)/pytest -n auto --timeout 14400 -k properties

lint: .venv/dev
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/vermin --quiet --no-tips --violations --target=3.8- infx/rowfile infx/demo/data/benchmarks
	@$(BIN)/shellcheck .ci/run .github/actions/install.sh tests/act/stand-in/stand-in infx/demo/data/benchmarks/run.sh
	@$(BIN)/actionlint -shellcheck $(BIN)/shellcheck
	@$(BIN)/zizmor --offline --quiet --persona auditor .github $(wildcard action.yml)
	@$(BIN)/infx workflows check --format table

bench: .venv/dev
	@$(BIN)/python -m tests.speed

pictures: .venv/dev
	@$(BIN)/python -m tests.pictures

# The version is that of the tag at HEAD; docs/releases.md has the steps.
release: .venv/run
	@$(BIN)/python -m tests.release

fix: .venv/dev
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format

# Resolve pyproject.toml again, for every Python and platform in one file. uv.txt pins uv itself, and nightly.txt the client
# of others that `make nightly` runs; actions.txt lacks the packages that no command of a workflow imports; sql.txt adds those
# that a job with a results store in SQL needs, and page.txt the one whose script draws charts.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --upgrade
lock: .venv/dev
	@$(COMPILE) --extra page --group build pyproject.toml --output-file requirements/run.txt
	@$(COMPILE) --no-emit-package rich --no-emit-package pygments pyproject.toml --output-file requirements/actions.txt
	@$(COMPILE) --extra sql --no-emit-package rich --no-emit-package pygments pyproject.toml --output-file requirements/sql.txt
	@$(COMPILE) --extra page --no-emit-package rich --no-emit-package pygments pyproject.toml --output-file requirements/page.txt
	@$(COMPILE) --extra sql --extra page --group build --group dev pyproject.toml --output-file requirements/dev.txt
	@$(COMPILE) --group uv --output-file requirements/uv.txt
	@$(COMPILE) --group nightly --output-file requirements/nightly.txt

clean:
	@rm -rf .venv

.venv/bin/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "infx needs Python 3.11 or newer; name an interpreter, as in make PYTHON=python3.12")'
	@$(PYTHON) -m venv .venv

.venv/run: requirements/run.txt pyproject.toml | .venv/bin/pip
	@$(BIN)/pip install --quiet --require-hashes -r requirements/run.txt
	@$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m compileall -q infx
	@touch $@

.venv/dev: requirements/dev.txt requirements/uv.txt .venv/run
	@$(BIN)/pip install --quiet --require-hashes -r requirements/dev.txt -r requirements/uv.txt
	@touch $@

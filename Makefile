# Headgate: everything a developer does. `make` alone lists it.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
LOCK   := requirements/dev.txt
RUN    := requirements/run.txt
NODE   := requirements/node.txt
STAMP  := $(VENV)/.stamp
USABLE := $(VENV)/.usable
TOOL   := requirements/install.txt
# What tests extract from: apart from ours, so that no package of theirs changes what ours does.
SOURCES     := .venv-sources
SOURCE_LOCK := requirements/sources.txt
SOURCE_NODE := requirements/sources
MADE   := $(VENV)/.made
UV     := $(shell command -v uv 2>/dev/null)
PIP     = $(BIN)/python -m pip --python $(1)/bin/python install -qq --disable-pip-version-check --no-compile --no-deps
# uv takes a tenth of pip's time. Where it finds no registry, since only pip was told of one, pip does it.
INSTALLER = $(or $(UV),$(BIN)/uv) pip install --quiet --python $(1)/bin/python --no-deps
install_into = $(call INSTALLER,$(1)) $(2) 2>$(1)/install.log || $(call PIP,$(1)) $(2)
install = $(call install_into,$(VENV),$(1))

# Many tests wait more than they work. Files run in the order of tests/conftest.py: the longest first.
JOBS   ?= 5
FAST   := tests/unit tests/conformance tests/docs

MAKEFLAGS += --no-print-directory
# The tests start hundreds of processes: without bytecode each would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help

##@ Use

.PHONY: help
help: ## Print this list
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo

.PHONY: setup
setup: $(STAMP) web ## Create .venv: locked dependencies, and headgate itself from this folder with its web UI

$(MADE): $(TOOL)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo 'Headgate needs Python 3.11 or newer; name one: make setup PYTHON=python3.12' >&2; exit 1; }
	@echo 'Setting up $(VENV) ...'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@test -n '$(UV)' || $(call PIP,$(VENV)) --only-binary :all: --require-hashes --requirement $(TOOL) 2>$(VENV)/install.log || true
	@touch $@

# What headgate runs with comes first, and the demo waits for no more than that.
# Both installers refuse a file whose hash is not in the lock.
$(USABLE): $(MADE) pyproject.toml $(RUN)
	@$(call install,--require-hashes --requirement $(RUN))
	@$(call install,--no-build-isolation --editable .)
	@touch $@

$(STAMP): $(USABLE) $(LOCK)
	@echo 'Adding what tests and docs need ...'
	@$(call install,--require-hashes --requirement $(LOCK))
	@touch $@

# Node of the system, else of PyPI.
.PHONY: node
node: $(USABLE)
	@$(BIN)/python web/build_hook.py --has-node || { $(call install,--require-hashes --requirement $(NODE)); }

# Nothing but the pages and some tests need Node: only CI takes a failure for one.
.PHONY: web
web: node
	@$(BIN)/python web/build_hook.py || { test -z "$$CI" && echo 'Going on without the web UI.' >&2; }

.PHONY: demo
demo: $(USABLE) ## Watch a 2,000-row batch against a rate-limited service, interrupted and resumed
	@bash examples/demo/run

.PHONY: serve
serve: setup ## Serve the web UI and its API on this machine, with the handlers of the demo
	@$(BIN)/headgate serve --handlers examples/demo/lookup.py

##@ Develop

.PHONY: check
check: setup ## What you run all day: lint and the fast tests (SQLite only)
	@$(MAKE) -j3 fast lint-python lint-web

.PHONY: fast
fast:
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder -m 'not postgres and not slow and not soak' $(wildcard $(FAST))

# Once for all processes of a run: each would rewrite the assertions of every test file.
.PHONY: compile-tests
compile-tests:
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -m pytest -qq --collect-only -n 0 >$(VENV)/collected.log || { cat $(VENV)/collected.log; exit 1; }

.PHONY: lint
lint: setup ## Format, ruff, spelling, types, layers; the same for the web UI
	@$(MAKE) -j2 lint-python lint-web

.PHONY: lint-python
lint-python:
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/ruff check --quiet .
	@$(BIN)/typos --format brief
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-logo >$(VENV)/lint-imports.log || { cat $(VENV)/lint-imports.log; exit 1; }

.PHONY: lint-web
lint-web:
	@$(BIN)/python web/build_hook.py check

.PHONY: test-web
test-web: lint-web
	@$(BIN)/python web/build_hook.py test

.PHONY: format
format: setup ## Let ruff format and repair what it can
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .
	@$(BIN)/python web/build_hook.py format

.PHONY: test
test: ## What CI runs: lint and every test but the storms, with PostgreSQL
	@$(MAKE) -j3 setup services
	@$(MAKE) -j3 suite lint-python test-web

.PHONY: suite
suite: compile-tests
	@$(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --no-loadscope-reorder -m 'not soak'

.PHONY: soak
soak: setup services ## The fault storms at full size
	@HEADGATE_SOAK=1 $(BIN)/python -m pytest -m soak --timeout 3600

.PHONY: bench
bench: setup services ## Measure, and print the figures against the raw limits and the peers
	@$(BIN)/python -m benchmarks

.PHONY: coverage
coverage: setup ## The fast tests under coverage; the core must be covered whole
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest -q -m 'not postgres and not slow and not soak' $(wildcard $(FAST))
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report
	@$(BIN)/coverage report --include='*/headgate/core/*' --fail-under=100 >/dev/null \
	  || { echo 'headgate.core is not covered whole' >&2; exit 1; }

.PHONY: docs
docs: setup ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --config-file docs/mkdocs/mkdocs.yml

.PHONY: screenshots
screenshots: setup services ## Draw every screen, small and large, light and dark, into screenshots/
	@$(BIN)/python -m tests.browser.screenshots screenshots

##@ Keep house

.PHONY: services
services: system-services sources ## Install the servers that tests and benchmarks need, where they are missing

.PHONY: system-services
system-services:
	@.ci/services

.PHONY: sources
sources: $(SOURCES)/.python-stamp $(SOURCES)/.node-stamp

# Without them tests are skipped, and say so. In CI that is a failure.
WITHOUT_SOURCES = { test -z "$$CI" && echo 'Going on without servers to extract from.' >&2; }

$(SOURCES)/.python-stamp: $(MADE) $(SOURCE_LOCK)
	@echo 'Adding servers to extract from ...'
	@test -x $(SOURCES)/bin/python || $(BIN)/python -m venv --without-pip $(SOURCES)
	@{ $(call install_into,$(SOURCES),--require-hashes --requirement $(SOURCE_LOCK)); } && touch $@ || $(WITHOUT_SOURCES)

$(SOURCES)/.node-stamp: $(SOURCE_NODE)/package-lock.json | node
	@mkdir -p $(SOURCES)
	@cp $(SOURCE_NODE)/package.json $(SOURCE_NODE)/package-lock.json $(SOURCE_NODE)/.npmrc $(SOURCES)
	@$(BIN)/python web/build_hook.py --install $(SOURCES) && touch $@ || $(WITHOUT_SOURCES)

# Hashes, and no address: the same file installs from any registry or mirror.
COMPILE = $(or $(UV),$(BIN)/uv) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-header --no-emit-index-url --no-emit-find-links

.PHONY: lock
lock: ## Compile requirements/ anew from pyproject.toml (LOCK_FLAGS=--upgrade takes newer releases)
	@$(COMPILE) $(LOCK_FLAGS) pyproject.toml --all-extras --group dev --group docs --output-file $(LOCK)
	@$(COMPILE) $(LOCK_FLAGS) pyproject.toml --group build --constraints $(LOCK) --no-annotate --output-file $(RUN)
	@$(COMPILE) $(LOCK_FLAGS) --group install --constraints $(LOCK) --no-annotate --output-file $(TOOL)
	@$(COMPILE) $(LOCK_FLAGS) --group node --output-file $(NODE)
	@$(COMPILE) $(LOCK_FLAGS) --group sources --output-file $(SOURCE_LOCK)
	@! grep -nE '://|file:|^-' $(LOCK) $(RUN) $(TOOL) $(NODE) $(SOURCE_LOCK) || { echo 'the lock names a registry or a path' >&2; exit 1; }

.PHONY: lock-peers
lock-peers: ## Compile benchmarks/requirements.txt anew, with the newest releases of the peers
	@$(COMPILE) --upgrade benchmarks/requirements.in --output-file benchmarks/requirements.txt

.PHONY: clean
clean: ## Remove .venv, caches and everything built
	@rm -rf $(VENV) $(SOURCES) build dist site htmlcov screenshots web/node_modules src/headgate/app/static .coverage .coverage.* \
	  .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find benchmarks examples src tests web -type d \( -name __pycache__ -o -name .ruff_cache \) -prune -exec rm -rf {} + 2>/dev/null || true

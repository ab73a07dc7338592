# Everything runs in .venv, made from the hashed locks; a target that needs it makes or updates it first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
COMPILE := CUSTOM_COMPILE_COMMAND="make lock" $(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe \
	--strip-extras --all-build-deps --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --no-emit-options

RUN_STAMP := $(VENV)/installed-run
DEV_STAMP := $(VENV)/installed-dev

.DEFAULT_GOAL := help
.PHONY: help install install-dev run chat demo test lint type fmt check test-unit test-int test-e2e test-chaos \
	bench calibrate docs lock clean

help: ## Show this help.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)


run: $(RUN_STAMP) ## Start everything on this machine; Ctrl-C stops it.
	@exec $(BIN)/jada up

chat: $(RUN_STAMP) ## Talk to a running Jada in this terminal.
	@exec $(BIN)/jada chat

demo: $(RUN_STAMP) ## A guided tour of half a minute, with a crash and its recovery.
	@exec $(BIN)/jada demo

install: $(RUN_STAMP) ## Make or update .venv with what running needs.


install-dev: $(DEV_STAMP) ## Make or update .venv with the tools for development too.

test: lint ## Lint, then every test.
	$(BIN)/pytest -q

lint: type ## Style, types, import rules, sizes.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-cache
	$(BIN)/pytest -q tests/contract/test_sizes.py

type: $(DEV_STAMP) ## Types only.
	$(BIN)/mypy --no-error-summary

fmt: $(DEV_STAMP) ## Format, and fix what can be fixed.
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

check: test ## As test, and that generated documents are up to date.
	$(BIN)/python -m docs.generate --check

test-unit: $(DEV_STAMP) ## Pure tests and contracts; seconds.
	$(BIN)/pytest -q tests/unit tests/contract

test-int: $(DEV_STAMP) ## Services on a real nats-server, each test on its own.
	$(BIN)/pytest -q tests/integration

test-e2e: $(DEV_STAMP) ## Real processes, from outside.
	$(BIN)/pytest -q tests/process tests/e2e

test-chaos: $(DEV_STAMP) ## Crashes at every point of a turn.
	$(BIN)/pytest -q tests/chaos

bench: $(DEV_STAMP) ## What a turn costs on this machine.
	$(BIN)/python -m bench.turn --json

calibrate: $(DEV_STAMP) ## Learn the router's weights and thresholds anew from the phrases; a minute.
	$(BIN)/python -m bench.routing_calibrate

docs: $(DEV_STAMP) ## Write the generated documents.
	$(BIN)/python -m docs.generate --write

lock: $(DEV_STAMP) ## Look for newer versions and write both locks.
	$(PIP_INSTALL) pip-tools
	$(COMPILE) --upgrade --output-file requirements.lock pyproject.toml
	$(COMPILE) --upgrade --extra dev --constraint requirements.lock --output-file requirements-dev.lock pyproject.toml

clean: ## Remove .venv and caches; data stays.
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './data/*' -prune -exec rm -rf {} +

# The locks hold setuptools too, so that nothing unhashed is fetched to build the project itself.
$(RUN_STAMP): requirements.lock pyproject.toml | $(BIN)/python
	@echo "Installing into $(VENV) …"
	@$(PIP_INSTALL) --require-hashes -r requirements.lock
	@$(PIP_INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

$(DEV_STAMP): requirements-dev.lock $(RUN_STAMP)
	@$(PIP_INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Jada needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1)." \
		"Name another one: make PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || .ci/install-venv
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

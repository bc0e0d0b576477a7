# From a fresh clone, `make demo` and `make test` do everything they need.

PYTHON ?= python3
VENV   ?= .venv
PIP    := $(VENV)/bin/python -m pip --disable-pip-version-check -q

.DEFAULT_GOAL := help
.PHONY: help demo test lint docs pictures clean distclean

help: ## show this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: $(VENV)/.ready ## simulate a city, make synthetic traces of it, and score them
	$(VENV)/bin/doppeltrace demo --out demo-out --overwrite

test: $(VENV)/.ready-dev lint ## check style and types, and run every test
	$(VENV)/bin/python tests/warm_up.py
	$(VENV)/bin/python -m pytest -q -n auto --dist loadfile

lint: $(VENV)/.ready-dev ## check style and types
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

docs: $(VENV)/.ready-docs ## build the documentation site into site/, with every link checked
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --strict -q

pictures: $(VENV)/.ready-dev ## make the pictures of docs/tutorial.md again
	$(VENV)/bin/python experiments/pictures.py

clean: ## remove caches and the demo's output
	rm -rf demo-out site .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name $(VENV) -prune -o -name __pycache__ -prune -exec rm -rf {} +

distclean: clean ## remove the virtual environment, too
	rm -rf $(VENV)

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.ready: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --no-compile -e .
	@touch $@

$(VENV)/.ready-docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --no-compile -e '.[docs]'
	@touch $@ $(VENV)/.ready

# The developer's tools bring the package along, so one install serves both.
$(VENV)/.ready-dev: pyproject.toml | $(VENV)/bin/python
	$(PIP) install --no-compile -e '.[dev]'
	@touch $@ $(VENV)/.ready

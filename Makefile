# Everything a contributor runs. `make test` is what a change must pass.
#
#   make up      show what Mooring does, on the example fleet
#   make test    lint, types, import contracts, then every test
#   make lint    the first three only
#   make bench   measure against the budgets
#   make setup   make .venv/ (the others do it when needed)

BIN := .venv/bin
# PYTHON=... names the interpreter for .venv; UV= goes without uv.

.DEFAULT_GOAL := test
.PHONY: up test lint bench setup clean

setup: .venv/ready

.venv/ready: pyproject.toml uv.lock scripts/setup.sh scripts/constraints.py
	@sh scripts/setup.sh

up: .venv/ready
	@sh examples/tour.sh

test: lint
	$(BIN)/pytest -n auto

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/ready
	$(BIN)/python -m bench

clean:
	rm -rf .venv dist bench/out .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

# Two commands need nothing before them: `make demo` and `make test`.
.DEFAULT_GOAL := help
.PHONY: help setup demo up test check format lock

BIN := .venv/bin

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## virtual environment, packages, Chromium; does only what is missing
	@scripts/setup

demo: setup ## a whole campaign on the local sandbox web, ends with a report
	@$(BIN)/campaign demo

up: setup ## the installation in the foreground: database, Dagster's UI and daemon
	@$(BIN)/campaign up

test: setup ## every test, on all cores
	@$(BIN)/python -m pytest -n logical --dist worksteal

check: setup ## format, lint, types, import layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: setup ## let ruff format and mend what it can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup ## resolve pyproject.toml anew into requirements.lock, for every Python from 3.11 on
	$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-strip-extras --extra dev \
		--custom-compile-command "make lock" pyproject.toml -o requirements.lock

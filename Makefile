# For a fresh clone: `make demo`, `make test`, `make lint`. They need only Python >= 3.11, git and pip.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
ARGS ?=

# Python caches what it compiles: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

# The layers without a screen or processes, for the edit loop: half a minute.
FAST := tests/session tests/protocol tests/diffing tests/permissions tests/config tests/docs tests/test_fold.py

.PHONY: demo test test-fast test-real test-mcp-conformance lint format bench bench-compare screenshots keys clean

demo: $(READY)
	$(BIN)/acp-tui demo

test: $(READY)
	$(BIN)/pytest $(ARGS)

test-fast: $(READY)
	$(BIN)/pytest $(FAST) $(ARGS)

# Real agents, which have to be installed under $REALAGENTS_HOME; missing ones are skipped.
test-real: $(READY)
	$(BIN)/pytest -m real -n 2 $(ARGS)

# The official conformance suite for MCP clients, which npm downloads the first time; takes two minutes.
test-mcp-conformance: $(READY)
	$(BIN)/python -m tests.mcp.conformance_suite

# Speed compared with the goals; takes a minute.
bench: $(READY)
	$(BIN)/python tests/benchmarks/exec_flood.py
	$(BIN)/python -m tests.benchmarks.export_speed
	$(BIN)/python -m tests.benchmarks.file_menu
	$(BIN)/python -m tests.benchmarks.large_tree
	$(BIN)/python -m tests.benchmarks.mcp_bridge
	$(BIN)/python -m tests.benchmarks.opening_speed
	$(BIN)/python -m tests.benchmarks.review_screen
	$(BIN)/python -m tests.benchmarks.wire_log

# acp-tui and, if $TOAD names its executable, Toad with the same loads; prints the table of docs/speed.md.
bench-compare: $(READY)
	$(BIN)/python -m tests.benchmarks.compare $(ARGS)

# The pictures of the README, from the real screen. Look at them before you commit them.
screenshots: $(READY)
	$(BIN)/python -m tests.pictures.make

# docs/keys.md, from the key table.
keys: $(READY)
	$(BIN)/python -m tests.docs.key_page

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist

# Remade when the project's metadata changes; otherwise this costs nothing.
# pip reads dependency groups from 25.1 on, so it is brought up to date first.
$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "acp-tui needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	$(BIN)/python -m compileall -q acp_tui
	@touch $@

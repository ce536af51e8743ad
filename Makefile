# `make demo` and `make test` do all the set-up; `make help` lists the rest.

PYTHON ?= python3
export PYTHON

VENV := .venv
BIN := $(VENV)/bin
CARGO_FLAGS := --locked

# Done when these are newer than what they are made from.
DEPENDENCIES := $(VENV)/dependencies.stamp
CORE := $(VENV)/core.stamp

RUST := Cargo.toml Cargo.lock pyproject.toml $(shell find crates -name '*.rs' -o -name Cargo.toml -o -name '*.csv')
DEMO := experiments/examples/spray_vs_ecmp.toml

.DEFAULT_GOAL := help
.PHONY: help setup demo test check format bench wheel soak docs clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-14s %s\n", $$1, $$2 }'

setup: $(CORE) ## create .venv and build in release

demo: $(CORE) ## run the first experiment and say where its report is
	rm -rf out/demo
	$(BIN)/weft run $(DEMO) --out out/demo

test: check ## run formatters, linters, type checks and all tests
	cargo test $(CARGO_FLAGS)
	$(BIN)/pytest

check: $(CORE) ## run formatters, linters and type checks
	cargo fmt --all --check
	cargo clippy $(CARGO_FLAGS) --workspace --all-targets -- -D warnings
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/stubtest --mypy-config-file pyproject.toml weft._core

format: $(DEPENDENCIES) ## format all sources
	cargo fmt --all
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(CORE) ## measure speed and memory
	$(BIN)/python benches/speed.py
	$(BIN)/python benches/sweep.py

wheel: $(DEPENDENCIES) ## build a wheel, install it where there is no Rust, and run the demo there
	rm -rf dist
	$(BIN)/maturin build --release $(CARGO_FLAGS) --out dist
	.ci/wheel_demo dist/weft-*.whl

soak: $(CORE) ## run the long tests: hours
	cargo test $(CARGO_FLAGS) --release -- --include-ignored
	$(BIN)/pytest -m soak

docs: $(CORE) ## write docs/reference from the code's comments, and the pages of the Rust crates
	$(BIN)/python -m weft.reference docs/reference
	cargo doc $(CARGO_FLAGS) --no-deps

clean: ## delete everything that was built, and the results in out/
	rm -rf $(VENV) target dist out python/weft/_core.*.so .mypy_cache .ruff_cache .pytest_cache .hypothesis

# Dependencies come from wherever the person's own pip looks.
$(DEPENDENCIES): requirements.lock
	@.ci/prerequisites
	[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --disable-pip-version-check --quiet --requirement requirements.lock
	@touch $@

$(CORE): $(DEPENDENCIES) $(RUST)
	@.ci/prerequisites
	PIP_QUIET=1 VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release $(CARGO_FLAGS)
	@touch $@

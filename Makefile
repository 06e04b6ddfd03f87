# Everything a contributor runs. `make test` is what a change must pass.
#
#   make up      a Kubernetes API with controllers and simulated nodes, until Ctrl-C
#   make tour    what `mooring explain` says, on the example fleet
#   make test    lint, types, import contracts, then every test
#   make lint    the first three only
#   make tools   build the real programs that some tests need: kube-apiserver, kubectl and others (minutes, once)
#   make conformance  run suites that other people wrote against ours (Go and `make tools` needed; minutes)
#   make advice-proof  paste what `mooring explain` proposes, 500 times, and count the pods that land (kubectl needed; minutes)
#   make mutants  put faults into copies of the source and count those that no test notices (SEED=1 COUNT=40 ONLY=; minutes)
#   make page    build the web page into the checkout (`make up` and `make test` do it)
#   make bench   measure against the budgets
#   make soak    churn, kill -9, stops, full disks and floods for an hour, and whether every promise was kept (MINUTES=5 for less)
#   make fuzz    a million requests that no client should send, drawn from a seed (REQUESTS=10000 for fewer)
#   make simulations  10,000 seeds of every feature under faults (SEEDS=100 for fewer; hours)
#   make setup   make .venv/ (the others do it when needed)

BIN := .venv/bin
# PYTHON=... names the interpreter for .venv; UV= goes without uv.

.DEFAULT_GOAL := test
.PHONY: up page tour test lint tools conformance advice-proof bench soak fuzz simulations setup clean mutants

setup: .venv/ready

.venv/ready: pyproject.toml uv.lock scripts/setup.sh scripts/packages.sh scripts/constraints.py
	@sh scripts/setup.sh

up: page
	@$(BIN)/mooring up

page: .venv/ready
	@sh scripts/page.sh

tour: .venv/ready
	@sh examples/tour.sh

test: lint page
	$(BIN)/pytest -n auto

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

tools:
	@sh scripts/tools.sh

conformance: .venv/ready
	@sh scripts/conformance.sh

advice-proof: .venv/ready
	ADVICE_PROOF_SCENES=500 $(BIN)/pytest -q tests/e2e/test_advice_proof.py

SEED := 1
COUNT := 40
mutants: .venv/ready
	$(BIN)/python -m scripts.mutants --seed $(SEED) --count $(COUNT) $(if $(ONLY),--only $(ONLY))

bench: .venv/ready
	$(BIN)/python -m bench

soak: .venv/ready
	$(BIN)/python -m bench.soak --minutes $(or $(MINUTES),60)

fuzz: .venv/ready
	$(BIN)/python -m tests.apiserver.fuzz --requests $(or $(REQUESTS),1000000)

simulations: .venv/ready
	$(BIN)/python -m tests.simulations --seeds $(or $(SEEDS),10000)

clean:
	rm -rf .venv dist bench/out .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache

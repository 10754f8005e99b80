# A thin layer over CMake: CMakeLists.txt is the source of truth, this file is what people type.
# Each target first installs the Debian packages that are missing (scripts/packages), which asks
# before it uses sudo on a terminal; NO_INSTALL=1 forbids that. `make help` lists the targets.

PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
TIME ?= 60
SOAK_TIME ?= 600
PATIENCE ?= 420
SCALE ?= reduced

# configure DIR, OPTIONS: the generator is chosen once, since a directory cannot change it.
configure = cmake -S . -B $(1) --log-level=WARNING \
	$$([ -f $(1)/CMakeCache.txt ] || ! command -v ninja >/dev/null || echo -G Ninja) $(2) >/dev/null
# build DIR, OPTIONS, [--target TARGET]
build = $(call configure,$(1),$(2)) && cmake --build $(1) --parallel $(JOBS) $(3)
# Three tests more than there are processors, because tests of servers spend time waiting for them. A
# test that takes minutes hangs: one in Python then prints where, and ctest ends it. The tests of
# make soak have limits of their own. Freed memory is held back up to 32 MB, not 256, which costs
# less time and is more than a test frees between a mistake and its discovery.
ctest = ASAN_OPTIONS=quarantine_size_mb=32 BLOOMERY_WATCHDOG=$(PATIENCE) \
	PYTHONPATH=$(CURDIR)/tests/watchdog ctest --output-on-failure --no-tests=error \
	--timeout $$(($(PATIENCE) + 30)) --parallel $$(($(JOBS) + 3))

# The system's Python if there is one: it has Debian's modules.
python = $(firstword $(wildcard /usr/bin/python3) python3)

# Tests run three times: with the flags of a release, and with assertions under each sanitizer. There
# -Og compiles in half the time of -O2; the library keeps -O2.
tests = -DBLOOMERY_TESTS=ON -DBLOOMERY_WERROR=ON
sanitized = $(tests) -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-Og -g"

# Each of these needs packages of its own; `deps` installs those that a newcomer needs.
packaged = all run check test examples docs interface soak \
	fuzz bench figures install format lint clean-room

.PHONY: deps hooks clean help $(packaged) $(packaged:%=deps-%)
.NOTPARALLEL:

all:
	@$(call build,build,-DCMAKE_INSTALL_PREFIX="$(PREFIX)")

deps:
	@scripts/packages all run test

$(packaged:%=deps-%): deps-%:
	@scripts/packages $*

$(packaged): %: deps-%

# Only what it starts: the program and the module.
run:
	@$(call build,build,-DCMAKE_INSTALL_PREFIX="$(PREFIX)",--target bloomery bloomery_module)
	@scripts/run-server build/bloomery

examples:
	@$(call build,build,-DCMAKE_INSTALL_PREFIX="$(PREFIX)")
	@scripts/run-examples build/examples
	@scripts/npm-packages build/clients-node
	@scripts/run-server build/bloomery scripts/run-clients build

# doc/commands/, from what a server with the module reports.
docs:
	@$(call build,build,-DCMAKE_INSTALL_PREFIX="$(PREFIX)")
	@scripts/command-docs build/bloomery.so doc/commands

# Records the interface that the tests compare with, after an intended change.
interface:
	@mkdir -p build
	@python3 -B tests/structure/interface.py $${CC:-cc} include build --write

# Before every commit: what a minute can tell. The tests with the label long are those of clusters, of
# clients in other languages, and of benchmarks and figures.
check:
	@$(call build,build-test,$(tests))
	@$(ctest) --test-dir build-test -LE 'soak|long'

test:
	@scripts/npm-packages build-test/clients-node
	@echo "== plain"
	@scripts/servers build-test/servers bookworm-backports trixie & servers=$$!; \
		$(call build,build-test,$(tests)) || { kill $$servers; exit 1; }; wait $$servers
	@$(ctest) --test-dir build-test -LE soak
	@echo "== address and undefined-behaviour sanitizers"
	@$(call build,build-asan,$(sanitized) -DBLOOMERY_SANITIZE=address)
	@$(ctest) --test-dir build-asan -LE soak
	@echo "== thread sanitizer"
	@$(call build,build-tsan,$(sanitized) -DBLOOMERY_SANITIZE=thread,--target thread_tests)
	@$(ctest) --test-dir build-tsan -L thread -LE soak
	@echo "== AArch64, under an emulator"
	@scripts/test-aarch64 build-aarch64 $(JOBS) quick
	@echo "== all tests passed: plain, address, thread, AArch64"

# Every long check: the tests with the label soak, all unit tests on AArch64, then each fuzzer for
# SOAK_TIME seconds.
soak:
	@scripts/npm-packages build-test/clients-node
	@scripts/servers build-test/servers bookworm-backports trixie sid
	@$(call build,build-test,$(tests))
	@$(ctest) --test-dir build-test -L soak --no-tests=ignore
	@$(call build,build-asan,$(sanitized) -DBLOOMERY_SANITIZE=address)
	@$(ctest) --test-dir build-asan -L soak --no-tests=ignore
	@scripts/test-aarch64 build-aarch64 $(JOBS) unit
	@$(MAKE) --no-print-directory fuzz TIME=$(SOAK_TIME)

# Each fuzzer for TIME seconds.
fuzz:
	@$(call configure,build-fuzz,-DBLOOMERY_FUZZ=ON -DCMAKE_C_COMPILER=clang \
		-DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG="-O1 -g")
	@cmake --build build-fuzz --parallel $(JOBS) --target fuzzers
	@scripts/fuzz build-fuzz $(TIME)

# In its own directory, so that `make install` never takes programs that link the compared libraries.
# RESUME=1 goes on after a run that failed.
bench:
	@scripts/packages peers || echo "Going on; what is missing is not measured."
	@$(call build,build-bench,-DBLOOMERY_BENCH=ON)
	@scripts/bench build-bench $(if $(RESUME),--resume)

# build/figures/report.html: every figure of the papers, at SCALE; FIGURES measures only some of them.
figures:
	@$(call build,build,-DCMAKE_INSTALL_PREFIX="$(PREFIX)")
	@cmake --build build --parallel $(JOBS) --target bloomery-figures
	@$(python) -B bench/figures/report/build_report.py build $(FIGURES) --scale $(SCALE)

install: all
	@DESTDIR="$(DESTDIR)" cmake --install build

format:
	@scripts/c-files | xargs clang-format -i

# A debug build, in which the analysers see the assertions. TIDY=changed: clang-tidy, which takes
# minutes, only for what differs from origin/main.
lint:
	@$(call configure,build-lint,$(tests) -DBLOOMERY_BENCH=ON -DCMAKE_BUILD_TYPE=Debug)
	@scripts/lint build-lint $(JOBS) $(TIDY)

# From now on git runs `make check` before a commit, and refuses a subject that says nothing.
hooks:
	@git config core.hooksPath scripts/hooks

# The whole set-up on a Debian 12 that has nothing but make.
clean-room:
	@scripts/clean-room

clean:
	@rm -rf build build-test build-asan build-tsan build-aarch64 build-fuzz build-bench build-lint

help:
	@echo "make              the programs, the library and the server module, in build/"
	@echo "make deps         installs the packages that make, make run and make test need"
	@echo "make run          a server with sample data; ends by itself if there is no terminal"
	@echo "make examples     builds and runs the examples"
	@echo "make check        the tests to run before a commit, about a minute"
	@echo "make test         all tests: plain, address and undefined behaviour, threads, AArch64"
	@echo "make soak         the long checks; each fuzzer for SOAK_TIME=$(SOAK_TIME) seconds"
	@echo "make fuzz         each fuzzer for TIME=$(TIME) seconds"
	@echo "make bench        compares with others; rewrites the tables of README.md and doc/benchmarks.md"
	@echo "make docs         generates doc/commands/"
	@echo "make interface    records the interface, which the tests compare"
	@echo "make figures      the figures of the papers in build/figures/report.html; SCALE=full as in the papers"
	@echo "make install      into PREFIX=$(PREFIX), under DESTDIR if given"
	@echo "make format       formats all C files"
	@echo "make lint         checks C, shell and Python; TIDY=changed runs clang-tidy on what changed"
	@echo "make hooks        lets git run make check before each commit"
	@echo "make clean-room   make test and make run on a fresh Debian 12, in a chroot"
	@echo "make clean        removes what was built"
	@echo
	@echo "Each target installs missing Debian packages; NO_INSTALL=1 forbids that."

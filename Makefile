# SPDX-License-Identifier: MIT
# clcompute: `make run` shows it, `make test` tests it; both install what is missing.

# --- settings -----------------------------------------------------------------
ifeq ($(origin CC),default)
CC          = gcc
endif
LUA        ?= lua5.4
LUA_INCDIR ?= /usr/include/lua5.4
LUA_LIB    ?= lua5.4
PREFIX     ?= /usr/local
CFLAGS     ?= -O2 -g

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes
FLAGS    = -std=c11 -fPIC -fvisibility=hidden $(WARNINGS) -I$(LUA_INCDIR) $(CFLAGS)
SHARED   = -shared -Wl,-z,nodelete $(LDFLAGS)

# Debian packages: to build and run; what clcompute.blas compares with; to test; to lint.
RUN_PACKAGES  = gcc libc6-dev lua5.4 liblua5.4-dev ocl-icd-opencl-dev opencl-c-headers pocl-opencl-icd \
                lua-argparse lua-dkjson libisl-dev
PEER_PACKAGES = libopenblas0 libclblast1
TEST_PACKAGES = $(RUN_PACKAGES) $(PEER_PACKAGES) lua-busted luarocks oclgrind chromium procps
LINT_PACKAGES = $(TEST_PACKAGES) clang clang-format lua-check
DOC_PACKAGES  = lua-ldoc lua-discount

# --- files --------------------------------------------------------------------
CORE       = build/clcompute/core.so
SEQUENTIAL = build/clcompute/sequential.so
BLAS       = build/clcompute/blas.so
NATIVE     = build/clcompute/native.so
POLY       = build/clcompute/poly.so
LAYER      = build/libclcount.so build/clcount.so build/layer-selftest build/lua-faults build/system_faults.so
# Every spec, and those of programs and kernels once more on isolated CPUs.
ISOLATED   = $(patsubst %,isolated=spec/%_spec.lua,buffer event kernel program range saxpy)
SPECS      = $(wildcard spec/*_spec.lua) $(ISOLATED)
# Those that measure time: no other spec runs beside them.
export ALONE = $(patsubst %,spec/%_spec.lua,bench isolation isolation_worker loops_profitability overhead transfer_speed)

SEQUENTIAL_SOURCES = csrc/sequential.c csrc/plain.c csrc/clock.c
BLAS_ONLY          = $(addprefix csrc/,blas.c array.c clblast.c library.c object.c openblas.c product.c)
BLAS_SOURCES       = $(BLAS_ONLY) csrc/args.c csrc/clock.c csrc/error.c
NATIVE_SOURCES     = csrc/native.c csrc/clock.c
POLY_SOURCES       = $(wildcard csrc/poly*.c)
CORE_SOURCES       = $(filter-out csrc/sequential.c csrc/native.c $(BLAS_ONLY) $(POLY_SOURCES),$(wildcard csrc/*.c))
objects            = $(patsubst csrc/%.c,build/%.o,$(1))

# clcompute.poly is built where isl is; without it all else works.
HAS_ISL := $(shell $(CC) $(CFLAGS) -include isl/ctx.h -x c -E /dev/null >/dev/null 2>&1 && echo yes)
MODULES  = $(CORE) $(SEQUENTIAL) $(BLAS) $(NATIVE) $(if $(HAS_ISL),$(POLY))

# What makes `require "clcompute"` and the command work here; `;;` stands for the paths there are.
ENV = PATH="$(CURDIR)/bin:$$PATH" \
      LUA_PATH_5_4="$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;" \
      LUA_CPATH_5_4="$(CURDIR)/build/?.so;;"

.DELETE_ON_ERROR:
.PHONY: all run test check check-isolated asan stress tsan valgrind coverage coverage-report coverage-clean long faults fuzz-api \
        fuzz-c fuzz-files properties mutations mutant gates memory lint doc env show install clean overhead bench-overhead bench-peers \
        packages-run packages-test packages-lint packages-doc

all: $(MODULES)

# --- what users type ----------------------------------------------------------
run: packages-run
	@$(MAKE) --no-print-directory -s all
	@$(ENV) bin/clcompute report borisov

test: packages-test
	@$(MAKE) --no-print-directory -s all layer
	@$(ENV) tools/test.sh $(SPECS)

# The specs alone, without installing anything: make check SPECS=spec/gemm_spec.lua
check: all layer
	@$(ENV) tools/test.sh $(SPECS)

check-isolated: all layer
	@$(ENV) tools/test.sh $(ISOLATED)

# What the library costs above the same OpenCL calls from C.
bench-overhead: all overhead
	@$(ENV) $(LUA) examples/overhead.lua

# Our operations against OpenBLAS and CLBlast and loop nests against gcc, in turns and checked; twenty minutes, five of them
# for the loops (PEERS="--groups loops"). OpenBLAS takes its kernels for an older processor where it does not know this one:
# with AVX-512 those for Skylake-X are the faster ones.
bench-peers: packages-test
	@$(MAKE) --no-print-directory -s all
	@$(ENV) $(if $(shell grep -w avx512dq /proc/cpuinfo),OPENBLAS_CORETYPE=SkylakeX) \
	  bin/clcompute report peers --rows build/peers --device cpu $(PEERS)

overhead: build/overhead.so

env:
	@echo 'export $(ENV)'

show:
	@$(foreach v,CC CFLAGS LDFLAGS LUA LUA_INCDIR PREFIX,echo '$(v) = $($(v))';)

install: all
	install -d $(DESTDIR)$(PREFIX)/lib/lua/5.4/clcompute $(DESTDIR)$(PREFIX)/share/lua/5.4/clcompute/kernels
	install -m 755 $(MODULES) $(DESTDIR)$(PREFIX)/lib/lua/5.4/clcompute
	cd lua && find clcompute -name '*.lua' -exec install -D -m 644 {} $(DESTDIR)$(PREFIX)/share/lua/5.4/{} \;
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/lua/5.4/clcompute/polykernels examples/polykernels/*.lua
	install -D -m 755 bin/clcompute $(DESTDIR)$(PREFIX)/bin/clcompute
	install -m 644 kernels/*.cl $(DESTDIR)$(PREFIX)/share/lua/5.4/clcompute/kernels
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/lua/5.4/clcompute/kernels/clcompute kernels/clcompute/*.h

clean:
	rm -rf build clcompute csrc/*.o # LuaRocks builds in place

# --- building -----------------------------------------------------------------
$(CORE): $(call objects,$(CORE_SOURCES)) | build/clcompute
	$(CC) $(SHARED) -o $@ $^ -lOpenCL -lm -lpthread

$(SEQUENTIAL): $(call objects,$(SEQUENTIAL_SOURCES)) | build/clcompute
	$(CC) $(SHARED) -o $@ $^ -lm

$(BLAS): $(call objects,$(BLAS_SOURCES)) | build/clcompute
	$(CC) $(SHARED) -o $@ $^ -ldl

$(NATIVE): $(call objects,$(NATIVE_SOURCES)) | build/clcompute
	$(CC) $(SHARED) -o $@ $^ -ldl

$(POLY): $(call objects,$(POLY_SOURCES)) | build/clcompute
	$(CC) $(SHARED) -o $@ $^ -lisl

build/%.o: csrc/%.c | build/clcompute
	$(CC) $(FLAGS) -MMD -c -o $@ $<

build/clcompute:
	mkdir -p $@

-include $(wildcard build/*.d)

# --- the layer that counts OpenCL handles (tools/layer/README.md) --------------
LAYER_FLAGS = $(FLAGS) -Itools/layer -pthread

.PHONY: layer
layer: $(LAYER)

build/clcount_wrap.c: tools/layer/generate.lua | build/clcompute
	echo '#include <CL/cl_icd.h>' | $(CC) -DCL_TARGET_OPENCL_VERSION=300 -E -P - | $(LUA) $< > $@

build/libclcount.so: tools/layer/count.c build/clcount_wrap.c tools/layer/count.h
	$(CC) $(LAYER_FLAGS) $(SHARED) -o $@ $(filter %.c,$^)

build/clcount.so: tools/layer/clcount.c tools/layer/count.h
	$(CC) $(LAYER_FLAGS) $(SHARED) -o $@ $<

# A Lua whose allocations can fail, for spec/faults_spec.lua
build/lua-faults: tools/faults_host.c
	$(CC) $(FLAGS) $(LDFLAGS) -o $@ $< -l$(LUA_LIB) -Wl,-E

# What stands before the C library and fails, for the same spec
build/system_faults.so: tools/system_faults.c | build/clcompute
	$(CC) $(FLAGS) $(SHARED) -o $@ $<

build/layer-selftest: tools/layer/selftest.c
	$(CC) $(LAYER_FLAGS) -o $@ $< -lOpenCL

# --- the suite under sanitizers, for its coverage, and with the collector forced ------
# The modules once more, built with other flags into build/<name>: $(call variant,name,flags).
OTHER_MODULES = core sequential blas native $(if $(HAS_ISL),poly)
modules_of    = $(OTHER_MODULES:%=build/$(1)/clcompute/%.so)
objects_of    = $(patsubst csrc/%.c,build/$(1)/%.o,$(2))

define variant
build/$(1)/clcompute/core.so: $(call objects_of,$(1),$(CORE_SOURCES))
	$(CC) $(2) $(SHARED) -o $$@ $$^ -lOpenCL -lm -lpthread
build/$(1)/clcompute/sequential.so: $(call objects_of,$(1),$(SEQUENTIAL_SOURCES))
	$(CC) $(2) $(SHARED) -o $$@ $$^ -lm
build/$(1)/clcompute/blas.so: $(call objects_of,$(1),$(BLAS_SOURCES))
	$(CC) $(2) $(SHARED) -o $$@ $$^ -ldl
build/$(1)/clcompute/native.so: $(call objects_of,$(1),$(NATIVE_SOURCES))
	$(CC) $(2) $(SHARED) -o $$@ $$^ -ldl
build/$(1)/clcompute/poly.so: $(call objects_of,$(1),$(POLY_SOURCES))
	$(CC) $(2) $(SHARED) -o $$@ $$^ -lisl
build/$(1)/%.o: csrc/%.c | build/$(1)/clcompute
	$(CC) $(FLAGS) $(2) -MMD -c -o $$@ $$<
build/$(1)/clcompute:
	mkdir -p $$@
-include $(wildcard build/$(1)/*.d)
endef

SANITIZE = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
RACES    = -O1 -fno-omit-frame-pointer -fsanitize=thread
COVERAGE = -O0 --coverage -fprofile-update=atomic -include tools/coverage.h
$(eval $(call variant,asan,$(SANITIZE)))
$(eval $(call variant,tsan,$(RACES)))
$(eval $(call variant,coverage,$(COVERAGE)))

# What a variant adds to the environment of tools/test.sh.
variant_env = WORK="$(CURDIR)/build/$(1)" LUA_CPATH_5_4="$(CURDIR)/build/$(1)/?.so;$(CURDIR)/build/?.so;;"

ASAN_HOST = build/asan/lua-asan
# Without intercept_tls_get_addr=0 the leak check itself crashes on the threads of some drivers. Short stacks and fewer
# freed blocks kept are for Oclgrind, which asks for memory at every instruction; with RACES=0 it is twice as fast so.
ASAN_ENV  = $(call variant_env,asan) LUA="$(CURDIR)/$(ASAN_HOST)" \
            LSAN_OPTIONS="suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0" \
            ASAN_OPTIONS="allocator_may_return_null=1:intercept_tls_get_addr=0:malloc_context_size=3:quarantine_size_mb=64" \
            SANITIZED=1 UBSAN_OPTIONS="print_stacktrace=1"
# What forces it: the next collection begins when one ends, and does much at every step.
STRESS_ENV = LUA_INIT_5_4='collectgarbage("setpause", 0) collectgarbage("setstepmul", 1000)' STRESS=1 WORK="$(CURDIR)/build/stress"

# Left out: install builds and tests a module of its own, the others measure time.
NOT_ASAN   = spec/install_spec.lua spec/transfer_speed_spec.lua spec/overhead_spec.lua
NOT_STRESS = $(NOT_ASAN)

# Specs that can do more than a test should take.
LONG_SPECS = spec/work_group_spec.lua spec/loops_front_spec.lua spec/loops_analysis_spec.lua spec/loops_fuzz_spec.lua \
             spec/loops_tiles_fuzz_spec.lua spec/loops_local_memory_spec.lua

long: all layer
	@mkdir -p build/long
	@$(ENV) LONG=1 WORK="$(CURDIR)/build/long" tools/test.sh $(LONG_SPECS)

# A million calls of the API with plausible and hostile arguments, on Oclgrind: fixed seeds and a fresh one. What fails is
# printed as a short script. Some minutes.
FUZZ_CALLS ?= 1000000
FUZZ_SEEDS ?= 10

fuzz-api: all layer
	@mkdir -p build/fuzz
	@$(ENV) OPENCL_LAYERS="$(CURDIR)/build/libclcount.so" $(LUA) tools/fuzz_api.lua $(FUZZ_CALLS) $(FUZZ_SEEDS) $(SEED)

# Files that lie: .npy files, the cache of programs, kept numbers and rows; some minutes.
fuzz-files: all layer
	@mkdir -p build/fuzz-files
	@$(ENV) LONG=1 WORK="$(CURDIR)/build/fuzz-files" tools/test.sh spec/hostile_files_spec.lua

# libFuzzer on what is C and reads texts or files: tools/fuzz/*.c, each for so many seconds. Needs clang's runtime
# (libclang-rt-14-dev). What fails is left in build/fuzz-c.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS  = $(patsubst tools/fuzz/%.c,%,$(wildcard tools/fuzz/*.c))
FUZZ_C        = clang $(FLAGS) -Wno-unknown-pragmas -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined

fuzz-c: $(FUZZ_TARGETS:%=build/fuzz-c/%)
	@mkdir -p build/fuzz-c/folder
	@for t in $(FUZZ_TARGETS); do mkdir -p build/fuzz-c/corpus-$$t && \
	  (cd build/fuzz-c && CLCOMPUTE_CACHE="$$PWD/folder" ./$$t -max_total_time=$(FUZZ_SECONDS) -max_len=2000 -verbosity=0 \
	    -print_final_stats=1 $$([ -e ../../tools/fuzz/$$t.dict ] && echo -dict=../../tools/fuzz/$$t.dict) corpus-$$t >$$t.log 2>&1 || \
	    { tail -n 30 $$t.log; echo "fuzz-c: $$t failed"; exit 1; }) && \
	  echo "fuzz-c: $$t: $$(sed -n 's/stat::number_of_executed_units: *//p' build/fuzz-c/$$t.log) inputs, 0 faults" || exit 1; done

build/fuzz-c/%: tools/fuzz/%.c tools/fuzz/target.h $(CORE_SOURCES:csrc/%.c=build/fuzz-c/%.o)
	$(FUZZ_C) -fsanitize=fuzzer -o $@ $(filter %.c %.o,$^) -l$(LUA_LIB) -lOpenCL -lm -lpthread

build/fuzz-c/%.o: csrc/%.c
	@mkdir -p build/fuzz-c
	$(FUZZ_C) -fsanitize=fuzzer-no-link -MMD -c -o $@ $<

-include $(wildcard build/fuzz-c/*.d)

# Every gate with its figure, by the long forms of all; an hour and a half. GATES="properties memory" runs these alone.
gates: all layer
	@$(LUA) tools/gates.lua $(GATES)

# A thousand buffers of 64 MB, each dropped, stay below 600 MB.
memory: all layer
	@mkdir -p build/memory
	@$(ENV) STRESS=1 WORK="$(CURDIR)/build/memory" tools/test.sh spec/stress_spec.lua

# Five faults put into the C code, each of which a test must find.
mutations: all layer
	@rm -rf build/mutations
	@$(ENV) OPENCL_LAYERS="$(CURDIR)/build/libclcount.so" CLCOUNT_QUIET=1 $(LUA) tools/mutations.lua

# The core with one file of another folder: of tools/mutations.lua.
mutant:
	$(CC) $(FLAGS) -Icsrc -c -o $(FROM)/$(FILE).o $(FROM)/$(FILE).c
	$(CC) $(SHARED) -o $(FROM)/clcompute/core.so $(FROM)/$(FILE).o \
	  $(filter-out build/$(FILE).o,$(call objects,$(CORE_SOURCES))) -lOpenCL -lm -lpthread

# Products of 10,000 random shapes within their bound, and every class of hard systems; a minute or two.
properties: all layer
	@mkdir -p build/properties
	@$(ENV) LONG=1 WORK="$(CURDIR)/build/properties" tools/test.sh spec/properties_spec.lua

# Every OpenCL call of every public function fails with every code; Lua's allocations and what is asked of the system fail.
# Twenty minutes and more.
faults: all layer
	@mkdir -p build/faults
	@$(ENV) LONG=1 WORK="$(CURDIR)/build/faults" tools/test.sh spec/faults_spec.lua

asan: all layer $(call modules_of,asan) $(ASAN_HOST)
	@$(ENV) $(ASAN_ENV) RACES=0 tools/test.sh $(filter-out $(NOT_ASAN),$(SPECS))

$(ASAN_HOST): tools/host.c | build/asan/clcompute
	$(CC) $(FLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $< -l$(LUA_LIB) -Wl,-E

stress: all layer
	@mkdir -p build/stress
	@$(ENV) $(STRESS_ENV) RACES=0 tools/test.sh $(filter-out $(NOT_STRESS),$(SPECS))

# Four threads, each of which opens and closes a Lua state ten times and computes in it. First a race of the host's own
# must be found.
tsan: $(call modules_of,tsan) build/tsan/threads
	@mkdir -p build/tsan/cache
	@export $(ENV) $(call variant_env,tsan) CLCOMPUTE_CACHE="$(CURDIR)/build/tsan/cache" \
	  TSAN_OPTIONS="suppressions=$(CURDIR)/tools/tsan.supp"; \
	if build/tsan/threads -race /dev/null 4 10 2>/dev/null; then echo "a race goes unseen"; exit 1; fi; \
	build/tsan/threads spec/support/threads.lua 4 10 "$(PLACE)" && echo "no race"

build/tsan/threads: tools/threads.c | build/tsan/clcompute
	$(CC) $(FLAGS) $(RACES) $(LDFLAGS) -o $@ $< -l$(LUA_LIB) -lpthread -Wl,-E

# Each public function once under Valgrind, on Oclgrind, and once before without: then nothing is left to be compiled,
# which takes minutes there.
valgrind: all
	@mkdir -p build/valgrind/vendors
	@echo /usr/lib/oclgrind/liboclgrind-rt-icd.so >build/valgrind/vendors/oclgrind.icd
	@export $(ENV) CLCOMPUTE_CACHE="$(CURDIR)/build/valgrind/cache" OCL_ICD_VENDORS="$(CURDIR)/build/valgrind/vendors"; \
	for command in "" "valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
	  --suppressions=tools/valgrind.supp"; do \
	  $$command $(LUA) spec/support/smoke.lua "" light || exit; done && echo "no fault"

# Lines and branches of csrc/ that the suite reaches, and the faults of OpenCL, Lua's memory and the system.
# Counts add up until `make coverage-clean`, so the specs may be run in parts: make coverage SPECS=...
coverage: all layer $(call modules_of,coverage)
	@$(ENV) $(call variant_env,coverage) RACES=0 tools/test.sh $(filter-out $(NOT_ASAN),$(SPECS)); \
	  status=$$?; $(REPORT_COVERAGE) && exit $$status

REPORT_COVERAGE = $(LUA) tools/coverage.lua build/coverage tools/coverage_exceptions.txt
coverage-report:
	@$(REPORT_COVERAGE)

coverage-clean:
	rm -f build/coverage/*.gcda

# --- the yardstick of bench-overhead -------------------------------------------
build/overhead.so: tools/overhead.c | build/clcompute
	$(CC) $(FLAGS) $(SHARED) -o $@ $< -lOpenCL

# --- lint ---------------------------------------------------------------------
C_FILES = $(wildcard csrc/*.[ch] tools/*.[ch] tools/fuzz/*.[ch] tools/layer/*.[ch] spec/support/*.c)

lint: packages-lint
	@for c in $(filter %.c,$(C_FILES)); do \
	  clang $(FLAGS) -Itools/layer -Werror -Wno-unknown-pragmas -fsyntax-only $$c && \
	  gcc $(FLAGS) -Itools/layer -Werror -o /dev/null -c $$c || exit; done
	clang-format --dry-run --Werror $(C_FILES)
	luacheck --quiet lua spec tools examples bin/clcompute
	$(LUA) tools/layers.lua

# --- documentation ------------------------------------------------------------
# The API page, into build/doc; a comment that LDoc does not understand is an error.
doc: packages-doc
	@ldoc --quiet --fatalwarnings . >/dev/null
	@echo build/doc/index.html

# --- packages -----------------------------------------------------------------
packages-run:
	@tools/packages.sh $(RUN_PACKAGES)
packages-test:
	@tools/packages.sh $(TEST_PACKAGES)
packages-lint:
	@tools/packages.sh $(LINT_PACKAGES)
packages-doc:
	@tools/packages.sh $(DOC_PACKAGES)

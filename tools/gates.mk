# SPDX-License-Identifier: MIT
# The long checks, a part of the Makefile: `make gates` runs all of them, an hour and a half.

.PHONY: layer soak long fuzz-api fuzz-files fuzz-c gates memory ranges mutations mutant mutate properties faults asan stress \
        tsan valgrind coverage reach coverage-report coverage-clean

# Those that measure time: no other spec runs beside them (tools/test.sh).
export ALONE = $(patsubst %,spec/%_spec.lua,bench/bench loops/profitability kernel/overhead buffer/transfer_speed)

# A comma within the arguments of a call.
, := ,

# A run of specs with what it writes in a folder of its own: $(call specs,name,environment,specs)
specs = mkdir -p build/$(1) && $(ENV) WORK="$(CURDIR)/build/$(1)" $(2) tools/test.sh $(3)

# --- the layer that counts OpenCL handles (tools/layer/README.md), and hosts that fail ------
LAYER       = build/libclcount.so build/clcount.so build/layer-selftest build/lua-faults build/system_faults.so
LAYER_FLAGS = $(FLAGS) -Itools/layer -pthread

layer: $(LAYER)

build/clcount_wrap.c: tools/layer/generate.lua
	@mkdir -p build
	echo '#include <CL/cl_icd.h>' | $(CC) -DCL_TARGET_OPENCL_VERSION=300 -E -P - | $(LUA) $< > $@

build/libclcount.so: tools/layer/count.c build/clcount_wrap.c tools/layer/count.h
	$(CC) $(LAYER_FLAGS) $(SHARED) -o $@ $(filter %.c,$^)

build/clcount.so: tools/layer/clcount.c tools/layer/count.h build/clcount_wrap.c
	$(CC) $(LAYER_FLAGS) $(SHARED) -o $@ $<

build/layer-selftest: tools/layer/selftest.c build/clcount_wrap.c
	$(CC) $(LAYER_FLAGS) -o $@ $< -lOpenCL

# A Lua whose allocations can fail, and what stands before the C library and fails: for spec/whole/faults_spec.lua.
build/lua-faults: tools/faults_host.c build/clcount_wrap.c
	$(CC) $(FLAGS) $(LDFLAGS) -o $@ $< -l$(LUA_LIB) -Wl,-E

build/system_faults.so: tools/system_faults.c build/clcount_wrap.c
	$(CC) $(FLAGS) $(SHARED) -o $@ $<

# The yardstick of bench-overhead.
build/overhead.so: tools/overhead.c build/clcount_wrap.c
	$(CC) $(FLAGS) $(SHARED) -o $@ $< -lOpenCL

# The yardstick of bench-peers-gpu, for the GPU that is here.
build/cuda.so: tools/cuda.cu tools/cuda_memory.cuh tools/cuda_nests.cuh
	@command -v nvcc >/dev/null || { echo "bench-peers-gpu: there is no nvcc in PATH: install NVIDIA's CUDA toolkit" >&2; exit 1; }
	@mkdir -p $(@D)
	nvcc -O2 -std=c++17 -arch=native -shared -Xcompiler -fPIC -I$(LUA_INCDIR) -o $@ $< -lcublas -lcusolver

# --- specs in their long forms ----------------------------------------------------------
# Specs that can do more than a test should take, but those with a gate of their own.
OWN_LONG = $(patsubst %,spec/%_spec.lua,whole/faults whole/properties files/hostile_files)
long: all layer
	@$(call specs,long,LONG=1,$(filter-out $(OWN_LONG),$(shell grep -rlE 'getenv "LONG"|helper\.(long|describe_kinds)' spec \
	  --include=*_spec.lua)))

# Every OpenCL call of every public function fails with every code; Lua's allocations and what is asked of the system
# fail. Twenty minutes and more.
faults: all layer
	@$(call specs,faults,LONG=1,spec/whole/faults_spec.lua)

# Products of 10,000 random shapes within their bound, and every class of hard systems; a minute or two.
properties: all layer
	@$(call specs,properties,LONG=1,spec/whole/properties_spec.lua)

# Files that lie: .npy files, the cache of programs, kept numbers and rows; some minutes.
fuzz-files: all layer
	@$(call specs,fuzz-files,LONG=1,spec/files/hostile_files_spec.lua)

# A thousand buffers of 64 MB, each dropped, stay below 600 MB.
memory: all layer
	@$(call specs,memory,STRESS=1,spec/whole/stress_spec.lua)

# Ten minutes, on each driver, of random sizes, views, queues, sequences, expressions and host arrays.
SOAK ?= 600
soak: all layer
	@$(call specs,soak,SOAK=$(SOAK),spec/whole/stress_spec.lua)

# 200 random ranges of two dimensions on the CPU, each launched in three ways.
ranges: all
	@$(ENV) CLCOMPUTE_CACHE=off $(LUA) tools/ranges.lua

# Every gate with its figure, by the long forms of all. GATES="properties memory" runs these alone.
gates: all layer
	@$(LUA) tools/gates.lua $(GATES)

# --- fuzzing ------------------------------------------------------------------------------
# A million calls of the API with plausible and hostile arguments, on Oclgrind: fixed seeds and a fresh one. What fails
# is printed as a short script. Some minutes.
FUZZ_CALLS ?= 1000000
FUZZ_SEEDS ?= 10

fuzz-api: all layer
	@mkdir -p build/fuzz
	@$(ENV) OPENCL_LAYERS="$(CURDIR)/build/libclcount.so" $(LUA) tools/fuzz_api.lua $(FUZZ_CALLS) $(FUZZ_SEEDS) $(SEED)

# libFuzzer on what is C and reads texts or files: tools/fuzz/*.c, each for so many seconds. Needs clang's runtime
# (libclang-rt-14-dev). What fails is left in build/fuzz-c.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS  = $(patsubst tools/fuzz/%.c,%,$(wildcard tools/fuzz/*.c))
FUZZ_C        = clang $(FLAGS) -Wno-unknown-pragmas -O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined

fuzz-c: $(FUZZ_TARGETS:%=build/fuzz-c/%)
	@mkdir -p build/fuzz-c/folder
	@for t in $(FUZZ_TARGETS); do mkdir -p build/fuzz-c/corpus-$$t && \
	  (cd build/fuzz-c && CLCOMPUTE_CACHE="$$PWD/folder" ./$$t -max_total_time=$(FUZZ_SECONDS) -max_len=2000 -len_control=0 -verbosity=0 \
	    -print_final_stats=1 $$([ -e ../../tools/fuzz/$$t.dict ] && echo -dict=../../tools/fuzz/$$t.dict) corpus-$$t >$$t.log 2>&1 || \
	    { tail -n 30 $$t.log; echo "fuzz-c: $$t failed"; exit 1; }) && \
	  echo "fuzz-c: $$t: $$(sed -n 's/stat::number_of_executed_units: *//p' build/fuzz-c/$$t.log) inputs, 0 faults" || exit 1; done

FUZZ_LINK = $(FUZZ_C) -fsanitize=fuzzer -o $@ $(filter %.c %.o,$^) -l$(LUA_LIB)
build/fuzz-c/%: tools/fuzz/%.c tools/fuzz/target.h $(core_SOURCES:csrc/%.c=build/fuzz-c/objects/%.o)
	$(FUZZ_LINK) $(core_LIBS)

# What is read of the analyses of loops.
build/fuzz-c/reading: tools/fuzz/reading.c tools/fuzz/target.h $(poly_SOURCES:csrc/%.c=build/fuzz-c/objects/%.o)
	$(FUZZ_LINK) $(poly_LIBS)

build/fuzz-c/objects/%.o: csrc/%.c
	@mkdir -p $(@D)
	$(FUZZ_C) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

-include $(shell find build/fuzz-c/objects -name '*.d' 2>/dev/null)

# --- mutations: five faults put into the C code, each of which a test must find -------------
mutations: all layer
	@rm -rf build/mutations
	@$(ENV) OPENCL_LAYERS="$(CURDIR)/build/libclcount.so" CLCOUNT_QUIET=1 $(LUA) tools/mutations.lua

# Mutants drawn at random over csrc and lua, each judged for a minute at most by the specs that reach its line. What was
# judged is kept in examples/results, so it may be ended and goes on. WHAT="run 600" for ten minutes, WHAT=again for the
# survivors (with LIMIT=3600 by all that reaches them), WHAT=report.
WHAT ?= run

mutate:
	@$(LUA) tools/mutate.lua $(WHAT)

# The core with one file of another folder: of tools/mutations.lua.
mutant:
	@mkdir -p $(FROM)/$(dir $(FILE))
	$(CC) $(FLAGS) -Icsrc/$(dir $(FILE)) -c -o $(FROM)/$(FILE).o $(FROM)/$(FILE).c
	$(CC) $(SHARED) -o $(FROM)/clcompute/core.so $(FROM)/$(FILE).o \
	  $(filter-out build/objects/$(FILE).o,$(core_SOURCES:csrc/%.c=build/objects/%.o)) $(core_LIBS)

# --- the suite under sanitizers, for its coverage, and with the collector forced --------------
SANITIZE = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
RACES    = -O1 -fno-omit-frame-pointer -fsanitize=thread
COVERAGE = -O0 --coverage -fprofile-update=atomic -include tools/coverage.h
$(eval $(call modules,build/asan,$(SANITIZE)))
$(eval $(call modules,build/tsan,$(RACES)))
$(eval $(call modules,build/coverage,$(COVERAGE)))

modules_of  = $(MODULE_NAMES:%=build/$(1)/clcompute/%.so)
variant_env = LUA_CPATH_5_4="$(CURDIR)/build/$(1)/?.so;$(CURDIR)/build/?.so;;"

# Left out: install builds and tests a module of its own, the others measure time.
NOT_ASAN = $(patsubst %,spec/%_spec.lua,whole/install buffer/transfer_speed kernel/overhead)

# The sandbox of workers knows neither the terabytes that a sanitizer reserves nor the files that coverage writes.
# Without intercept_tls_get_addr=0 the leak check itself crashes on the threads of some drivers. Short stacks and fewer
# freed blocks kept are for Oclgrind, which asks for memory at every instruction and frees an image by the size of a
# buffer; with RACES=0 it is twice as fast so.
ASAN_ENV = $(call variant_env,asan) LUA="$(CURDIR)/build/asan/lua-asan" RACES=0 SANITIZED=1 CLCOMPUTE_SANDBOX=off \
           LSAN_OPTIONS="suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0" \
           ASAN_OPTIONS="allocator_may_return_null=1:intercept_tls_get_addr=0:malloc_context_size=3:quarantine_size_mb=64:new_delete_type_mismatch=0" \
           UBSAN_OPTIONS="print_stacktrace=1"

asan: all layer $(call modules_of,asan) build/asan/lua-asan
	@$(call specs,asan,$(ASAN_ENV),$(filter-out $(NOT_ASAN),$(SPECS)))

build/asan/lua-asan: tools/host.c build/asan/clcompute/core.so
	$(CC) $(FLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $< -l$(LUA_LIB) -Wl,-E

# The next collection begins when one ends, and does much at every step.
stress: all layer
	@$(call specs,stress,LUA_INIT_5_4='collectgarbage("setpause"$(,) 0) collectgarbage("setstepmul"$(,) 1000)' STRESS=1 \
	  RACES=0,$(filter-out $(NOT_ASAN),$(SPECS)))

# Four threads, each of which opens and closes a Lua state ten times and computes in it. First a race of the host's own
# must be found.
tsan: $(call modules_of,tsan) build/tsan/threads
	@mkdir -p build/tsan/cache
	@export $(ENV) $(call variant_env,tsan) CLCOMPUTE_CACHE="$(CURDIR)/build/tsan/cache" \
	  TSAN_OPTIONS="suppressions=$(CURDIR)/tools/tsan.supp"; \
	if build/tsan/threads -race /dev/null 4 10 2>/dev/null; then echo "a race goes unseen"; exit 1; fi; \
	build/tsan/threads spec/support/threads.lua 4 10 "$(PLACE)" && echo "no race"

build/tsan/threads: tools/threads.c build/tsan/clcompute/core.so
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
	@$(call specs,coverage,$(call variant_env,coverage) COVERED=1 RACES=0 CLCOMPUTE_SANDBOX=off,$(filter-out $(NOT_ASAN),$(SPECS))); \
	  status=$$?; $(REPORT_COVERAGE) && exit $$status

# What notes the lines and functions that a spec reaches, for tools/mutate.lua.
reach: $(call modules_of,coverage) build/reached.so

build/reached.so: tools/mutate/reached.c
	@mkdir -p $(@D)
	$(CC) $(FLAGS) $(SHARED) -o $@ $<

REPORT_COVERAGE = $(LUA) tools/coverage.lua build/coverage tools/coverage_exceptions.txt
coverage-report:
	@$(REPORT_COVERAGE)

coverage-clean:
	mkdir -p build/coverage
	find build/coverage -name '*.gcda' -delete

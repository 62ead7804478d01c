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
TEST_PACKAGES = $(RUN_PACKAGES) $(PEER_PACKAGES) lua-busted luarocks oclgrind chromium
LINT_PACKAGES = $(TEST_PACKAGES) clang clang-format lua-check
DOC_PACKAGES  = lua-ldoc lua-discount

# --- files --------------------------------------------------------------------
CORE       = build/clcompute/core.so
SEQUENTIAL = build/clcompute/sequential.so
BLAS       = build/clcompute/blas.so
NATIVE     = build/clcompute/native.so
POLY       = build/clcompute/poly.so
LAYER      = build/libclcount.so build/clcount.so build/layer-selftest build/lua-faults
# Every spec, and those of programs and kernels once more on isolated CPUs.
ISOLATED   = $(patsubst %,isolated=spec/%_spec.lua,buffer event kernel program range saxpy)
SPECS      = $(wildcard spec/*_spec.lua) $(ISOLATED)

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
.PHONY: all run test check check-isolated asan stress long faults lint doc env show install clean overhead bench-overhead bench-peers \
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

build/layer-selftest: tools/layer/selftest.c
	$(CC) $(LAYER_FLAGS) -o $@ $< -lOpenCL

# --- the suite under sanitizers, and with the collector forced ------------------
SANITIZE  = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
ASAN_HOST = build/asan/lua-asan
# Without intercept_tls_get_addr=0 the leak check itself crashes on the threads of some drivers.
ASAN      = $(ASAN_HOST) build/asan/clcompute/core.so build/asan/clcompute/sequential.so \
            build/asan/clcompute/blas.so build/asan/clcompute/native.so \
            $(if $(HAS_ISL),build/asan/clcompute/poly.so)
ASAN_ENV  = LUA="$(CURDIR)/$(ASAN_HOST)" WORK="$(CURDIR)/build/asan" \
            LUA_CPATH_5_4="$(CURDIR)/build/asan/?.so;$(CURDIR)/build/?.so;;" \
            LSAN_OPTIONS="suppressions=$(CURDIR)/tools/lsan.supp:print_suppressions=0" \
            ASAN_OPTIONS="allocator_may_return_null=1:intercept_tls_get_addr=0" SANITIZED=1 UBSAN_OPTIONS="print_stacktrace=1"
# What forces it: the next collection begins when one ends, and does much at every step.
STRESS_ENV = LUA_INIT_5_4='collectgarbage("setpause", 0) collectgarbage("setstepmul", 1000)' STRESS=1 WORK="$(CURDIR)/build/stress"

# Left out: install builds and tests a module of its own, the others measure time.
NOT_ASAN   = spec/install_spec.lua spec/transfer_speed_spec.lua spec/overhead_spec.lua
NOT_STRESS = $(NOT_ASAN)

# Specs that can do more than a test should take.
LONG_SPECS = spec/work_group_spec.lua spec/loops_front_spec.lua spec/loops_analysis_spec.lua spec/loops_fuzz_spec.lua \
             spec/loops_tiles_fuzz_spec.lua

long: all layer
	@mkdir -p build/long
	@$(ENV) LONG=1 WORK="$(CURDIR)/build/long" tools/test.sh $(LONG_SPECS)

# Every OpenCL call of every public function fails with every code, and Lua's allocations fail; some minutes.
faults: all layer
	@mkdir -p build/faults
	@$(ENV) LONG=1 WORK="$(CURDIR)/build/faults" tools/test.sh spec/faults_spec.lua

asan: all layer $(ASAN)
	@$(ENV) $(ASAN_ENV) tools/test.sh $(filter-out $(NOT_ASAN),$(SPECS))

stress: all layer
	@mkdir -p build/stress
	@$(ENV) $(STRESS_ENV) tools/test.sh $(filter-out $(NOT_STRESS),$(SPECS))

build/asan/clcompute/core.so: $(CORE_SOURCES:csrc/%.c=build/asan/%.o)
	$(CC) $(SANITIZE) $(SHARED) -o $@ $^ -lOpenCL -lm

build/asan/clcompute/sequential.so: $(SEQUENTIAL_SOURCES:csrc/%.c=build/asan/%.o)
	$(CC) $(SANITIZE) $(SHARED) -o $@ $^ -lm

build/asan/clcompute/blas.so: $(BLAS_SOURCES:csrc/%.c=build/asan/%.o)
	$(CC) $(SANITIZE) $(SHARED) -o $@ $^ -ldl

build/asan/clcompute/native.so: $(NATIVE_SOURCES:csrc/%.c=build/asan/%.o)
	$(CC) $(SANITIZE) $(SHARED) -o $@ $^ -ldl

build/asan/clcompute/poly.so: $(POLY_SOURCES:csrc/%.c=build/asan/%.o)
	$(CC) $(SANITIZE) $(SHARED) -o $@ $^ -lisl

$(ASAN_HOST): tools/host.c | build/asan/clcompute
	$(CC) $(FLAGS) $(SANITIZE) $(LDFLAGS) -o $@ $< -l$(LUA_LIB) -Wl,-E

build/asan/%.o: csrc/%.c | build/asan/clcompute
	$(CC) $(FLAGS) $(SANITIZE) -MMD -c -o $@ $<

build/asan/clcompute:
	mkdir -p $@

-include $(wildcard build/asan/*.d)

# --- the yardstick of bench-overhead -------------------------------------------
build/overhead.so: tools/overhead.c | build/clcompute
	$(CC) $(FLAGS) $(SHARED) -o $@ $< -lOpenCL

# --- lint ---------------------------------------------------------------------
C_FILES = $(wildcard csrc/*.[ch] tools/*.c tools/layer/*.[ch] spec/support/*.c)

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

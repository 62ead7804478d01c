# SPDX-License-Identifier: MIT
# clcompute: `make run` shows it, `make test` tests it; both install what is missing.
# `make help` lists the rest. The long checks (sanitizers, faults, fuzzing, coverage) are in tools/gates.mk.

# What is tested and measured here is by the kernels that users have in the end, and built here.
export CLCOMPUTE_BUILD = wait
export CLCOMPUTE_SYSTEM_CACHE = off

# --- settings -----------------------------------------------------------------
ifeq ($(origin CC),default)
CC          = gcc
endif
LUA        ?= lua5.4
LUA_INCDIR ?= /usr/include/lua5.4
LUA_LIB    ?= lua5.4
PREFIX     ?= /usr/local
LUADIR     ?= $(PREFIX)/share/lua/5.4
LIBDIR     ?= $(PREFIX)/lib/lua/5.4
BINDIR     ?= $(PREFIX)/bin
DOCDIR     ?= $(PREFIX)/share/doc/clcompute
MANDIR     ?= $(PREFIX)/share/man
CFLAGS     ?= -O2 -g

WARNINGS = -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes
FLAGS    = -std=c11 -fPIC -fvisibility=hidden $(WARNINGS) -Icsrc -I$(LUA_INCDIR) $(CFLAGS)
SHARED   = -shared -Wl,-z,nodelete $(LDFLAGS)

VERSION := $(shell sed -n 's/.*version = "clcompute \([^"]*\)".*/\1/p' lua/clcompute/base/init.lua)

# Debian packages: to build and run; what clcompute.blas compares with; to test; to lint.
RUN_PACKAGES  = gcc libc6-dev lua5.4 liblua5.4-dev ocl-icd-opencl-dev opencl-c-headers pocl-opencl-icd \
                lua-argparse lua-dkjson lua-readline lua-zlib libisl-dev
PEER_PACKAGES = libopenblas0 libclblast1
TEST_PACKAGES = $(RUN_PACKAGES) $(PEER_PACKAGES) libopenmpi-dev openmpi-bin lua-busted luarocks oclgrind chromium procps zsh fish
LINT_PACKAGES = $(TEST_PACKAGES) clang clang-format lua-check

# --- modules: name, sources, libraries ------------------------------------------
# Of the packages of csrc/, four are modules of their own; the others are the core.
APART = sequential peers poly mpi

core_SOURCES       = $(sort $(filter-out $(APART:%=csrc/%/%),$(shell find csrc -name "*.c")) csrc/sequential/plain.c)
sequential_SOURCES = csrc/sequential/sequential.c csrc/sequential/plain.c csrc/base/functions.c \
                     csrc/base/wait.c
native_SOURCES     = csrc/sequential/native.c csrc/base/wait.c
blas_SOURCES       = $(wildcard csrc/peers/*.c) $(patsubst %,csrc/base/%.c,args error functions wait)
poly_SOURCES       = $(wildcard csrc/poly/*.c) csrc/base/functions.c
ranks_SOURCES      = csrc/mpi/mpi.c csrc/base/wait.c

core_LIBS       = -lOpenCL -lm -lpthread -ldl
sequential_LIBS = -lm
native_LIBS     = -ldl
blas_LIBS       = -ldl
poly_LIBS       = -lisl
ranks_LIBS      = $(filter -L% -l% -Wl%,$(MPI))

# clcompute.ranks, of which clcompute.mpi is made, is built where mpicc is: that says how it compiles.
MPI   := $(shell mpicc -show 2>/dev/null)
FLAGS += $(patsubst -I%,-isystem %,$(filter -I%,$(MPI)))

# clcompute.poly is built where isl is; without it all else works.
HAS_ISL := $(shell $(CC) $(CFLAGS) -include isl/ctx.h -x c -E /dev/null >/dev/null 2>&1 && echo yes)
MODULE_NAMES = core sequential native blas $(if $(HAS_ISL),poly) $(if $(MPI),ranks)
MODULES      = $(MODULE_NAMES:%=build/clcompute/%.so)
KERNELS      = $(wildcard kernels/*.cl)

# What makes `require "clcompute"`, the command and `man clcompute` work here; `;;` stands for the paths there are, and so
# does a colon at the end of MANPATH.
ENV = PATH="$(CURDIR)/bin:$$PATH" \
      LUA_PATH_5_4="$(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;$(CURDIR)/build/?.lua;;" \
      LUA_CPATH_5_4="$(CURDIR)/build/?.so;;" \
      MANPATH="$(CURDIR)/build/man:$$MANPATH"

# Every spec, and some once more on isolated CPUs; of kernels and ranges spec/worker/isolation_spec.lua has a sample.
ISOLATED     = $(patsubst %,isolated=spec/%_spec.lua,buffer/buffer device/event image/image operations/saxpy program/program)
ALL_ISOLATED = $(ISOLATED) $(patsubst %,isolated=spec/%_spec.lua,kernel/kernel kernel/range)
# The longest ones come first, so that no processor waits for them in the end; the first of them has the simulator's
# products tried, for all others.
LONGEST      = $(patsubst %,spec/%_spec.lua,operations/gemm/gemm_precision whole/faults suite/polykernels \
                 operations/gemm/gemm_fast operations/gauss/lu cli/cli mpi/mpi whole/install groups/groups whole/misuse \
                 doctor/doctor suite/peers whole/lifetimes)
ALL_SPECS    = $(sort $(shell find spec -name '*_spec.lua'))
SPECS        = $(LONGEST) $(filter-out $(LONGEST),$(ALL_SPECS)) $(ISOLATED)

.DELETE_ON_ERROR:
.PHONY: all help run test check check-isolated bench-overhead bench-peers bench-peers-gpu scalapack env show install \
        uninstall dist clean lint lint-c lint-lua doc packages-run packages-test packages-lint FORCE

all: $(MODULES) build/clcompute/commit.lua build/man/man1/clcompute.1

# --- what users type ------------------------------------------------------------
help:
	@sed -n '/^make .*#/p' README.md CONTRIBUTING.md

run: packages-run
	@test -e build/clcompute/core.so || echo "Compiling the library, which can take a minute"
	@$(MAKE) --no-print-directory -s all
	@$(ENV) bin/clcompute report borisov
	@printf "\n%s\n" "Building the kernels of all operations ahead, so that nothing waits for them later (Ctrl-C ends it):"
	@$(ENV) bin/clcompute warm
	@printf "%s\n" "The same for the prompt (clcompute repl), whose processor is isolated:"
	@$(ENV) bin/clcompute warm --isolated

test: packages-test
	@$(MAKE) --no-print-directory -s all layer
	@$(ENV) tools/test.sh $(SPECS)

# The specs alone, without installing anything: make check SPECS=spec/operations/gemm/gemm_spec.lua
check: all layer
	@$(ENV) tools/test.sh $(SPECS)

check-isolated: all layer
	@$(ENV) tools/test.sh $(ALL_ISOLATED)

# What the library costs above the same OpenCL calls from C.
bench-overhead: all build/overhead.so
	@$(ENV) $(LUA) examples/overhead.lua

# Our operations against OpenBLAS and CLBlast and loop nests against gcc, in turns and checked; half an hour, ten
# minutes of it for the loops (PEERS="--groups loops"). OpenBLAS takes its kernels for an older processor where it does
# not know this one: with AVX-512 those for Skylake-X are the faster ones.
bench-peers: packages-test
	@$(MAKE) --no-print-directory -s all
	@$(ENV) $(if $(shell grep -w avx512dq /proc/cpuinfo),OPENBLAS_CORETYPE=SkylakeX) \
	  bin/clcompute report peers --rows build/peers --device cpu $(PEERS)

# Our operations on an NVIDIA GPU against cuBLAS, cuSOLVER and CUB, three minutes; and loop nests against the same in
# CUDA and against cuBLAS (PEERS="--groups nests"). nvcc compiles what calls them.
bench-peers-gpu: all build/cuda.so
	@$(ENV) bin/clcompute report peers --rows build/peers-gpu --device nvidia $(PEERS)

env:
	@echo 'export $(ENV)'

show:
	@$(foreach v,CC CFLAGS LDFLAGS LUA LUA_INCDIR PREFIX,echo '$(v) = $($(v))';)

clean:
	rm -rf build

# --- installing -------------------------------------------------------------------
# The files of a folder, those below it too: $(call copy,from,to)
copy = (cd $(1) && find . -type f) | while read -r file; do \
  install -D -m 644 "$(1)/$$file" "$(DESTDIR)$(2)/$$file" || exit; done

# A shell loads a file of completions with the first word to complete; it asks the command, which knows.
SHARE      = $(DESTDIR)$(PREFIX)/share
completion = printf '$(2)\n' >build/completion && install -D -m 644 build/completion "$(1)"

install: all
	install -D -m 755 -t "$(DESTDIR)$(LIBDIR)/clcompute" $(MODULES)
	install -D -m 755 bin/clcompute "$(DESTDIR)$(BINDIR)/clcompute"
	install -D -m 644 -t "$(DESTDIR)$(LUADIR)/clcompute" build/clcompute/commit.lua
	$(call copy,lua,$(LUADIR))
	$(call copy,examples/polykernels,$(LUADIR)/clcompute/polykernels)
	$(call copy,examples/nests,$(LUADIR)/clcompute/nests)
	$(call copy,examples/irregular,$(LUADIR)/clcompute/irregular)
	$(call copy,kernels,$(LUADIR)/clcompute/kernels)
	$(call copy,library,$(LUADIR)/clcompute/library)
	$(call copy,docs,$(DOCDIR)/docs)
	$(call copy,examples,$(DOCDIR)/examples)
	install -D -m 644 -t "$(DESTDIR)$(DOCDIR)" README.md CHANGELOG.md CONTRIBUTING.md LICENSE
	install -D -m 644 -t "$(DESTDIR)$(MANDIR)/man1" docs/clcompute.1
	$(call completion,$(SHARE)/bash-completion/completions/clcompute,eval "$$(clcompute completion bash)")
	$(call completion,$(SHARE)/zsh/site-functions/_clcompute,#compdef clcompute\neval "$$(clcompute completion zsh)")
	$(call completion,$(SHARE)/fish/vendor_completions.d/clcompute.fish,clcompute completion fish | source)

# What `make install` with the same settings puts there, and the folders of its own.
STAGE = $(CURDIR)/build/stage

uninstall:
	@rm -rf build/stage
	@$(MAKE) -s install DESTDIR="$(STAGE)"
	@(cd build/stage && find . -type f -print0) | (cd "$(DESTDIR)/" && xargs -0 rm -f)
	@(cd build/stage && find . -depth -type d -path '*/clcompute*' -print0) | \
	  (cd "$(DESTDIR)/" && xargs -0 -r rmdir --ignore-fail-on-non-empty 2>/dev/null || true)

# A tarball of what git tracks, or of all where there is no git, and the source rock of it.
RELEASE       = clcompute-$(VERSION)
RELEASE_FILES = $(shell test -e .git && git ls-files || find . -type f -not -path './build/*')

dist: build/dist/$(RELEASE)-1.src.rock

build/dist/$(RELEASE)-1.src.rock: $(RELEASE)-1.rockspec build/dist/$(RELEASE).tar.gz
	@rm -f $@
	@zip -jqX $@ $^
	@echo $@

build/dist/$(RELEASE).tar.gz: $(RELEASE_FILES)
	@mkdir -p $(@D)
	@tar --transform 's,^\(\./\)\?,$(RELEASE)/,' --sort=name --owner=0 --group=0 --numeric-owner -czf $@ $(sort $^)

# --- building ---------------------------------------------------------------------
# The modules with their objects in a folder, and further flags: $(call modules,folder,flags)
define modules
$(foreach m,$(MODULE_NAMES),
$(1)/clcompute/$(m).so: $(patsubst csrc/%.c,$(1)/objects/%.o,$($(m)_SOURCES))
	@mkdir -p $$(@D)
	$(CC) $(2) $(SHARED) -o $$@ $$^ $($(m)_LIBS)
)
$(1)/objects/%.o: csrc/%.c $(1)/flags
	@mkdir -p $$(@D)
	$(CC) $(FLAGS) $(2) -MMD -MP -c -o $$@ $$<
$(1)/flags: TEXT = $$(CC) $(2) $$(FLAGS) $$(LDFLAGS)
$(1)/flags: FORCE
	@$$(write)
-include $(shell find $(1)/objects -name '*.d' 2>/dev/null)
endef

# What is written anew only where it says something else: the flags of objects, and the commit of a checkout.
write = mkdir -p $(@D) && echo "$(TEXT)" | cmp -s - $@ || echo "$(TEXT)" >$@

$(eval $(call modules,build))

build/clcompute/commit.lua: TEXT = return '$$(test -e .git && git describe --always --dirty --exclude='*')'
build/clcompute/commit.lua: FORCE
	@$(write)

build/man/man1/clcompute.1: docs/clcompute.1
	@install -D -m 644 $< $@

include tools/gates.mk

# --- lint -------------------------------------------------------------------------
C_FILES = $(shell find csrc tools spec -name '*.[ch]')

LINT    = $(FLAGS) -Itools/layer -Werror

# A second make, as the first one looked for mpicc before it was installed.
lint: packages-lint
	@$(MAKE) --no-print-directory -s -j2 lint-c lint-lua

lint-c:
	@echo $(filter %.c,$(C_FILES)) | xargs -n 1 -P $$(nproc) gcc $(LINT) -o /dev/null -c
	@echo $(filter %.c,$(C_FILES)) | xargs -n 8 -P $$(nproc) clang $(LINT) -Wno-unknown-pragmas -fsyntax-only
	@clang-format --dry-run --Werror $(C_FILES)

lint-lua:
	@luacheck --quiet lua spec tools examples bin/clcompute
	@$(LUA) tools/layers.lua

# --- beside ScaLAPACK -------------------------------------------------------------
# Ranks in turns with those of ScaLAPACK (Debian's libscalapack-openmpi2.2), which nothing else asks for.
scalapack: all build/scalapack
	@$(ENV) $(LUA) tools/scalapack.lua build/scalapack build/scalapack.jsonl $(SIZES)
build/scalapack: tools/scalapack.c
	mpicc -O2 -Wall -Wextra -o $@ $< -ldl

# --- documentation ----------------------------------------------------------------
# docs/api.md from library/, the manual page from the command's help, and the measured figures of the pages from the
# rows in examples/results.
doc: all
	@$(ENV) $(LUA) tools/reference.lua >build/page && cp build/page docs/api.md
	@$(ENV) $(LUA) tools/manual.lua >build/page && cp build/page docs/clcompute.1
	@for p in README.md docs/performance.md; do \
	  $(ENV) $(LUA) tools/figures.lua $$p >build/page && cp build/page $$p || exit; done

# --- packages ---------------------------------------------------------------------
packages-run:
	@tools/packages.sh $(RUN_PACKAGES)
packages-test:
	@tools/packages.sh $(TEST_PACKAGES)
packages-lint:
	@tools/packages.sh $(LINT_PACKAGES)

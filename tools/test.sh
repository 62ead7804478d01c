#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs spec files, each in a process of its own (tools/spec.sh), on every OpenCL driver of this
# machine and on Oclgrind, under the layer that counts handles; ends with one line
# `N passed, N failed` and fails when anything did: a spec, a leaked handle, or a
# race or overrun that Oclgrind saw in a kernel. (Its check for uninitialised memory
# does not understand fills and partial writes; oclgrind_spec.lua has it on: for a few kernels, by `make long` for all.)
# RACES=0 leaves the races out, for runs that look for other faults: Oclgrind takes half as long again with them.
# One more runs at a time than there are processors (JOBS), as some wait for processes and terminals; those that measure
# time (ALONE) come last, one by one.
set -u

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=${WORK:-$root/build} # what a run writes, so that two kinds of run may go on at once

# Oclgrind beside the drivers there are, as a second platform of the same process.
vendors=$work/vendors
rm -rf "$vendors"
mkdir -p "$vendors"
cp "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd "$vendors"/ 2>/dev/null
oclgrind=/usr/lib/oclgrind/liboclgrind-rt-icd.so
if [ -e $oclgrind ]; then
  echo $oclgrind >"$vendors/oclgrind.icd"
elif [ -n "${CI:-}" ]; then
  echo "Oclgrind is missing: races would go unseen"
  exit 1
fi
export OCL_ICD_VENDORS="$vendors"
export OCLGRIND_DATA_RACES="${RACES:-1}"
# The user's compiled programs stay as they are, and no run depends on the one before.
export CLCOMPUTE_CACHE="$work/cache"
rm -rf "$CLCOMPUTE_CACHE"
# What specs compute is by the kernels that users have in the end; spec/whole/first_minute_spec.lua has it otherwise.
export CLCOMPUTE_BUILD=wait CLCOMPUTE_SYSTEM_CACHE=off
export OPENCL_LAYERS="$root/build/libclcount.so" CLCOUNT_EXIT=9 CLCOUNT_QUIET=1

cd "$root" || exit 1
places=$work/specs
rm -rf "$places"
mkdir -p "$places"

# Runs the specs of standard input, so many at a time; each tells all it has to tell at once.
run() {
  # shellcheck disable=SC2016 # what is quoted is for the inner shell
  places=$places xargs -r -n 1 -P "$1" sh -c '
    place=$places/$(echo "$1" | tr "/=" "__")
    tools/spec.sh "$1" "$place" >"$place.report" 2>&1
    flock "$places" cat "$place.report"' sh
}

together='' alone=''
for spec in "$@"; do
  case " ${ALONE:-} " in
    *" $spec "*) alone="$alone $spec" ;;
    *) together="$together $spec" ;;
  esac
done
echo "$together" | run "${JOBS:-$(($(nproc) + 1))}"
echo "$alone" | run 1

# What failed once more, for who sees the last lines alone.
grep -h -A 6 -E '^(Failure|Error) -> |^FAILED: ' "$places"/*.report | head -n 60

cat "$places"/*.tally | awk -v specs=$# '
  { passed += $1; failed += $2; pending += $3 }
  END {
    failed += specs - NR
    printf "%d pending\n%d passed, %d failed\n", pending, passed, failed
    exit failed > 0 || passed == 0
  }'

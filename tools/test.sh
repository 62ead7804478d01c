#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs spec files, each in a process of its own, on every OpenCL driver of this
# machine and on Oclgrind, under the layer that counts handles; ends with one line
# `N passed, N failed` and fails when anything did: a spec, a leaked handle, or a
# race or overrun that Oclgrind saw in a kernel. (Its check for uninitialised memory
# does not understand fills and partial writes; oclgrind_spec.lua has it on for the kernels.)
# `isolated=spec/x_spec.lua` runs a spec on isolated CPUs instead.
set -u

LUA=${LUA:-lua5.4}
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=${WORK:-$root/build} # what a run writes, so that two kinds of run may go on at once
log=$work/oclgrind.log
out=$work/spec.out
passed=0 failed=0 pending=0

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
export OCLGRIND_DATA_RACES=1 OCLGRIND_LOG="$log"
# The user's compiled programs stay as they are, and no run depends on the one before.
export CLCOMPUTE_CACHE="$work/cache"
rm -rf "$CLCOMPUTE_CACHE"
export OPENCL_LAYERS="$root/build/libclcount.so" CLCOUNT_EXIT=9 CLCOUNT_QUIET=1

cd "$root" || exit 1
fail() {
  failed=$((failed + 1))
  echo "FAILED: $1"
}

count() { # the number before a word of busted's summary
  sed -n "s/.*[^0-9]\{0,1\}\b\([0-9][0-9]*\) $1.*/\1/p" "$out" | tail -n 1
}

for spec in "$@"; do
  : >"$log"
  start=$(date +%s)
  case $spec in
    isolated=*) export ISOLATED=1 ;; # on isolated CPUs instead (spec/helper.lua)
    *) unset ISOLATED ;;
  esac
  spec=${spec#isolated=}
  "$LUA" /usr/bin/busted -o plainTerminal "$spec" >"$out" 2>&1
  code=$?
  ok=$(count success) bad=$(count failure) errors=$(count error) skipped=$(count pending)
  if [ -z "$ok" ]; then
    cat "$out"
    fail "$spec ended with exit code $code before its summary"
    continue
  fi
  bad=$((bad + errors))
  passed=$((passed + ok)) failed=$((failed + bad)) pending=$((pending + skipped))
  echo "$spec${ISOLATED:+ isolated}: $ok passed, $bad failed, $skipped pending ($(($(date +%s) - start)) s)"
  grep -A 3 '^Pending' "$out"
  grep -oE '(faults|properties|stress): .*' "$out" # behind what busted prints of its progress
  [ $bad -eq 0 ] && [ $code -ne 0 ] && fail "$spec: exit code $code"
  [ $code -ne 0 ] && cat "$out"
  if [ -s "$log" ]; then
    fail "$spec: Oclgrind found faults in a kernel"
    head -n 40 "$log"
  fi
done

echo "$pending pending"
echo "$passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]

#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs one spec in a process of its own and writes what is to be told of it; tools/test.sh calls it, in the environment
# that it makes. `isolated=spec/x_spec.lua` runs it on isolated CPUs instead; FIRST=1 ends it at the first failure. The
# tally goes to <place>.tally: passed, failed, pending.
# Usage: spec.sh spec place, where files that begin with `place` are its own.
set -u
spec=$1 out=$2.out log=$2.log
# A pipe, as each process that has Oclgrind empties the file that it is told of.
export OCLGRIND_LOG="$2.pipe"
case $spec in
  isolated=*) export ISOLATED=1 ;; # read by spec/helper.lua
  *) unset ISOLATED ;;
esac
# What is installed and processes side by side keep compiled programs, as users do, and so do short launches, which the
# serial device has of kept binaries alone; spec/files/cache_spec.lua has folders of its own. The others leave it to the
# drivers: to tell a binary POCL compiles every kernel once more, a third of what a run on empty caches takes. Verdicts
# on devices are kept all the same (spec/helper.lua).
case $spec in
  spec/whole/install_spec.lua | spec/whole/processes_spec.lua | spec/device/short_spec.lua) ;;
  *) export SPEC_VERDICTS="$CLCOMPUTE_CACHE" CLCOMPUTE_CACHE=off ;;
esac
spec=${spec#isolated=}
name="$spec${ISOLATED:+ isolated}"

number() { # the one before a word of busted's summary
  sed -n "s/.*[^0-9]\{0,1\}\b\([0-9][0-9]*\) $1.*/\1/p" "$out" | tail -n 1
}

fail() {
  bad=$((bad + 1))
  echo "FAILED: $name: $1"
}

rm -f "$OCLGRIND_LOG"
mkfifo "$OCLGRIND_LOG"
cat "$OCLGRIND_LOG" >"$log" &
reader=$!
exec 9>"$OCLGRIND_LOG" # so that it lasts from process to process
start=$(date +%s)
# busted's own script, wherever it is: this interpreter is to run it.
"${LUA:-lua5.4}" -e 'require "busted.runner" { standalone = false }' /dev/null -o plainTerminal ${FIRST:+--no-keep-going} "$spec" >"$out" 2>&1 9>&-
code=$?
exec 9>&-
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 $reader 2>/dev/null && sleep 0.1; done
kill $reader 2>/dev/null # somebody may have it open still
ok=$(number success) bad=$(number failure) errors=$(number error) skipped=$(number pending)
if [ -z "$ok" ]; then
  ok=0 bad=0 skipped=0
  fail "it ended with exit code $code before its summary"
else
  bad=$((bad + errors))
  echo "$name: $ok passed, $bad failed, $skipped pending ($(($(date +%s) - start)) s)"
  grep -A 3 '^Pending' "$out"
  grep -oE '(faults|properties|stress): .*' "$out" # behind what busted prints of its progress
  [ $bad -eq 0 ] && [ $code -ne 0 ] && fail "exit code $code"
fi
[ $code -ne 0 ] && cat "$out"
if [ -s "$log" ]; then
  fail "Oclgrind found faults in a kernel"
  head -n 40 "$log"
fi
echo "$ok $bad $skipped" >"$2.tally"

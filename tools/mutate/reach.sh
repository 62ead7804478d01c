#!/bin/sh
# SPDX-License-Identifier: MIT
# Which lines of csrc/ and functions of lua/ a spec reaches: runs it in the modules of `make coverage` and writes lines
# `path first last`, and one `spec seconds`, to <place>/<spec>. Run in the root of a tree, in the environment of
# `make env`, by tools/mutate.lua. Usage: reach.sh place spec
set -u
name=$(echo "$2" | tr / _)
work=$1/work-$name
rm -rf "$work"
mkdir -p "$work/counts"
touch "$work/functions"

start=$(date +%s)
LUA_CPATH_5_4="$PWD/build/coverage/?.so;$LUA_CPATH_5_4" LUA_INIT_5_4="package.loadlib('$PWD/build/reached.so', 'note_calls')()" \
  REACHED="$work/functions" GCOV_PREFIX="$work/counts" GCOV_PREFIX_STRIP="$(echo "$PWD" | tr -cd / | wc -c)" \
  WORK="$work" JOBS=1 RACES=0 CLCOMPUTE_SANDBOX=off timeout 900 tools/test.sh "$2" >"$work/log" 2>&1
seconds=$(($(date +%s) - start))

cp -rs "$PWD/build/coverage" "$work/counts/build/" 2>/dev/null
{
  echo "$2 $seconds"
  sort -u "$work/functions"
  find "$work/counts" -name '*.gcda' -exec gcov --stdout {} + 2>/dev/null | awk -F: '
    function tell() { if (first) print path, first, last; first = 0 }
    $3 == "Source" { tell(); path = $4; is_ours = path ~ /^csrc\//; next }
    !is_ours { next }
    { count = $1; gsub(/ /, "", count); line = $2 + 0 }
    count == "-" { next }
    count ~ /^[#=]/ { tell(); next }
    { if (!first) first = line; last = line }
    END { tell() }'
} >"$1/$name"
rm -rf "$work"

#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the Debian packages named that are missing; elsewhere says which they are.
set -eu

command -v dpkg-query >/dev/null 2>&1 || {
  echo "clcompute: not a Debian system, so nothing is installed; needed are the equivalents of: $*"
  exit 0
}

missing=
for package in "$@"; do
  status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  as_root=sudo
  command -v sudo >/dev/null 2>&1 || {
    echo "clcompute: these packages are missing; install them as root: apt-get install$missing" >&2
    exit 1
  }
fi

echo "clcompute: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null

#!/bin/sh
# Writes a stub library (.tbd) with the names that libraries or archives for macOS define.
#
#   make_tbd.sh INSTALL_NAME OUTPUT FILE...
set -eu
install_name=$1
output=$2
shift 2
names=$(llvm-nm-14 --defined-only --extern-only --format=just-symbols "$@" | grep -E '^_[A-Za-z0-9_]+$' | LC_ALL=C sort -u |
  paste -s -d ,)
[ -n "$names" ] || { echo "$* define no name" >&2; exit 1; }
mkdir -p "$(dirname "$output")"
cat >"$output" <<END
--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: '$install_name'
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ $names ]
...
END

#!/usr/bin/env bash
# Fails unless check_floor.py reports the symbols of linked_as_usual.cpp.
#
#   floor_is_missed.sh PYTHON CHECK_FLOOR TABLE CPU PLUGIN
set -euo pipefail
if said=$("$@"); then
  printf 'the plugin was accepted: %s\n' "$said"
  exit 1
fi
for line in 'stat: libc.so.6 of RHEL 8 lacks it with version GLIBC_2.33' \
  'dlopen: libc.so.6 of RHEL 8 lacks it with version GLIBC_2.34' \
  '_ZNSt10filesystem.*: libstdc++.so.6 of RHEL 8 lacks it with version GLIBCXX_3.4.26' \
  'symbol_that_no_library_has: no library that the plugin can rely on exports it'; do
  grep -q "$line" <<<"$said" || { printf 'not reported: %s\n%s\n' "$line" "$said"; exit 1; }
done

#!/usr/bin/env bash
# Fails unless libtorch's libraries export every symbol of libtorch that the plugin uses. Both may be for another processor.
#
#   pytorch_symbols.sh PLUGIN LIBRARY...
set -euo pipefail
# Without weak references ("w"), which may stay undefined: the initializer of a thread-local variable that needs none.
symbols() { nm -D "$@" | awk 'NF > 1 && $(NF - 1) != "w" { print $NF }' | sed 's/@.*//' | sort -u; }
needed=$(symbols --undefined-only "$1" | grep -E 'c10|2at|torch')
missing=$(comm -23 <(printf '%s\n' "$needed") <(symbols --defined-only "${@:2}"))
count=$(wc -l <<<"$needed")
if [ -n "$missing" ] || [ "$count" -le 20 ]; then
  printf 'of %d symbols of %s, the libraries lack:\n%s\n' "$count" "$1" "$missing"
  exit 1
fi
printf '%s: the libraries export the %d symbols that it uses\n' "$1" "$count"

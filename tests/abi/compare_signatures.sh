#!/bin/sh
# compare_signatures.sh OLD NEW: compares two builds of the anchor by the same compiler. Additions are allowed; a
# changed type or function signature is not. Exit status: 0 compatible, 1 not, 77 abidiff is not installed (CTest:
# skipped).
if ! command -v abidiff >/dev/null 2>&1; then
  echo "skipped: abidiff (package abigail-tools) is not installed"
  exit 77
fi
abidiff --no-added-syms "$1" "$2"
status=$?
# Bit 4 (value 4): some change; bit 8: an incompatible one; 1 and 2: abidiff failed.
[ $status -eq 0 ] && echo "no type and no signature changed"
[ $status -eq 0 ]

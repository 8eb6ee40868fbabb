#!/usr/bin/env bash
# Compares the reference engine with ENGINE of this build tree. A wrong answer and a missing engine must be reported.
#
#   compare_test.sh BUILD ENGINE
set -euo pipefail
build=$1
engine=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export HOME=$work ENGINEHOST_CACHE=$work/cache
compare() { "$build/tests/gpu_compare_operations" --quick --offline --first reference --second "$@"; }

compare "$engine" | tee "$work/agree"
for operation in Add Conv MatMul Mul Relu Softmax; do
  grep -qE "^$operation: [1-9][0-9]* agree, [1-9][0-9]* refused by both, .* 0 disagree" "$work/agree"
done
[ "$(grep -c '^opening .* ms$' "$work/agree")" -eq 3 ]

status=0
compare "$engine" --disturb MatMul >"$work/disturbed" || status=$?
[ "$status" -eq 1 ]
grep -qF 'DISAGREE MatMul [33,7] of whole numbers [7,31] of whole numbers in host memory: 1 of 1023 elements differ' \
  "$work/disturbed"
grep -q '^Add: .* 0 disagree' "$work/disturbed"

status=0
compare "$engine" --second-require cu130 >/dev/null 2>"$work/said" || status=$?
[ "$status" -eq 3 ]
grep -q 'EH-S' "$work/said"

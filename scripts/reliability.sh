#!/usr/bin/env bash
# Runs the tests of docs/reliability.md and writes that page again: real libraries with changed bytes, a comparison with
# dlopen for every shared object of this machine, and libFuzzer on the readers of untrusted bytes for N seconds each
# (120). Takes about twenty minutes on two cores, most of them for the fuzzers.
#
#   scripts/reliability.sh [--mutants N] [--fuzz-seconds N] [--output FILE]
#
# The engine onnxruntime is included if ENGINEHOST_CACHE (or the user's cache) holds its runtime.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

mutants=5000
fuzz_seconds=120
output=docs/reliability.md
while [ $# -gt 0 ]; do
  case $1 in
    --mutants) mutants=${2:?} && shift ;;
    --fuzz-seconds) fuzz_seconds=${2:?} && shift ;;
    --output) output=${2:?} && shift ;;
    -h | --help)
      sed -n '2,8s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $1 (known: --mutants, --fuzz-seconds, --output)"
      exit 2
      ;;
  esac
  shift
done

build=${ENGINEHOST_RELIABILITY_BUILD:-build}
if [ "$build" = build ]; then
  cmake --preset release
  cmake --build --preset release --parallel "$(jobs_that_fit)" --target mutation_tests preflight_tests
fi
figures=$(mktemp -d)
trap 'rm -rf "$figures"' EXIT
export ENGINEHOST_EXHAUSTIVE=1 ENGINEHOST_FIGURES=$figures
ENGINEHOST_MUTANTS=$mutants "$build/tests/mutation_tests"
"$build/tests/preflight_tests" --gtest_filter='DlopenAgreement.*'
echo "| fuzzing was left out | | | |" >"$figures/fuzzing.md"
if [ "$fuzz_seconds" -gt 0 ] && command -v clang-14 >/dev/null; then
  : >"$figures/fuzzing.md"
  scripts/fuzz.sh --seconds "$fuzz_seconds"
fi
python3 - tests/faults/reliability.md.in "$figures" >"$figures/page.md" <<'PAGE'
import pathlib, sys
page, figures = pathlib.Path(sys.argv[1]).read_text(), pathlib.Path(sys.argv[2])
for name in ("mutation", "dlopen-agreement", "fuzzing"):
    page = page.replace("@" + name + "@", (figures / (name + ".md")).read_text().strip())
sys.stdout.write(page)
PAGE
cp "$figures/page.md" "$output"
say "written: $output"

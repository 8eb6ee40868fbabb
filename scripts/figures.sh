#!/usr/bin/env bash
# Measures the figures of docs/figures.md and writes that page again: builds the release, runs tests/bench with
# repetitions, and makes a table of the results. Takes about ten minutes; an idle machine gives steadier figures.
#
#   scripts/figures.sh [--repetitions N] [--filter REGEX] [--output FILE]
#   scripts/figures.sh --index [--output FILE]
#   scripts/figures.sh --packages FOLDER [--output FILE]
#
# --index  measures the reading of the package index alone, several GB, and replaces that section of the page. Without it the
#          section stays as it is.
# --packages  measures the files in a folder of scripts/package.sh alone, and replaces the section about them
#
# ENGINEHOST_BENCH_ONNXRUNTIME=FILE  a libonnxruntime.so to open (without it that row is left out)
# ENGINEHOST_BENCH_OPENBLAS=FILE     an OpenBLAS outside the loader's path
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

repetitions=5
filter=.
output=docs/figures.md
index=false
packages=
while [ $# -gt 0 ]; do
  case $1 in
    --repetitions) repetitions=$2; shift 2 ;;
    --filter) filter=$2; shift 2 ;;
    --output) output=$2; shift 2 ;;
    --index) index=true; shift ;;
    --packages) packages=$2; shift 2 ;;
    -h | --help)
      sed -n '2,14s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $1 (known: --repetitions, --filter, --output, --index, --packages)"
      exit 2
      ;;
  esac
done

if [ -n "$packages" ]; then
  [ -f "$output" ] || cp docs/figures.md "$output"
  python3 tests/bench/package_figures.py "$packages" "$output"
  say "written: $output"
  exit 0
fi
if $index; then
  cmake --preset release -DENGINEHOST_TOOLS=ON
  cmake --build --preset release --parallel "$(jobs_that_fit)" --target engine-manifest
  [ -f "$output" ] || cp docs/figures.md "$output"
  python3 tests/bench/follow_figures.py build/bin/engine-manifest manifests/plans "$output"
  say "written: $output"
  exit 0
fi

cmake --preset release -DENGINEHOST_BENCHMARKS=ON
cmake --build --preset release --parallel "$(jobs_that_fit)" --target enginehost_bench
mkdir -p build/bench
build/tests/enginehost_bench --benchmark_filter="$filter" --benchmark_repetitions="$repetitions" \
  --benchmark_out=build/bench/figures.json --benchmark_out_format=json
python3 tests/bench/write_figures.py build/bench/figures.json docs/figures.md >build/bench/figures.md
mv build/bench/figures.md "$output"
say "written: $output"

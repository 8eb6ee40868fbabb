#!/usr/bin/env bash
# Fuzzes the readers of untrusted bytes (tests/fuzz) with libFuzzer under AddressSanitizer and
# UndefinedBehaviorSanitizer. Needs clang 14.
#
#   scripts/fuzz.sh [--seconds N] [--keep FOLDER] [TARGET...]
#
# --seconds N    how long each target runs (20)
# --keep FOLDER  where inputs that reach new code are kept from run to run (build-fuzz/corpus). To put some into the
#                tree, minimize them: build-fuzz/tests/elf_fuzz -merge=1 -use_counters=0 NEW tests/fuzz/corpus/elf FOLDER/elf
# TARGET         one of those listed in `all` below; without one: all
#
# Exit status 1 when a target found something. The input is kept in build-fuzz/finds; the target reproduces the find
# when it is run with it as argument. Add fixed finds to tests/fuzz/corpus, where every test run replays them.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root" || exit 1

seconds=20
keep=build-fuzz/corpus
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds) seconds=${2:?} && shift ;;
    --keep) keep=${2:?} && shift ;;
    -h | --help)
      sed -n '2,14s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    -*)
      complain "unknown argument $1 (known: --seconds, --keep)"
      exit 2
      ;;
    *) targets+=("$1") ;;
  esac
  shift
done
all=(elf pe macho symbols gpu_code sniff zip_directory zip_stream archive_name answer chunk_list package_page registry trust bundle)
[ ${#targets[@]} -gt 0 ] || targets=("${all[@]}")

if ! command -v clang-14 >/dev/null; then
  say "fuzzing skipped: clang-14 is not installed"
  exit 0
fi
cmake --preset fuzz >/dev/null || exit 1
cmake --build build-fuzz --parallel "$(jobs_that_fit)" --target "${targets[@]/%/_fuzz}" || exit 1

mkdir -p build-fuzz/finds
found=$(mktemp -d)
trap 'rm -rf "$found"' EXIT

# fuzz TARGET: runs it, prints the result, and creates a file of its name in $found when it found something.
fuzz() {
  local target=$1 log=build-fuzz/$1.log inputs seeds=(tests/fuzz/corpus/"$1")
  [ "$target" != symbols ] || seeds+=(tests/fuzz/corpus/elf tests/fuzz/corpus/pe tests/fuzz/corpus/macho)
  mkdir -p "$keep/$target"
  if build-fuzz/tests/"${target}"_fuzz -max_total_time="$seconds" -max_len=16384 -timeout=10 -rss_limit_mb=2048 \
    -print_final_stats=1 -artifact_prefix=build-fuzz/finds/"$target"- "$keep/$target" "${seeds[@]}" >"$log" 2>&1; then
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    say "$target: $inputs inputs in $seconds s, nothing found"
    [ -z "${ENGINEHOST_FIGURES:-}" ] || echo "| $target | $inputs | $seconds | nothing |" >>"$ENGINEHOST_FIGURES/fuzzing.md"
  else
    touch "$found/$target"
    [ -z "${ENGINEHOST_FIGURES:-}" ] || echo "| $target | | $seconds | something |" >>"$ENGINEHOST_FIGURES/fuzzing.md"
    say "$target: FOUND something; the end of $log:"$'\n'"$(tail -n 25 "$log")"
  fi
}

# A fuzzer has one thread, so as many run at once as the machine allows.
at_once=$(jobs_that_fit)
for target in "${targets[@]}"; do
  while [ "$(jobs -rp | wc -l)" -ge "$at_once" ]; do wait -n; done
  fuzz "$target" &
done
wait
[ -z "$(ls "$found")" ]

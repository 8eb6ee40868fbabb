#!/usr/bin/env bash
# shellcheck disable=SC2317  # stage() calls the functions by name
# Runs all tests but those of the label exhaustive (ctest --test-dir build -L exhaustive): the main run with warnings as
# errors, then those that use the package index (where it can be reached), then the modules that handle strangers' bytes
# under AddressSanitizer and UndefinedBehaviorSanitizer, and those with threads under ThreadSanitizer, then the most
# telling of the Windows programs' tests under Wine, unless 40 minutes have gone, and of the arm64 programs' under qemu,
# unless 43 have, or what that needs cannot be had, then each fuzzer for 20 s; with --macos last the programs for macOS,
# which are compiled and read. The last lines are a summary of CTest: of the first stage that failed, with what its tests
# said, else of the main run. Exit status 1 if any stage failed.
#
#   scripts/test.sh [--no-sanitizers] [--no-windows] [--no-arm64] [--macos] [--no-install]
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root" || exit 1

address_targets=(base_tests binary_tests linker_tests manifest_tests resolve_tests cache_tests explain_tests
  preflight_tests elf_fuzz pe_fuzz macho_fuzz symbols_fuzz gpu_code_fuzz sniff_fuzz)
thread_targets=(base_tests cache_tests acquire_tests open_tests sdk_tests)

sanitizers=true
windows=true
arm64=true
macos=false
install=true
for argument in "$@"; do
  case $argument in
    --no-sanitizers) sanitizers=false ;;
    --no-windows) windows=false ;;
    --no-arm64) arm64=false ;;
    --macos) macos=true ;;
    --no-install) install=false ;;
    -h | --help)
      sed -n '3,11s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $argument (known: --no-sanitizers, --no-windows, --no-arm64, --macos, --no-install)"
      exit 2
      ;;
  esac
done

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
stages=()        # "name: how it went", in order
failed_log=      # what the first failed stage said
note() { stages+=("$1: $2"); }

# stage NAME COMMAND...: runs it under a heading, keeps what it said, notes how it went.
stage() {
  local name=$1 log begin=$SECONDS status
  log=$logs/$((${#stages[@]} + 1)).log
  heading "$name"
  "${@:2}" 2>&1 | tee "$log"
  status=${PIPESTATUS[0]}
  if [ "$status" -eq 0 ]; then
    note "$name" "passed in $((SECONDS - begin)) s"
  elif [ "$status" -eq 77 ]; then
    note "$name" "skipped: $(tail -n 1 "$log")"
  else
    note "$name" "FAILED (status $status) after $((SECONDS - begin)) s"
    [ -n "$failed_log" ] || failed_log=$log
  fi
  return "$status"
}

# What a run of CTest skipped inside its programs: GoogleTest says so, CTest does not repeat it.
list_skipped() {
  local log=$1/Testing/Temporary/LastTest.log skipped
  [ -f "$log" ] || return 0
  skipped=$(grep -A 1 -E ': Skipped$' "$log" | grep -vE ': Skipped$|^--$' | sort | uniq -c)
  [ -z "$skipped" ] || printf 'Cases that skipped themselves, and why:\n%s\n' "$skipped"
}

# What the tests that failed said last: an assertion of GoogleTest with its case, else the end of the output. Beside the
# summary, since whoever reads only the end of a long log needs to know what went wrong without running it again.
list_failed() {
  local log=$1/Testing/Temporary/LastTest.log
  [ -f "$log" ] || return 0
  awk -v most=12 -v all=60 '
    function tell(line) { if (reported++ < all) print "  " substr(line, 1, 300) }
    function finish(  i) {
      if (name == "" || passed) return
      if (found == 0) for (i = lines > most ? lines - most + 1 : 1; i <= lines; i++) kept[++found] = output[i]
      if (found > 0) print "What " name " said:"
      for (i = 1; i <= found; i++) tell(kept[i])
    }
    / Testing: / { finish(); name = $3; passed = lines = found = left = inside = headed = 0; next }
    /^Output:$/ && !inside { headed = 1; next }
    headed { headed = 0; inside = 1; next }
    /^<end of output>$/ { inside = 0 }
    /^Test (Passed|Skipped)\.$/ && !inside { passed = 1 }
    !inside { next }
    { output[++lines] = $0 }
    /: Failure$/ { left = most }
    /^\[  FAILED  \] .* ms\)$/ { left = 1 }
    /^\[ +(RUN|OK) / { left = 0 }
    left-- > 0 { kept[++found] = $0 }
    END { finish() }' "$log"
}

# Takes a third off what there is to compile; the compiler cache is reported what it needs to know for it.
precompiled=(-DENGINEHOST_PRECOMPILED_TESTS=ON -DENGINEHOST_PRECOMPILED_MODULES=ON)
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

build_main() {
  cmake --preset ci -DENGINEHOST_TESTS=ON -DENGINEHOST_BENCHMARKS=ON "${precompiled[@]}" &&
    cmake --build --preset ci --parallel "$(jobs_that_fit)"
}

# One more than there are processors: a third of the time a test waits for a clock, a disk or a server.
jobs_of_tests() { echo $(($(nproc) + 1)); }

run_main() {
  local status=0
  ctest --test-dir build --output-on-failure --no-tests=error --timeout 300 -j "$(jobs_of_tests)" \
    -LE 'exhaustive|index|macos' || status=$?
  list_skipped build
  [ "$status" -eq 0 ] || list_failed build
  return "$status"
}

run_index() {
  local status=0
  ctest --test-dir build --output-on-failure --timeout 600 -L index -LE exhaustive || status=$?
  list_skipped build
  [ "$status" -eq 0 ] || list_failed build
  return "$status"
}

# sanitized PRESET TARGET...: builds these test programs of the preset and runs them.
sanitized() {
  local preset=$1 folder=build-$1 status=0 targets=() target names
  # Eight files of a module at once take as long as three; as it is for users the main build compiles them, file by file.
  cmake --preset "$preset" -DENGINEHOST_TESTS=ON -DENGINEHOST_BENCHMARKS=OFF "${precompiled[@]}" -DCMAKE_UNITY_BUILD=ON || return
  for target in "${@:2}"; do
    if ninja -C "$folder" -t query "$target" >/dev/null 2>&1; then
      targets+=("$target")
    else
      say "not in this tree: $target"
    fi
  done
  [ ${#targets[@]} -gt 0 ] || return 0
  cmake --build "$folder" --parallel "$(jobs_that_fit)" --target "${targets[@]}" || return
  names=$(IFS='|' && echo "${targets[*]}")
  # ThreadSanitizer of gcc 12 cannot place its shadow where newer kernels randomize addresses widely.
  local fixed_addresses=()
  if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then
    fixed_addresses=(setarch "$(uname -m)" -R)
  fi
  "${fixed_addresses[@]}" ctest --test-dir "$folder" --output-on-failure --no-tests=error --timeout 600 \
    -j "$(jobs_of_tests)" -R "^($names)\$" || status=$?
  list_skipped "$folder"
  [ "$status" -eq 0 ] || list_failed "$folder"
  return "$status"
}

# Nobody is refused the other stages for want of 2 GB of packages.
run_windows() {
  if $install && ! scripts/install-dependencies.sh --windows; then
    say "what the Windows programs are made and run with cannot be installed"
    return 77
  fi
  scripts/test-windows.sh --quick
}

run_arm64() {
  local parts=(--quick)
  if ! $install; then parts+=(--no-install); fi
  scripts/test-arm64.sh "${parts[@]}"
}

# stage_before MINUTES SCRIPT NAME COMMAND...: the stage, unless that many minutes have gone; SCRIPT then runs all of it.
stage_before() {
  local gone=$((SECONDS / 60))
  if [ "$gone" -lt "$1" ]; then
    stage "${@:3}"
    return
  fi
  heading "$3"
  say "skipped after $gone minutes; $2 runs them all"
  note "$3" "skipped: $gone minutes had gone already"
}

closing_lines_of() { sed -n '/% tests passed/,$p' "$1"; }

finish() {
  local main_log=$1 one
  heading "Stages"
  for one in "${stages[@]}"; do say "$one"; done
  if [ -n "$failed_log" ]; then
    heading "The first stage that failed ended with"
    if grep -q '% tests passed' "$failed_log"; then closing_lines_of "$failed_log"; else tail -n 30 "$failed_log"; fi
    exit 1
  fi
  heading "The main run ended with"
  closing_lines_of "$main_log"
  exit 0
}

if $install; then stage "Dependencies" scripts/install-dependencies.sh --tests || finish ""; fi
stage "Build with warnings as errors" build_main || finish ""
stage "Tests" run_main
main_log=$logs/${#stages[@]}.log
if why=$(package_index_reachable); then
  stage "Tests over the package index" run_index
else
  heading "Tests over the package index"
  say "index tests skipped: $why"
  note "Tests over the package index" "skipped: $why"
fi
if $sanitizers; then
  # clang takes half the time for it, and its build is the fuzzers', too.
  if command -v clang-14 >/dev/null; then address=fuzz; else address=asan; fi
  stage "AddressSanitizer and UndefinedBehaviorSanitizer" sanitized "$address" "${address_targets[@]}"
  stage "ThreadSanitizer" sanitized tsan "${thread_targets[@]}"
fi
# All of it is to end well within the hour, also where nothing is built yet and the machine is slow.
if $windows; then stage_before 40 scripts/test-windows.sh "Windows programs under Wine" run_windows; fi
if $arm64; then stage_before 43 scripts/test-arm64.sh "arm64 programs under qemu" run_arm64; fi
if $sanitizers; then stage "Fuzzing" scripts/fuzz.sh --seconds 20; fi
if $macos; then stage "Programs for macOS" scripts/test-macos.sh; fi
finish "$main_log"

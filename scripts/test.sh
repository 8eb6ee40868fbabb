#!/usr/bin/env bash
# shellcheck disable=SC2317  # stage() calls the functions by name
# Runs the tests. docs/testing.md has the table of what runs when, and with which command each part runs alone.
#
#   scripts/test.sh [--everything] [--no-sanitizers] [--no-install] [--record]
#
# Every run: the build with warnings as errors, the tests (without the label exhaustive), the tests over the package index
# (where it can be reached), the files of scripts/package.sh, AddressSanitizer and UndefinedBehaviorSanitizer,
# ThreadSanitizer, and each fuzzer for 10 s.
# When the files that they cover changed since the pass that docs/testing.md records, and less than 20 minutes have gone: each
# file compiled by itself, the Windows programs under Wine, and the arm64 programs under qemu.
#
# --everything     all of it, whatever changed, and the label exhaustive and the programs for macOS (hours)
# --record         writes today's date and the digest of the covered files into docs/testing.md for the parts that passed
# --no-sanitizers  without sanitizers and fuzzers
# --no-install     installs no packages
#
# The last lines are a summary of CTest: of the first part that failed, with the messages of its tests, else of the main run.
# Exit status 1 if any part failed.
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root" || exit 1

address_targets=(base_tests binary_tests linker_tests manifest_tests resolve_tests cache_tests explain_tests
  preflight_tests elf_fuzz pe_fuzz macho_fuzz symbols_fuzz gpu_code_fuzz sniff_fuzz)
thread_targets=(base_tests cache_tests acquire_tests open_tests sdk_tests)

sanitizers=true
install=true
everything=false
record=false
for argument in "$@"; do
  case $argument in
    --everything) everything=true ;;
    --no-sanitizers) sanitizers=false ;;
    --no-install) install=false ;;
    --record) record=true ;;
    -h | --help)
      sed -n '3,20s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $argument (known: --everything, --no-sanitizers, --no-install, --record)"
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

# Lists the cases that GoogleTest skipped, because CTest does not.
list_skipped() {
  local log=$1/Testing/Temporary/LastTest.log skipped
  [ -f "$log" ] || return 0
  skipped=$(grep -A 1 -E ': Skipped$' "$log" | grep -vE ': Skipped$|^--$' | sort | uniq -c)
  [ -z "$skipped" ] || printf 'Cases that skipped themselves, and why:\n%s\n' "$skipped"
}

# Prints the failed assertions of GoogleTest with their cases, or the end of a test's output. They stand beside the summary, so
# that the end of a long log is enough to see the reason.
list_failed() {
  local log=$1/Testing/Temporary/LastTest.log
  [ -f "$log" ] || return 0
  awk -v most=12 -v all=60 '
    function show(line) { if (shown++ < all) print "  " substr(line, 1, 300) }
    function finish(  i) {
      if (name == "" || passed) return
      if (found == 0) for (i = lines > most ? lines - most + 1 : 1; i <= lines; i++) kept[++found] = output[i]
      if (found > 0) print "Output of " name ":"
      for (i = 1; i <= found; i++) show(kept[i])
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

# The adapters of all published PyTorch releases belong to the build. Headers that are there are not fetched again.
fetch_torch_headers() {
  local why
  if why=$(package_index_reachable); then
    python3 -B engines/pytorch/fetch_headers.py build/torch >/dev/null
  else
    say "PyTorch's headers are not fetched: $why"
  fi
}

build_main() {
  fetch_torch_headers || say "without the adapters of these releases of PyTorch"
  local torch=()
  mapfile -t torch < <(fetched_into build/torch)
  cmake --preset ci -DENGINEHOST_TESTS=ON -DENGINEHOST_BENCHMARKS=ON -DENGINEHOST_TOOLS=ON -DENGINEHOST_ENGINES=all \
    "$(option_with ENGINEHOST_TORCH_ROOT system "${torch[@]}")" \
    -DENGINEHOST_TEST_COMPILER="$(command -v clang++-14)" &&
    cmake --build --preset ci --parallel "$(jobs_that_fit)"
}

# One more than there are processors, because tests wait a third of their time for a clock, a disk or a server.
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
  cmake --preset "$preset" -DENGINEHOST_TESTS=ON -DENGINEHOST_BENCHMARKS=OFF -DENGINEHOST_JOINED_TESTS=ON \
    -DCMAKE_UNITY_BUILD=ON || return
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
  # ThreadSanitizer cannot place its shadow where newer kernels randomize addresses widely.
  local fixed_addresses=()
  if [ "$preset" = tsan ] && setarch "$(uname -m)" -R true 2>/dev/null; then
    fixed_addresses=(setarch "$(uname -m)" -R)
  fi
  # As malloc() without a sanitizer: a test asks for more memory than there is. clang's runtime would end the program.
  TSAN_OPTIONS="allocator_may_return_null=1 ${TSAN_OPTIONS:-}" "${fixed_addresses[@]}" ctest --test-dir "$folder" --output-on-failure --no-tests=error --timeout 600 \
    -j "$(jobs_of_tests)" -R "^($names)\$" || status=$?
  list_skipped "$folder"
  [ "$status" -eq 0 ] || list_failed "$folder"
  return "$status"
}

# The files that install EngineHost elsewhere. Their objects are those of the main build, so only linking is left.
run_packages() {
  local folder=out/packages-of-tests
  rm -rf "$folder"
  # The first stage has installed what there is.
  scripts/package.sh --preset ci --alone --no-install --output "$folder" || return
  python3 -B tests/packages/packages_test.py "$folder"
}

# Compiles each file of the product by itself and with -Wshadow: the other builds join files, which hides a forgotten include.
run_each_file() {
  cmake --preset clang -DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF &&
    cmake --build --preset clang --parallel "$(jobs_that_fit)"
}

# The other parts run even if the 2 GB of packages for Wine cannot be had.
run_windows() {
  if $install && ! scripts/install-dependencies.sh --windows; then
    say "the packages for building and running Windows programs cannot be installed"
    return 77
  fi
  if $everything; then scripts/test-windows.sh; else scripts/test-windows.sh --quick; fi
}

run_arm64() {
  local parts=()
  if ! $everything; then parts+=(--quick); fi
  if ! $install; then parts+=(--no-install); fi
  scripts/test-arm64.sh "${parts[@]}"
}

run_exhaustive() {
  local status=0
  ctest --test-dir build --output-on-failure --timeout 7200 -L exhaustive || status=$?
  list_skipped build
  [ "$status" -eq 0 ] || list_failed build
  return "$status"
}

# digest_of FOLDER...: twelve digits for the tracked files below the folders, as they are now.
digest_of() { git ls-files -z -- "$@" 2>/dev/null | xargs -0 sha256sum | sha256sum | cut -c 1-12; }

# covering NAME FOLDER... -- COMMAND...: runs the stage NAME unless docs/testing.md says that it passed with these very files,
# or 20 minutes have gone. Its row there ends with "DATE `DIGEST` |".
covering() {
  local name=$1 folders=() digest gone=$((SECONDS / 60)) row
  shift
  while [ "$1" != -- ]; do folders+=("$1") && shift; done
  shift
  digest=$(digest_of "${folders[@]}")
  row=$(grep -F "| $name |" docs/testing.md)
  if ! $everything && [[ $row == *"\`$digest\` |" ]]; then
    note "$name" "not repeated: nothing that it covers changed since it passed on $(grep -oE '[0-9]{4}-[0-9-]{5}' <<<"$row")"
    return
  fi
  if ! $everything && [ "$gone" -ge 20 ]; then
    note "$name" "skipped: $gone minutes had gone already (docs/testing.md has its command)"
    return
  fi
  stage "$name" "$@" || return
  if $record; then
    sed -i "/^| $name |/s/ | [^|]* |\$/ | $(date +%F) \`$digest\` |/" docs/testing.md
  fi
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
stage "Packages" run_packages
if $sanitizers; then
  # clang takes half the time for it, and its build is the fuzzers', too.
  if command -v clang-14 >/dev/null; then address=fuzz; else address=asan; fi
  stage "AddressSanitizer and UndefinedBehaviorSanitizer" sanitized "$address" "${address_targets[@]}"
  stage "ThreadSanitizer" sanitized tsan "${thread_targets[@]}"
  stage "Fuzzing" scripts/fuzz.sh --seconds 10
fi
covering "Each file by itself" CMakeLists.txt cmake failures base cache host plugin-api engines tools -- run_each_file
covering "Windows programs under Wine" base host/load cmake/windows-libraries cmake/toolchains scripts/test-windows.sh \
  ':(glob)**/windows/**' -- run_windows
covering "arm64 programs under qemu" base host/binary host/linker host/resolve plugin-api tools/conformance cmake/toolchains \
  scripts/test-arm64.sh -- run_arm64
if $everything; then
  covering "Programs for macOS" base cache host plugin-api engines tools cmake -- scripts/test-macos.sh
  covering "Label exhaustive" base cache host plugin-api engines tools manifests tests -- run_exhaustive
fi
finish "$main_log"

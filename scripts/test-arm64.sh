#!/usr/bin/env bash
# shellcheck disable=SC2317  # stage() calls the functions by name
# Builds EngineHost for arm64 Linux with Debian's cross compiler and tests it here under qemu: the unit tests of the
# modules that depend on processors, systems and files, then engine-info and engine-run with the reference engine (an
# arm64 process that probes and loads an arm64 plugin). The PyTorch adapters are compiled, and their symbols compared with the
# published libraries, which are not run. docs/what-was-run.md says what that proves. --quick runs only the unit tests of base,
# binary, linker and resolve, and engine-plugin-check, which loads the reference engine.
#
#   scripts/test-arm64.sh [--quick] [--no-install]
#
# Exit status: 0 all passed, 1 something failed, 77 this machine cannot run it (the reason is printed).
set -uo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root" || exit 1

folder=build-linux-aarch64-qemu
test_targets=(base_tests binary_tests linker_tests manifest_tests resolve_tests explain_tests preflight_tests
  platform_tests)
quick=false
install=true
for argument in "$@"; do
  case $argument in
    --quick) quick=true ;;
    --no-install) install=false ;;
    -h | --help)
      sed -n '3,11s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $argument (known: --quick, --no-install)"
      exit 2
      ;;
  esac
done

programs=(engine-info engine-run enginehost-probe enginehost_repository)
if $quick; then
  test_targets=(base_tests binary_tests linker_tests resolve_tests)
  programs=(engine-plugin-check engine_reference)
fi

# Each suite's exclusions, by name and reason; docs/what-was-run.md repeats the list. Every exclusion is printed.
left_out=(
  "base_tests ChildProcess.AProgramThatCannotBeStartedIsP20: the emulator does not report to a parent that exec failed"
  "platform_tests Driver.AMissingQueryProgramIsReported: the emulator does not report to a parent that exec failed"
  "base_tests Files.AFolderOfSomeoneElseIsF16: the namespace has one user only"
  "base_tests Ownership.F22AnotherUsersFileIsNotSafe: the namespace has one user only"
  "base_tests SystemProgram.SkipsFoldersAndFilesOfAnotherUser: the namespace has one user only"
  "base_tests Each/ProgramsWithMoreRights.*: the namespace has one user only"
  "preflight_tests Content.AClosedFileIsL25AndNamesTheClosedPath: the namespace has one user only"
)
if $quick; then
  left_out+=(
    "binary_tests Mutation.*: minutes under qemu, and nothing in them depends on the processor"
    "linker_tests RealLoader.*: thousands of emulated processes; the whole run has it"
  )
fi

run_tests() {
  local suite failed=0 excluded one
  for suite in "${test_targets[@]}"; do
    excluded=""
    for one in "${left_out[@]}"; do
      case $one in
        "$suite "*)
          one=${one#"$suite "}
          say "left out: $suite ${one%%: *}: ${one#*: }"
          excluded+=${excluded:+:}${one%%: *}
          ;;
      esac
    done
    # uniq: children repeat what a test printed before it forked.
    scripts/arm64-run.sh "$folder/tests/$suite" --gtest_brief=1 ${excluded:+"--gtest_filter=-$excluded"} | uniq ||
      { failed=1; complain "$suite failed"; }
  done
  return $failed
}

# engine-info must find an arm64 machine and an arm64 build, and open it through the probe in a child process.
open_reference() {
  local scratch status=0
  scratch=$(mktemp -d)
  scripts/arm64-run.sh "$folder/bin/engine-info" reference --json --cache "$scratch/cache" >"$scratch/answer" || status=$?
  python3 -B - "$scratch/answer" <<'PYTHON' || status=1
import json, struct, sys
answer = json.load(open(sys.argv[1], encoding="utf-8"))
outcome = answer["outcome"]
assert outcome["state"] == "opened", answer.get("diagnosis")
assert answer["platform"]["arch"]["value"] == "aarch64", answer["platform"]["arch"]
assert outcome["build"].endswith("-linux-aarch64"), outcome["build"]
with open(outcome["library"], "rb") as library:
    assert struct.unpack_from("<H", library.read(20), 18)[0] == 183, "not an arm64 library"
print(f'{outcome["build"]} is open: {outcome["library"]}')
print("processor:", answer["platform"]["cpu"]["value"], "from", answer["platform"]["cpu"]["source"])
PYTHON
  cat >"$scratch/two-layers.model" <<'MODEL'
enginehost-reference 1
input x [batch,2]
constant w [2,3] (1 0 -1
                  0.5 2 0.25)
h = MatMul(x, w)
y = Relu(h)
output y [batch,3]
MODEL
  python3 -B scripts/example_arrays.py write "$scratch/x.npy" 2x2 1 2 -1 4 &&
    scripts/arm64-run.sh "$folder/bin/engine-run" reference "$scratch/two-layers.model" --cache "$scratch/cache" \
      --input "x=$scratch/x.npy" --output "$scratch/out" &&
    python3 -B scripts/example_arrays.py expect "$scratch/out/y.npy" 2 4 0 1 8 2 || status=1
  rm -rf "$scratch"
  return $status
}

# An arm64 process opens the arm64 plugin through its C header only and tests it.
check_reference() {
  scripts/arm64-run.sh "$folder/bin/engine-plugin-check" "$folder/engines/libengine_reference.so"
}

# Skipped where the package index cannot be reached.
check_pytorch() {
  local roots release targets=()
  roots=$(python3 -B engines/pytorch/fetch_headers.py --os linux --arch aarch64 --libraries build/torch-aarch64) ||
    { say "PyTorch's adapters skipped: see above"; return 0; }
  for release in $(tr ';' '\n' <<<"$roots" | sed 's|.*/||'); do targets+=("engine_pytorch_${release%.*}"); done
  cmake --preset linux-aarch64-qemu -DENGINEHOST_TORCH_ROOT="$roots" >/dev/null &&
    cmake --build "$folder" --parallel "$(jobs_that_fit)" --target "${targets[@]}" || return
  for release in $(tr ';' '\n' <<<"$roots" | sed 's|.*/||'); do
    tests/engines/pytorch_symbols.sh "$folder/engines/pytorch-${release%.*}/libengine_pytorch.so" \
      "build/torch-aarch64/$release/libraries"/*.so || return
  done
}

if $install; then
  heading "Dependencies"
  if ! scripts/install-dependencies.sh --tests --arm64; then
    say "arm64 tests skipped: what they need could not be fetched, see above"
    exit 77
  fi
fi
heading "Can this machine run arm64 programs?"
can=0
scripts/arm64-run.sh true || can=$?
[ $can -ne 77 ] || { say "arm64 tests skipped: see above"; exit 77; }
[ $can -eq 0 ] || exit 1
say "yes, by $(out/arm64/tools/usr/bin/qemu-aarch64-static --version | head -n 1)"
heading "Build"
began=$SECONDS
cmake --preset linux-aarch64-qemu &&
  cmake --build "$folder" --parallel "$(jobs_that_fit)" --target "${test_targets[@]}" "${programs[@]}" || exit 1
say "built in $((SECONDS - began)) s"
heading "Tests"
began=$SECONDS
status=0
run_tests || status=1
heading "The reference engine"
if $quick; then check_reference || status=1; else open_reference || status=1; fi
if ! $quick; then
  heading "PyTorch's adapters"
  check_pytorch || status=1
fi
say "tested in $((SECONDS - began)) s"
[ $status -eq 0 ] && say "all passed"
exit $status

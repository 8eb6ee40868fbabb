#!/usr/bin/env bash
# Compiles and links EngineHost for macOS here: libenginehost, the commands, the probe and the engines, for Apple
# silicon and for Intel, with warnings as errors. The result is installed and read as files (tests/macos: processor,
# oldest system, exported names, dependencies, as LLVM's tools read them), and its repository is resolved for the
# recorded Macs. Nothing is run: docs/what-was-run.md says what that proves and what it does not.
#
#   scripts/test-macos.sh [CPU ...]      arm64 and x86_64 if none is named
#
# Exit status: 0 everything was built and is correct, 1 something failed, 77 this machine cannot do it (the reason is
# printed; the compiler comes from the package index).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

cpus=("$@")
if [ ${#cpus[@]} -eq 0 ]; then cpus=(arm64 x86_64); fi
for cpu in "${cpus[@]}"; do
  case $cpu in
    arm64 | x86_64) ;;
    *)
      complain "unknown processor $cpu (known: arm64, x86_64)"
      exit 2
      ;;
  esac
done
scripts/zig-root.sh || exit $?

# decided CPU ENGINE MACHINE: checks that engine-info would open a macOS build made here on this recorded Mac.
decided() {
  local chosen
  chosen=$(build/bin/engine-info "$2" --plan --json --platform "tests/profiles/$3.json" \
    --repository "build-macos-zig-$1/share/enginehost/repository" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["outcome"]["build"])') || return
  case $chosen in
    "$2"-*-macos-"$1") say "$3 gets $chosen" ;;
    *)
      complain "$3 gets ${chosen:-no build} of $2 from the repository for $1"
      return 1
      ;;
  esac
}

heading "The programs of this machine that read them"
cmake --preset ci
cmake --build build --parallel "$(jobs_that_fit)" --target macos_files_tests engine-info
for cpu in "${cpus[@]}"; do
  heading "macOS on $cpu"
  begin=$SECONDS
  cmake --preset "macos-zig-$cpu"
  cmake --build "build-macos-zig-$cpu" --parallel "$(jobs_that_fit)"
  say "made in $((SECONDS - begin)) s"
  installed=$root/build-macos-zig-$cpu/installed
  rm -rf "$installed"
  cmake --install "build-macos-zig-$cpu" --prefix "$installed" >/dev/null
  mkdir "$installed/plugins"
  for archive in "$installed"/share/enginehost/repository/files/*.tar.gz; do tar -xzf "$archive" -C "$installed/plugins"; done
  ENGINEHOST_MACOS_INSTALLED=$installed build/tests/macos_files_tests --gtest_brief=1
  case $cpu in
    arm64)
      for engine in reference onnxruntime tensorflow; do decided arm64 "$engine" macos-arm64-m2; done
      ;;
    x86_64)
      for engine in reference mxnet; do
        decided x86_64 "$engine" macos-x86_64-intel
        decided x86_64 "$engine" macos-x86_64-rosetta-m2
      done
      ;;
  esac
done

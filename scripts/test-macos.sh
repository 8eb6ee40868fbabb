#!/usr/bin/env bash
# Compiles and links EngineHost for macOS here: libenginehost, the commands, the probe and the engines, for Apple
# silicon and for Intel, with warnings as errors. The result is installed and read as files (tests/macos: processor,
# oldest system, exported names, dependencies, as LLVM's tools read them), and its repository is resolved for the
# recorded Macs. The PyTorch adapters of all releases for Apple silicon are linked with the published wheels' libraries,
# of which 400 MB are fetched, and every symbol is looked up there. Nothing is run: docs/what-was-run.md says what that proves and what it does not.
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

# Each symbol of a plugin is looked up in the published libraries, by dyld's rules.
check_pytorch() {
  local root view status=0
  for root in ${torch//;/ }; do
    view=$(mktemp -d)
    mkdir "$view/torch"
    ln -s "$root/lib" "$view/torch/lib"
    cp "build-macos-zig-arm64/engines/pytorch-$(basename "${root%.*}")/libengine_pytorch.dylib" "$view"
    if ! build/bin/engine-info --inspect "$view/libengine_pytorch.dylib" --symbols \
      --platform tests/profiles/macos-arm64-m2.json >"$view/said"; then
      cat "$view/said"
      status=1
    elif llvm-nm-14 -m --undefined-only "$view/libengine_pytorch.dylib" >"$view/symbols" &&
      grep -q '(from libtorch_cpu)' "$view/symbols" && ! grep -qv '(from lib\(torch_cpu\|c10\|c++\|System\))' "$view/symbols"; then
      say "PyTorch $(basename "$root"): the wheel's libraries, libc++ and libSystem export all" \
        "$(wc -l <"$view/symbols") symbols of its adapter"
    else
      complain "PyTorch $(basename "$root"): a symbol of its adapter is of no library that it may need"
      status=1
    fi
    rm -r "$view"
  done
  return $status
}

heading "The programs of this machine that read them"
cmake --preset ci
cmake --build build --parallel "$(jobs_that_fit)" --target macos_files_tests engine-info
for cpu in "${cpus[@]}"; do
  heading "macOS on $cpu"
  begin=$SECONDS
  torch=
  if [ "$cpu" = arm64 ] && ! torch=$(python3 -B engines/pytorch/fetch_headers.py --os macos --arch arm64 build/torch-macos); then
    complain "without these releases of PyTorch, see above"
  fi
  cmake --preset "macos-zig-$cpu" -DENGINEHOST_TORCH_ROOT="$torch"
  cmake --build "build-macos-zig-$cpu" --parallel "$(jobs_that_fit)"
  say "made in $((SECONDS - begin)) s"
  installed=$root/build-macos-zig-$cpu/installed
  rm -rf "$installed"
  cmake --install "build-macos-zig-$cpu" --prefix "$installed" >/dev/null
  mkdir "$installed/plugins"
  for archive in "$installed"/share/enginehost/repository/files/*.tar.gz; do
    case $archive in
      */libengine_pytorch-*) ;;  # several of one name, which need more than macOS
      *) tar -xzf "$archive" -C "$installed/plugins" ;;
    esac
  done
  ENGINEHOST_MACOS_INSTALLED=$installed build/tests/macos_files_tests --gtest_brief=1
  case $cpu in
    arm64)
      for engine in reference onnxruntime tensorflow ${torch:+pytorch}; do decided arm64 "$engine" macos-arm64-m2; done
      check_pytorch
      ;;
    x86_64)
      for engine in reference mxnet; do
        decided x86_64 "$engine" macos-x86_64-intel
        decided x86_64 "$engine" macos-x86_64-rosetta-m2
      done
      ;;
  esac
done

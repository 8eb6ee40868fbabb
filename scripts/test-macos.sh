#!/usr/bin/env bash
# Compiles and links EngineHost for macOS here: libenginehost, the commands, the probe and the engines, for Apple silicon
# and for Intel, with warnings as errors. Nothing of it is run: docs/platforms.md says what that proves and what it does not.
#
#   scripts/test-macos.sh [CPU ...]      arm64 and x86_64 if none is named
#
# Exit status: 0 all was made, 1 something failed, 77 this machine cannot do it (the reason is printed; the compiler comes
# from the package index).
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

wanted=(bin/engine-info bin/engine-run bin/engine-cache bin/engine-manifest libexec/enginehost/enginehost-probe
  lib/libenginehost.dylib engines/libengine_reference.so)
for cpu in "${cpus[@]}"; do
  heading "macOS on $cpu"
  cmake --preset "macos-zig-$cpu"
  cmake --build "build-macos-zig-$cpu" --parallel "$(jobs_that_fit)"
  # What a linker took for another system's file would be here, too.
  for file in "${wanted[@]}"; do
    header=$(llvm-objdump-14 --macho --private-header "build-macos-zig-$cpu/$file")
    if ! grep -qi "MH_MAGIC_64 *${cpu/x86_64/X86_64}" <<<"$header"; then
      complain "build-macos-zig-$cpu/$file is not a Mach-O file for $cpu"
      exit 1
    fi
    say "$file: $(tail -n 1 <<<"$header" | awk '{print $5}'), needs $(llvm-objdump-14 --macho --dylibs-used \
      "build-macos-zig-$cpu/$file" | tail -n +2 | awk '{print $1}' | tr '\n' ' ')"
  done
done

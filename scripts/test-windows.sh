#!/usr/bin/env bash
# Builds what there is of EngineHost for Windows with MinGW and runs its tests under Wine.
#
#   scripts/test-windows.sh
#
# Needs the packages of scripts/install-dependencies.sh --windows. Without them it says so and exits with 77, which is
# "skipped". The Wine server that it starts ends with it.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in x86_64-w64-mingw32-g++-posix wine; do
  if ! command -v "$tool" >/dev/null; then
    echo "test-windows.sh: skipped, $tool is not installed (scripts/install-dependencies.sh --windows)" >&2
    exit 77
  fi
done
export WINEPREFIX="$PWD/build-windows-mingw-wine/wine"
trap 'wineserver -k 2>/dev/null || true' EXIT
scripts/windows-libraries.sh
cmake --preset windows-mingw-wine
cmake --build --preset windows-mingw-wine
ctest --preset windows-mingw-wine

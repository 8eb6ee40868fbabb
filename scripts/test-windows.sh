#!/usr/bin/env bash
# Builds EngineHost for Windows with MinGW and runs its tests under Wine.
#
#   scripts/test-windows.sh [--quick]
#
# --quick  only the programs, compiled several files at once, and the tests of files and processes (base), of loading
#          and probing (load) and of the whole path (end-to-end): the part that fits into scripts/test.sh
#
# Needs the packages of scripts/install-dependencies.sh --windows. Without them it names the missing program and exits
# with 77, which is "skipped". The Wine server that it starts ends with it.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

quick=false
for argument in "$@"; do
  case $argument in
    --quick) quick=true ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $argument (known: --quick)"
      exit 2
      ;;
  esac
done

for tool in x86_64-w64-mingw32-g++-posix wine; do
  if ! command -v "$tool" >/dev/null; then
    echo "test-windows.sh: skipped, $tool is not installed (scripts/install-dependencies.sh --windows)" >&2
    exit 77
  fi
done
setarch -R true 2>/dev/null ||
  say "setarch -R is forbidden here: about one start of a program in ten thousand fails (scripts/wine-run.sh)"
export WINEPREFIX="$PWD/build-windows-mingw-wine/wine"
trap 'wineserver -k 2>/dev/null || true' EXIT
scripts/windows-libraries.sh
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}
cmake --preset windows-mingw-wine -DENGINEHOST_JOINED_TESTS=$quick \
  -DCMAKE_UNITY_BUILD=$quick
if $quick; then
  tests=(base_tests load_tests end_to_end_tests)
  cmake --build --preset windows-mingw-wine --parallel "$(jobs_that_fit)" --target "${tests[@]}"
  ctest --preset windows-mingw-wine -R "^($(IFS='|' && echo "${tests[*]}"))\$"
else
  cmake --build --preset windows-mingw-wine --parallel "$(jobs_that_fit)"
  ctest --preset windows-mingw-wine
fi

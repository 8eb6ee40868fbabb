#!/bin/sh
# without_vcruntime.sh PREFIX PROGRAM.exe [ARGUMENT]...: runs a Windows program under Wine as scripts/wine-run.sh does,
# but without Visual C++'s runtime. The prefix lacks those files and the copies that Wine itself would use in their
# place.
set -u
WINEPREFIX=$1
shift
runner="$(dirname "$0")/../../../scripts/wine-run.sh"
runtime=msvcp140,msvcp140_1,msvcp140_2,msvcp140_atomic_wait,msvcp140_codecvt_ids,vcruntime140,vcruntime140_1
export WINEPREFIX WINEDLLOVERRIDES="mscoree=;mshtml=;$runtime,concrt140,vcomp140="
trap 'wineserver -k 2>/dev/null' EXIT
"$runner" cmd /c exit || exit 1
(cd "$WINEPREFIX/drive_c/windows/system32" && rm -f msvcp140*.dll vcruntime140*.dll concrt140.dll vcomp140.dll) || exit 1
"$runner" "$@"

#!/bin/sh
# prepare_wine.sh PREFIX: makes the tests' Wine prefix once and starts its server without any pipe of the caller. The
# first Windows process starts services that keep its standard streams, and a reader of those would wait for them. No
# debugger, because it would block a process that crashes.
set -u
export WINEPREFIX="$1" WINEARCH=win64 WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml='
unset DISPLAY
mkdir -p "$1" || exit 1
exec 9>"$1.lock" </dev/null >/dev/null
flock 9
if [ ! -e "$1/ready" ]; then
  {
    wine wineboot -i && wine winecfg -v win10 &&
      wine reg add 'HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug' /v Debugger /t REG_SZ /d '' /f &&
      : >"$1/ready"
  } 9>&- 2>/dev/null || exit 1
  wineserver -w 9>&- 2>/dev/null
fi
# The server ends that many seconds after the last test.
wineserver -p60 9>&- 2>/dev/null
wine cmd /c exit 9>&- 2>/dev/null

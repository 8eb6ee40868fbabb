#!/bin/sh
# wine-run.sh PROGRAM.exe [ARGUMENT]...: runs a Windows program under Wine like a program of this system. The presets
# for Windows builds start their tests with it.
#
# The prefix is EngineHost's own (WINEPREFIX, else one in the temporary folder): Windows 10 without a debugger, for
# which a crash would wait. The server and the services that the first program starts would hold the caller's pipes
# open. They are therefore started earlier, without pipes. WINEPREFIX=... wineserver -k ends them.
#
# All of them run at fixed addresses (setarch -R). Wine must have the page 0x7ffe0000, where Windows keeps data that all
# programs share. Wine's 64-bit loader lies at 0x7d000000 (its configure.ac), and Linux 6.9 and newer place the heap of
# such a program anywhere in the gigabyte after it (arch_randomize_brk). About once in ten thousand starts the heap lies
# on that page: the program ends before it starts ("failed to map the shared user data", virtual_alloc_first_teb), and
# its parent gets STATUS_INTERNAL_ERROR, error 1359. Where a sandbox forbids setarch, this can still happen.
case $(cat /proc/self/personality 2>/dev/null) in
  *[4-7c-f]????) ;; # ADDR_NO_RANDOMIZE, 0x0040000; children inherit it
  *) if setarch -R true 2>/dev/null; then exec setarch -R "$0" "$@"; fi ;;
esac
: "${WINEPREFIX:=${TMPDIR:-/tmp}/enginehost-wine-$(id -u)}"
export WINEPREFIX WINEARCH=win64 WINEDEBUG="${WINEDEBUG:--all}" WINEDLLOVERRIDES="${WINEDLLOVERRIDES:-mscoree=;mshtml=}"
unset DISPLAY
wine=$(command -v wine64 || command -v wine) || {
  echo "wine-run.sh: Wine is not installed (Debian package wine)" >&2
  exit 125
}
mkdir -p "$(dirname "$WINEPREFIX")"
(
  flock 9
  if [ ! -e "$WINEPREFIX/.ready" ]; then
    "$wine" wineboot -i 9>&- && "$wine" winecfg -v win10 9>&- &&
      "$wine" reg add 'HKLM\Software\Microsoft\Windows NT\CurrentVersion\AeDebug' /v Debugger /t REG_SZ /d "" /f 9>&- &&
      { wineserver -k 9>&-; wineserver -w 9>&-; : >"$WINEPREFIX/.ready"; }
  fi
  # The server ends itself some minutes after the last program. If it is running already, this does nothing.
  if wineserver -p300 9>&-; then "$wine" cmd /c exit 9>&-; fi
) 9>"$WINEPREFIX.lock" </dev/null >/dev/null 2>&1
exec "$wine" "$@"

#!/bin/sh
# compile_matrix.sh INCLUDE_DIR COMPILER STANDARD [HEADER]: the header (engine_plugin.h, without padding, if none is named)
# alone, first in its file, twice, without one warning.
# Exit status: 0 compiles, 1 does not, 77 the compiler is not installed (CTest shows it as skipped).
include=$1 compiler=$2 standard=$3 header=${4:-}
case $standard in c++*) language=c++ ;; *) language=c ;; esac
if ! command -v "$compiler" >/dev/null 2>&1; then
  echo "skipped: $compiler is not installed"
  exit 77
fi
check() {
  printf '%s\n' "$1" | "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic ${2:+"$2"} -Werror \
    -I "$include" -I "$(dirname "$0")" -fsyntax-only - || exit 1
}
if [ -n "$header" ]; then
  check "#include <$header>
#include <$header>" ""
else
  check '#include <enginehost/engine_plugin.h>
#include <enginehost/engine_plugin.h>' -Wpadded
  # -Wpadded of clang looks only at structs whose size is used, hence the anchor.
  check "$(cat "$(dirname "$0")/anchor.c")" -Wpadded
fi
echo "$compiler -std=$standard compiles it without a warning"

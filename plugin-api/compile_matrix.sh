#!/bin/sh
# compile_matrix.sh INCLUDE_DIR COMPILER STANDARD: the header alone, first in its file, twice, without one warning.
# Exit status: 0 compiles, 1 does not, 77 the compiler is not installed (CTest shows it as skipped).
include=$1 compiler=$2 standard=$3
case $standard in c++*) language=c++ ;; *) language=c ;; esac
if ! command -v "$compiler" >/dev/null 2>&1; then
  echo "skipped: $compiler is not installed"
  exit 77
fi
# -Wpadded of clang looks only at structs whose size is used, hence the anchor.
for source in '#include <enginehost/engine_plugin.h>
#include <enginehost/engine_plugin.h>' "$(cat "$(dirname "$0")/anchor.c")"; do
  printf '%s\n' "$source" | "$compiler" -x "$language" -std="$standard" -Wall -Wextra -pedantic -Wpadded -Werror \
    -I "$include" -I "$(dirname "$0")" -fsyntax-only - || exit 1
done
echo "$compiler -std=$standard compiles it without a warning"

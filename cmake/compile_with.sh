#!/bin/sh
# compile_with.sh COMPILER OTHER ARGUMENTS...: runs COMPILER, by the compiler cache where there is one, in place of OTHER.
# CMake has one C++ compiler for all targets; as a target's launcher this gives the tests another (ENGINEHOST_TEST_COMPILER).
compiler=$1
shift 2
if command -v ccache >/dev/null; then exec ccache "$compiler" "$@"; fi
exec "$compiler" "$@"

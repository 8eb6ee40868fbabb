#!/usr/bin/env bash
# From a fresh machine to a first answer: installs what is missing, builds, shows the engine that needs no network at
# work, and, where the package index can be reached, a published runtime with a published model. May be run again.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

bin=$root/build/bin
models=$root/engines/reference/models
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

install_dependencies() {
  heading "Dependencies"
  scripts/install-dependencies.sh
}

build() {
  heading "Build"
  # The tests are scripts/test.sh's: leaving them out halves the time to the first answer. A build folder that has
  # them already keeps them.
  local tests=()
  [ -f build/CMakeCache.txt ] || tests=(-DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF)
  cmake --preset release "${tests[@]}"
  cmake --build --preset release --parallel "$(jobs_that_fit)"
}

show() {
  printf '\n$ %s\n' "$(basename "$1") ${*:2}"
  "$@"
}

# write_npy FILE SHAPE VALUE...: a little-endian float32 array in NumPy's format 1.0, without NumPy.
write_npy() {
  python3 - "$@" <<'PYTHON'
import struct
import sys

file, shape, values = sys.argv[1], [int(n) for n in sys.argv[2].split("x")], [float(v) for v in sys.argv[3:]]
header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(file, "wb") as out:
    out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    out.write(struct.pack("<%df" % len(values), *values))
PYTHON
}

# Compares a float32 array with the values it should have.
expect_npy() {
  python3 - "$@" <<'PYTHON'
import struct
import sys

file, wanted = sys.argv[1], [float(v) for v in sys.argv[2:]]
data = open(file, "rb").read()
begin = 10 + struct.unpack("<H", data[8:10])[0]
got = struct.unpack("<%df" % ((len(data) - begin) // 4), data[begin:])
if len(got) != len(wanted) or any(abs(a - b) > 1e-4 for a, b in zip(got, wanted)):
    sys.exit("%s holds %s, expected %s" % (file, got, wanted))
print("The answer is", ", ".join("%g" % v for v in got), "as it should be.")
PYTHON
}

show_reference() {
  heading "The reference engine, which needs no network"
  show "$bin/engine-info" reference
}

run_reference_model() {
  heading "A model through the reference engine"
  if [ ! -d "$models" ]; then
    say "skipped: the tree has no $models"
    return 0
  fi
  say "see scripts/setup.sh: run_reference_model"
}

show_onnxruntime() {
  heading "A published runtime: ONNX Runtime over the package index"
  show "$bin/engine-info" onnxruntime
}

run_published_model() {
  heading "A published model through ONNX Runtime"
  say "see scripts/setup.sh: run_published_model"
}

main() {
  local why
  install_dependencies
  build
  show_reference
  run_reference_model
  if why=$(package_index_reachable); then
    show_onnxruntime
    run_published_model
  else
    heading "A published runtime"
    say "skipped: $why"
  fi
  heading "Ready"
  say "The commands are in build/bin: engine-info, engine-run, engine-cache, engine-manifest."
}

main "$@"

#!/usr/bin/env bash
# Installs missing packages, builds, and opens the reference engine, which needs no network. If the package index can be
# reached, it also runs a published model in a published runtime. May be run again.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

bin=build/bin
example=build/example
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

install_dependencies() {
  heading "Dependencies"
  scripts/install-dependencies.sh
}

build() {
  heading "Build"
  # scripts/test.sh builds the tests; without them the first answer comes in half the time. An existing build folder keeps
  # its tests.
  local tests=()
  [ -f build/CMakeCache.txt ] || tests=(-DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF)
  cmake --preset release "${tests[@]}"
  cmake --build --preset release --parallel "$(jobs_that_fit)"
}

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

arrays() { python3 -B scripts/example_arrays.py "$@"; }

show_reference() {
  heading "The reference engine, which needs no network"
  show "$bin/engine-info" reference
}

# Writes a model of two layers and an input into build/example, where they stay for another run by hand.
run_reference_model() {
  heading "A model through the reference engine"
  mkdir -p "$example"
  cat >"$example/two-layers.model" <<'MODEL'
enginehost-reference 1
input x [batch,2]
constant w [2,3] (1 0 -1
                  0.5 2 0.25)
h = MatMul(x, w)
y = Relu(h)
output y [batch,3]
MODEL
  arrays write "$example/x.npy" 2x2 1 2 -1 4
  show "$bin/engine-run" reference "$example/two-layers.model" --input "x=$example/x.npy" --output "$example/answer"
  arrays expect "$example/answer/y.npy" 2 4 0 1 8 2
}

show_onnxruntime() {
  heading "A published runtime: ONNX Runtime over the package index"
  show "$bin/engine-info" onnxruntime
}

# Runs the model of the package magika, which names the kind of text in a file. The expected answers were computed with ONNX
# Runtime's own Python package.
run_published_model() {
  heading "A published model through ONNX Runtime: what kind of file is it?"
  local wheel
  mkdir -p "$example"
  if ! python3 -m pip --disable-pip-version-check --timeout 30 -q download --no-deps --only-binary :all: \
    --dest "$scratch" magika==1.0.3; then
    complain "the package magika could not be downloaded; its model is not run"
    return 1
  fi
  wheel=$(echo "$scratch"/magika-*.whl)
  arrays model "$wheel" "$example/file-type.onnx"
  arrays file-type-input LICENSE "$wheel" "$example/license.npy"
  arrays file-type-input base/json.cpp "$wheel" "$example/source.npy"
  show "$bin/engine-run" onnxruntime "$example/file-type.onnx" --input "bytes=$example/license.npy" \
    --output "$example/license"
  arrays file-type-answer "$example/license/target_label.npy" "$wheel" txt 0.999823
  show "$bin/engine-run" onnxruntime "$example/file-type.onnx" --input "bytes=$example/source.npy" \
    --output "$example/source"
  arrays file-type-answer "$example/source/target_label.npy" "$wheel" cpp
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
  say "The commands are in build/bin: engine-info, engine-run, engine-cache, engine-manifest; engine-plugin-check is for" \
    "authors of engines."
}

main "$@"

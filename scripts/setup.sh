#!/usr/bin/env bash
# Installs missing packages, builds, and opens the reference engine, which needs no network. If the package index can be
# reached, it also makes the adapters of every published PyTorch, and runs published models in ONNX Runtime and PyTorch. May be
# run again; what is there is neither fetched nor compiled again.
#
#   scripts/setup.sh [--accept-license ID]...
#
# --accept-license  accepts a license, as engine-info does. PyTorch's build may need two libraries under NVIDIA's: on a terminal
#                   engine-info asks; without one, or if the answer is no, PyTorch is not run and the script prints how to go on.
#                   The plugins of the CUDA engine are compiled with parts of NVIDIA's wheels, under two licenses
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
cd "$root"

bin=build/bin
example=build/example
consent=()
torch=()
cuda=()
while [ $# -gt 0 ]; do
  case $1 in
    --accept-license)
      [ $# -ge 2 ] || { complain "--accept-license needs the id of a license"; exit 2; }
      consent+=("$1" "$2")
      shift 2
      ;;
    -h | --help)
      sed -n '2,10s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      complain "unknown argument $1 (known: --accept-license ID)"
      exit 2
      ;;
  esac
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

install_dependencies() {
  heading "Dependencies"
  scripts/install-dependencies.sh
}

# The adapters need the headers of the published releases. Those that are there are not fetched again.
fetch_headers() {
  heading "Headers of the published releases of PyTorch"
  local folders
  if [ -n "$no_index" ]; then
    say "skipped, and with it the adapters that are not there yet: $no_index"
    return
  fi
  folders=$(python3 -B engines/pytorch/fetch_headers.py build/torch) ||
    complain "without these releases of PyTorch; run the script again for them"
  # Folders that somebody gave this build folder stay.
  local given=()
  mapfile -t given < <(sed -n 's/^ENGINEHOST_TORCH_ROOT:[A-Z]*=//p' build/CMakeCache.txt 2>/dev/null | tr ';' '\n' |
    grep -vxF -e system -e "" | grep -v "^$root/build/torch/")
  torch=(-DENGINEHOST_TORCH_ROOT="$(IFS=';' && echo "system${folders:+;$folders}${given[*]:+;${given[*]}}")")
}

# The plugins for CUDA need a compiler and headers of NVIDIA's, for which the installed toolkit is not needed.
fetch_cuda_parts() {
  [ "$(uname -sm)" = "Linux x86_64" ] || return 0
  heading "NVIDIA's compiler and headers for the CUDA engine"
  local folders status=0
  if [ -n "$no_index" ]; then
    say "skipped, and with it the plugins that are not there yet: $no_index"
    return
  fi
  folders=$(python3 -B engines/cuda/fetch_parts.py "${consent[@]}" build/cuda) || status=$?
  if [ $status -eq 3 ]; then
    say "With your consent, this command fetches them and makes the plugins:"
    say "  scripts/setup.sh --accept-license LicenseRef-NVIDIA-CUDA-EULA --accept-license LicenseRef-NVIDIA-cuDNN-SLA"
  elif [ $status -ne 0 ]; then
    complain "without these plugins of the CUDA engine; run the script again for them"
  fi
  [ -z "$folders" ] || cuda=(-DENGINEHOST_CUDA_ROOT="system;$folders")
}

build() {
  heading "Build"
  # scripts/test.sh builds the tests; without them the first answer comes in half the time. An existing build folder keeps
  # its tests.
  local tests=()
  [ -f build/CMakeCache.txt ] || tests=(-DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF)
  cmake --preset release "${tests[@]}" "${torch[@]}" "${cuda[@]}"
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

# package_file NAME==VERSION: downloads the package into the scratch folder and prints its path.
package_file() {
  if ! python3 -m pip --disable-pip-version-check --timeout 30 -q download --no-deps --only-binary :all: \
    --dest "$scratch" "$1"; then
    complain "the package ${1%%=*} could not be downloaded; its model is not run"
    return 1
  fi
  echo "$scratch/$(tr - _ <<<"${1%%=*}")"-*.whl
}

# Runs the model of the package magika, which names the kind of text in a file. The expected answers were computed with ONNX
# Runtime's own Python package.
run_published_model() {
  heading "A published model through ONNX Runtime: what kind of file is it?"
  local wheel
  mkdir -p "$example"
  wheel=$(package_file magika==1.0.3)
  arrays extract "$wheel" '*/models/*/model.onnx' "$example/file-type.onnx"
  arrays file-type-input LICENSE "$wheel" "$example/license.npy"
  arrays file-type-input base/json.cpp "$wheel" "$example/source.npy"
  show "$bin/engine-run" onnxruntime "$example/file-type.onnx" --input "bytes=$example/license.npy" \
    --output "$example/license"
  arrays file-type-answer "$example/license/target_label.npy" "$wheel" txt 0.999823
  show "$bin/engine-run" onnxruntime "$example/file-type.onnx" --input "bytes=$example/source.npy" \
    --output "$example/source"
  arrays file-type-answer "$example/source/target_label.npy" "$wheel" cpp
}

# Fails if a license has to be accepted first.
show_pytorch() {
  heading "A second published runtime: PyTorch over the package index"
  local status=0
  show "$bin/engine-info" pytorch@2 "${consent[@]}" || status=$?
  [ $status -ne 0 ] || return 0
  [ $status -eq 8 ] || exit $status
  say
  say "PyTorch is not run, for the reason above; its adapters are made. With your consent, this command fetches" \
    "$("$bin/engine-info" pytorch@2 --plan --json | python3 -c \
      'import json, sys; print(json.load(sys.stdin)["outcome"]["download"]["bytes"] >> 20)') MiB and runs it:"
  say "  scripts/setup.sh --accept-license LicenseRef-NVIDIA-CUDA-EULA"
  return 1
}

# The package silero-vad has its model twice.
run_model_twice() {
  heading "A published model through PyTorch and ONNX Runtime: is it speech?"
  local wheel voice=$example/voice
  wheel=$(package_file silero-vad==5.1.2)
  mkdir -p "$voice"
  arrays extract "$wheel" silero_vad/data/silero_vad.jit "$voice/model.jit"
  arrays extract "$wheel" silero_vad/data/silero_vad.onnx "$voice/model.onnx"
  arrays voice-input "$voice"
  show "$bin/engine-run" pytorch@2 "$voice/model.jit" --input "x=$voice/x.npy" --input "sr=$voice/sr.npy" \
    --output "$voice/by-pytorch"
  show "$bin/engine-run" onnxruntime "$voice/model.onnx" --input "input=$voice/input.npy" \
    --input "state=$voice/state.npy" --input "sr=$voice/sr.npy" --output "$voice/by-onnxruntime"
  arrays voice-answer "$voice/by-pytorch/output.npy" "$voice/by-onnxruntime/output.npy"
}

main() {
  install_dependencies
  no_index=$(package_index_reachable) || true
  fetch_headers
  fetch_cuda_parts
  build
  show_reference
  run_reference_model
  if [ -z "$no_index" ]; then
    show_onnxruntime
    run_published_model
    if show_pytorch; then run_model_twice; fi
  else
    heading "Published runtimes"
    say "skipped: $no_index"
  fi
  heading "Ready"
  say "The commands are in build/bin: engine-info, engine-run, engine-cache, engine-manifest; engine-plugin-check is for" \
    "authors of engines."
}

main

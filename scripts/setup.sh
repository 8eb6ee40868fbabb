#!/usr/bin/env bash
# Installs missing packages, builds, and lets three engines answer a model: the reference engine, which needs no network, ONNX
# Runtime and PyTorch, which come over the package index. May be run again, also after it was interrupted: what is there is
# neither fetched nor compiled again.
#
#   scripts/setup.sh [--all] [--accept-license ID]...
#
# --all             also makes the adapters of TensorFlow, MXNet, CUDA and of every published PyTorch, and what publishers and
#                   authors of engines use. Without it only the adapter of the PyTorch that fits this machine is made
# --accept-license  accepts a license, as engine-info does. The plugins of the CUDA engine are compiled with parts of NVIDIA's
#                   wheels, under two licenses; on a machine with an NVIDIA GPU, PyTorch's build is under some, too
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

bin=build/bin
example=build/example
log=build/setup.log    # the whole output of the steps
export NINJA_STATUS='[%f/%t] '
wants_all=false
consent=()
no_index=        # why the package index cannot be reached
network=()       # --offline then
changed=false    # something was installed, fetched or built
answered=()      # the engines that answered a model, with their versions
unreachable=()   # the engines that wait for the package index
waiting=()       # what else could not be done, for whom it waits, and the command that goes on

read_arguments() {
  while [ $# -gt 0 ]; do
    case $1 in
      --all)
        wants_all=true
        shift
        ;;
      --accept-license)
        [ $# -ge 2 ] || { complain "--accept-license needs the id of a license"; exit 2; }
        consent+=("$1" "$2")
        shift 2
        ;;
      -h | --help)
        sed -n '2,12s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
        exit 0
        ;;
      *)
        complain "unknown argument $1 (known: --all, --accept-license ID)"
        exit 2
        ;;
    esac
  done
}

# The processor seconds were measured with an empty compiler cache on a machine of two cores.
announce() {
  local seconds=300 compilers
  compilers=$(jobs_that_fit)
  if $wants_all; then seconds=600; fi
  say "This command installs missing packages, builds EngineHost, and lets the"
  say "reference engine, ONNX Runtime and PyTorch answer a model."
  if [ -f build/CMakeCache.txt ]; then
    say "It goes on from what is there: seconds, or at most $(minutes $seconds) with $compilers compilers at once."
  else
    say "It takes about $(minutes $seconds) with $compilers compilers at once, and fetches about 160 MiB."
  fi
}

minutes() {
  local count=$((($1 / $(jobs_that_fit) + 60 + 30) / 60))
  if [ $count -le 1 ]; then echo "a minute"; else echo "$count minutes"; fi
}

# A second run in this folder would use half-made files of the first. Every child holds the lock too: a build that outlives a
# killed script is waited for.
lock_folder() {
  mkdir -p build
  exec 9>build/setup.lock
  flock --nonblock 9 && return
  say "Another run works in $root/build; this one begins when it ends."
  flock 9
}

# follow WHAT: copies standard input into the log, and shows how far it is: one line that changes on a terminal, else a line
# every 15 s.
follow() {
  local what=$1 line far="" begin=$SECONDS shown=$SECONDS status
  while true; do
    status=0
    IFS= read -r -t 1 line || status=$?
    if [ $status -eq 0 ] || [ -n "$line" ]; then
      printf '%s\n' "$line" >>"$log"
      if [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]]; then far="${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} steps, "; fi
    fi
    if [ $status -ne 0 ] && [ $status -le 128 ]; then break; fi  # more than 128: a second has gone
    if [ -t 1 ]; then
      printf '\r  %s: %s%d s \033[K' "$what" "$far" $((SECONDS - begin))
    elif [ $((SECONDS - shown)) -ge 15 ]; then
      say "  $what: $far$((SECONDS - begin)) s"
      shown=$SECONDS
    fi
  done
  if [ -t 1 ]; then printf '\r\033[K'; fi
}

# attempt WHAT COMMAND...: runs it with its output in the log, says how long it took, and returns its status.
attempt() {
  local begin=$SECONDS status=0
  printf '$ %s\n' "${*:2}" >>"$log"
  "${@:2}" 2>&1 | follow "$1" || status=$?
  [ $status -ne 0 ] || say "  $1: $((SECONDS - begin)) s"
  return $status
}

# step WHAT COMMAND...: the same, and the script ends if it fails. Its output is printed whole then, without ninja's lines on
# what was built.
step() {
  local first status=0
  first=$(($(wc -l <"$log") + 1))
  attempt "$@" || status=$?
  [ $status -ne 0 ] || return 0
  tail -n "+$first" "$log" | grep -vE '^\[[0-9]+/[0-9]+\] ' || true
  complain "$1 failed; $log has all of its output"
  exit $status
}

install_dependencies() {
  local planned
  heading "Packages"
  planned=$(scripts/install-dependencies.sh --dry-run)
  say "${planned%%$'\n'*}"
  [[ $planned != *"nothing to do"* ]] || return 0
  changed=true
  # A password is entered before the progress line begins.
  if [ "$(id -u)" -ne 0 ] && [ -t 0 ] && command -v sudo >/dev/null; then sudo -v || true; fi
  step "installing" scripts/install-dependencies.sh
}

# build WHAT TARGET [CMAKE_OPTION]...: a build folder keeps the options that it has.
build() {
  local options=("${@:3}")
  if [ ! -f build/build.ninja ]; then
    options=(-DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF -DENGINEHOST_TOOLS=OFF
      "-DENGINEHOST_ENGINES=reference;onnxruntime" "${options[@]}")
  fi
  if [ ${#options[@]} -gt 0 ]; then step "configuring" cmake --preset release "${options[@]}"; fi
  step "$1" cmake --build --preset release --parallel "$(jobs_that_fit)" --target "$2"
  tail -n 2 "$log" | grep -q '^ninja: no work to do' || changed=true
}

# A build folder that was made for the tests, or by --all, has every engine.
is_whole() { [[ $(cached ENGINEHOST_ENGINES) != "reference;onnxruntime"* ]]; }

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

arrays() { python3 -B scripts/example_arrays.py "$@"; }

# note_answer ENGINE: it opened and answered a model.
note_answer() {
  answered+=("$1 $("$bin/engine-info" "$1" --json "${network[@]}" 2>>"$log" | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(next(one["version"] for one in report["candidates"] if one["build"] == report["outcome"]["build"]))')")
}

# Writes a model of two layers and an input into build/example, where they stay for another run by hand.
run_reference() {
  heading "The reference engine, which needs no network"
  show "$bin/engine-info" reference
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
  note_answer reference
}

# The packages whose models are run: the digests that the package index gives for their wheels for every system. A model is
# code for an engine, so no other bytes are used.
declare -A package_digest=(
  [magika==1.0.3]=938d8e033953f2ddeb8c35dc423aa289ca116bfa7a71a778f6e77460f9025803
  [silero-vad==5.1.2]=93b41953d7774b165407fda6b533c119c5803864e367d5034dc626c82cfdf661)

package_file() { echo "$example/${1/==/-}.whl"; }

has_package() { sha256sum --check --status <<<"${package_digest[$1]}  $(package_file "$1")" 2>/dev/null; }

# fetch_package NAME==VERSION: downloads the package into build/example if it is not there.
fetch_package() {
  has_package "$1" && return 0
  rm -rf "$example/download"
  mkdir -p "$example/download"
  changed=true
  printf '%s --hash=sha256:%s\n' "$1" "${package_digest[$1]}" >"$example/download/wanted.txt"
  python3 -m pip --disable-pip-version-check --timeout 30 -q download --no-deps --only-binary :all: --platform any \
    --require-hashes --dest "$example/download" --requirement "$example/download/wanted.txt" ||
    { complain "the package $1 could not be downloaded; its model is not run"; exit 1; }
  mv "$example/download/"*.whl "$(package_file "$1")"
}

# can_go_on ENGINE PACKAGE: true if there is a network, or engine and model are here already.
can_go_on() {
  [ -n "$no_index" ] || return 0
  if has_package "$2" && "$bin/engine-info" "$1" --offline >>"$log" 2>&1; then return 0; fi
  say "skipped: $no_index"
  unreachable+=("$1")
  return 1
}

# The model of the package magika names the kind of text in a file. The expected answers were computed with ONNX Runtime's own
# Python package.
run_onnxruntime() {
  local package=magika==1.0.3 wheel
  wheel=$(package_file $package)
  heading "ONNX Runtime: what kind of file is it?"
  can_go_on onnxruntime $package || return 0
  show "$bin/engine-info" onnxruntime "${network[@]}"
  fetch_package $package
  arrays extract "$wheel" '*/models/*/model.onnx' "$example/file-type.onnx"
  arrays file-type-input LICENSE "$wheel" "$example/license.npy"
  arrays file-type-input base/json.cpp "$wheel" "$example/source.npy"
  show "$bin/engine-run" onnxruntime "$example/file-type.onnx" --input "bytes=$example/license.npy" \
    --output "$example/license" "${network[@]}"
  arrays file-type-answer "$example/license/target_label.npy" "$wheel" txt 0.999823
  show "$bin/engine-run" onnxruntime "$example/file-type.onnx" --input "bytes=$example/source.npy" \
    --output "$example/source" "${network[@]}"
  arrays file-type-answer "$example/source/target_label.npy" "$wheel" cpp
  note_answer onnxruntime
}

fetch_torch_headers() { attempt "fetching PyTorch's headers" python3 -B engines/pytorch/fetch_headers.py "$@" build/torch; }

# The adapter of the release that would open here if it had one, and what an application links with.
build_pytorch() {
  heading "PyTorch's adapter, and the library"
  local release options=()
  # A plan without a build that fits ends with a status of its own.
  release=$({ "$bin/engine-info" pytorch --plan --json 2>>"$log" || true; } | python3 -B scripts/missing_adapter.py)
  if [ -n "$release" ] && [ -z "$no_index" ]; then
    if fetch_torch_headers --release "$release"; then
      options=("$(option_with ENGINEHOST_TORCH_ROOT "$root/build/torch/$release")")
      is_whole || options+=("-DENGINEHOST_ENGINES=reference;onnxruntime;pytorch")
    else
      waiting+=("pytorch, for its headers, which could not be fetched ($log has the reason): scripts/setup.sh")
    fi
  fi
  build "building" all "${options[@]}"
}

# The plugins for CUDA need a compiler and headers of NVIDIA's, for which the installed toolkit is not needed.
fetch_cuda_parts() {
  [ "$(uname -sm)" = "Linux x86_64" ] || return 0
  local status=0
  attempt "fetching NVIDIA's compiler and headers" python3 -B engines/cuda/fetch_parts.py "${consent[@]}" build/cuda || status=$?
  if [ $status -eq 3 ]; then
    waiting+=("cuda, for your consent to two licenses of NVIDIA's (73 MiB to fetch):
  scripts/setup.sh --all --accept-license LicenseRef-NVIDIA-CUDA-EULA --accept-license LicenseRef-NVIDIA-cuDNN-SLA")
  elif [ $status -ne 0 ]; then
    waiting+=("cuda, for parts that could not be fetched ($log has the reason): scripts/setup.sh --all")
  fi
}

build_all() {
  heading "All adapters and commands"
  local torch=() cuda=()
  if [ -n "$no_index" ]; then
    unreachable+=("the adapters of PyTorch and cuda")
  else
    fetch_torch_headers ||
      waiting+=("adapters of PyTorch, for headers that could not be fetched ($log has the reason): scripts/setup.sh --all")
    fetch_cuda_parts
  fi
  mapfile -t torch < <(fetched_into build/torch)
  mapfile -t cuda < <(fetched_into build/cuda)
  build "building" all -DENGINEHOST_ENGINES=all -DENGINEHOST_TOOLS=ON \
    "$(option_with ENGINEHOST_TORCH_ROOT system "${torch[@]}")" "$(option_with ENGINEHOST_CUDA_ROOT system "${cuda[@]}")"
}

# wait_for_consent: PyTorch's build waits for a license, which the report names.
wait_for_consent() {
  local license
  license=$("$bin/engine-info" pytorch --json "${consent[@]}" </dev/null 2>>"$log" | python3 -c '
import json, sys
print(next((one["value"] for one in json.load(sys.stdin)["diagnosis"]["evidence"] if one["what"] == "license"), ""))') || true
  waiting+=("pytorch, for your consent${license:+ to a license: scripts/setup.sh --accept-license $license}")
}

# The package silero-vad has its model twice, so that the answers of two engines can be compared.
run_pytorch() {
  local package=silero-vad==5.1.2 wheel voice=$example/voice status=0
  wheel=$(package_file $package)
  heading "PyTorch and ONNX Runtime: is it speech?"
  can_go_on pytorch $package || return 0
  show "$bin/engine-info" pytorch "${consent[@]}" "${network[@]}" || status=$?
  case $status in
    0) ;;
    3) waiting+=("pytorch, of which no build fits this machine: engine-info pytorch --plan --explain") ;;
    8) wait_for_consent ;;
    *) exit $status ;;
  esac
  [ $status -eq 0 ] || return 0
  fetch_package $package
  mkdir -p "$voice"
  arrays extract "$wheel" silero_vad/data/silero_vad.jit "$voice/model.jit"
  arrays extract "$wheel" silero_vad/data/silero_vad.onnx "$voice/model.onnx"
  arrays voice-input "$voice"
  show "$bin/engine-run" pytorch "$voice/model.jit" --input "x=$voice/x.npy" --input "sr=$voice/sr.npy" \
    --output "$voice/by-pytorch" "${network[@]}"
  show "$bin/engine-run" onnxruntime "$voice/model.onnx" --input "input=$voice/input.npy" \
    --input "state=$voice/state.npy" --input "sr=$voice/sr.npy" --output "$voice/by-onnxruntime" "${network[@]}"
  arrays voice-answer "$voice/by-pytorch/output.npy" "$voice/by-onnxruntime/output.npy"
  note_answer pytorch
}

listed() { printf '%s, ' "$@" | sed 's/, $//'; }

# At most eight lines.
close() {
  local one example_of="reference build/example/two-layers.model"
  if [[ "${answered[*]}" == *onnxruntime* ]]; then example_of="onnxruntime build/example/file-type.onnx"; fi
  heading "Ready"
  $changed || say "Nothing had to be installed, fetched or built."
  say "opened and answered a model: $(listed "${answered[@]}")"
  if [ ${#unreachable[@]} -gt 0 ]; then
    say "waits: $(listed "${unreachable[@]}"), for the package index: scripts/setup.sh$(! $wants_all || echo " --all")"
  fi
  for one in "${waiting[@]}"; do say "waits: $one"; done
  if ! is_whole; then
    say "not built: tensorflow, mxnet, cuda, other PyTorch releases, engine-manifest, engine-plugin-check,"
    say "  engine-cache push, export and fulfil, engine-info --bench: scripts/setup.sh --all"
  fi
  say "next: export PATH=\"$root/build/bin:\$PATH\""
  say "  engine-info; engine-run $example_of"
}

# The last line, whatever command failed.
on_exit() {
  case $1 in
    0 | 130) ;;
    *) complain "stopped, for the reason above; the next run goes on from here" ;;
  esac
}

main() {
  read_arguments "$@"
  trap 'echo; complain "stopped; run it again to go on from here"; exit 130' INT
  trap 'on_exit $?' EXIT
  announce
  lock_folder
  : >"$log"
  install_dependencies
  no_index=$(package_index_reachable) || network=(--offline)
  heading "What the first answer needs"
  build "building" first
  run_reference
  run_onnxruntime
  if $wants_all; then build_all; else build_pytorch; fi
  run_pytorch
  close
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then main "$@"; fi

#!/usr/bin/env bash
# PyTorch from a published wheel: the plugin is compiled with the headers of the wheel alone, its symbols are looked up
# in the wheel's libraries, and it is packed into a repository. A build is fetched from the package index, opened and run
# with a model: 1.7 GB (1.13.1), 620 MB (2.0.1), 530 MB (2.11.0). Where Debian's libtorch is installed, one build tree
# makes plugins for both, and each opens its own.
#
#   pytorch_wheel.sh SOURCE BUILD RELEASE      (BUILD: the build tree whose commands are run)
#
# Exit status 77: the package index cannot be reached.
set -euo pipefail
source_folder=$1
build=$2
release=$3
minor=${release%.*}
downloads=$build/downloads
# The wheels have the newer C++ ABI since 2.7; those before 2.1 are for the oldest platform that pip knows.
case $release in
  1.* | 2.0.*) abi=0 platform=(--platform manylinux1_x86_64) ;;
  *) abi=1 platform=() ;;
esac
# The only published wheel of 1.13.1 is for CUDA 11.7. Without a GPU it has to be forced, and computes on the CPU.
case $release in
  1.*)
    name=pytorch-$release-cu117-linux-x86_64
    chosen=(--force "$name" --accept-license LicenseRef-NVIDIA-cuDNN-SLA --accept-license LicenseRef-NVIDIA-CUDA-EULA)
    ;;
  *) name=pytorch-$release-cpu-linux-x86_64-stand-ins chosen=(--flavor cpu) ;;
esac
skip() {
  printf 'skipped: %s of torch %s cannot be fetched: %s\n' "$1" "$release" "${2##*$'\n'}"
  exit 77
}
said=$(python3 "$source_folder/tests/engines/fetch_wheel.py" "${platform[@]}" "$downloads" torch "$release" \
  'torch/lib/libc10.so' 'torch/lib/libtorch_cpu.so' 2>&1) || skip "the libraries" "$said"
libraries=${said##*$'\n'}/torch/lib
torch=$(python3 "$source_folder/engines/pytorch/fetch_headers.py" --release "$release" "$build/torch" 2>"$downloads/said") ||
  skip "the headers" "$(cat "$downloads/said")"
own=$build/pytorch-$release
cmake -S "$source_folder" -B "$own" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENGINEHOST_TESTS=OFF \
  -DENGINEHOST_BENCHMARKS=OFF -DENGINEHOST_TORCH_ROOT="system;$torch" | grep 'engines/pytorch' | tee "$own.configured"
grep -q "libtorch $minor (wheel, C++11 ABI $abi)" "$own.configured"
cmake --build "$own" --target enginehost_repository
repository=$own/share/enginehost/repository
# The first one, if there are two, is for the system's libtorch.
"$source_folder/tests/engines/pytorch_symbols.sh" "$(find "$own/engines" -name libengine_pytorch.so | sort | tail -n 1)" \
  "$libraries"/*.so

home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
export HOME=$home XDG_CACHE_HOME=$home/cache XDG_CONFIG_HOME=$home/config ENGINEHOST_CACHE=$home/store
# Only the wheel of the package index, because the vendor's own CPU wheel would be tried first.
document=$home/opened.json
"$build/bin/engine-info" pytorch "${chosen[@]}" --self-test --json --repository "$repository" >"$document"
python3 - "$document" "$name" <<'PYTHON'
import json, sys
outcome = json.load(open(sys.argv[1], encoding="utf-8"))["outcome"]
assert outcome["state"] == "opened", outcome
assert outcome["build"] == sys.argv[2], outcome["build"]
own = {library["soname"]: library["origin"] for library in outcome["loaded"]}
assert own["libtorch_cpu.so"] == "cache" and own["libc10.so"] == "cache", own
PYTHON
if grep -q '1\.13 (system' "$own.configured"; then
  "$build/bin/engine-info" pytorch@1.13 --self-test --json --offline --repository "$repository" >"$document"
  python3 - "$document" <<'PYTHON'
import json, sys
outcome = json.load(open(sys.argv[1], encoding="utf-8"))["outcome"]
assert outcome["build"].startswith("pytorch-1.13.1-cpu-linux-") and outcome["build"].endswith("-system"), outcome
own = {library["soname"]: library["origin"] for library in outcome["loaded"]}
assert own["libtorch_cpu.so.1.13"] == "system", own
PYTHON
  echo "plugins for libtorch 1.13 of the system and for $minor of the wheel come from one build tree"
fi
python3 "$source_folder/tests/engines/fetch_wheel.py" "$downloads" silero-vad 5.1.2 'silero_vad/data/silero_vad.*' >/dev/null
python3 - "$home" <<'PYTHON'
import math, struct, sys
def npy(name, shape, kind, code, numbers):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    header += " " * (-(11 + len(header)) % 64) + "\n"
    with open(f"{sys.argv[1]}/{name}.npy", "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        file.write(struct.pack(f"<{len(numbers)}{code}", *numbers))
angles = [2 * math.pi * i / 16000 for i in range(512)]
npy("x", "(1, 512)", "<f4", "f", [0.3 * math.sin(220 * a) + 0.1 * math.sin(1200 * a) for a in angles])
npy("sr", "()", "<i8", "q", [16000])
PYTHON
"$build/bin/engine-run" pytorch "$downloads/silero-vad-5.1.2/silero_vad/data/silero_vad.jit" "${chosen[@]}" \
  --repository "$repository" --input "x=$home/x.npy" --input "sr=$home/sr.npy" --output "$home/out"
python3 - "$home/out/output.npy" <<'PYTHON'
import struct, sys
value = struct.unpack("<f", open(sys.argv[1], "rb").read()[-4:])[0]
print(f"probability of speech {value:.6f}")
assert abs(value - 0.264522) < 1e-4, value  # as libtorch 1.13 and ONNX Runtime 1.27 say
PYTHON
echo "PyTorch $release of the published wheel answers as its ONNX twin"

#!/usr/bin/env bash
# The CUDA engine for CUDA 11.8 and for 13.0 in one build tree and in one cache: both plugins are compiled, the second
# from NVIDIA's wheels, and both builds are installed completely, from the wheels that the manifest names, 1.7 GB.
#
#   cuda_wheels.sh SOURCE BUILD      (BUILD: the build tree whose commands are run)
#
# Exit status 77: the package index cannot be reached, or there is no CUDA Toolkit here.
set -euo pipefail
source_folder=$1
build=$2
wheels=$build/downloads/wheels
mkdir -p "$wheels"
# Fetches each artifact of the manifest from the package index once, and the compiler of CUDA 11.8, which only the build
# needs.
python3 - "$source_folder/manifests/templates/cuda.json" >"$wheels/wanted" <<'PYTHON'
import json, sys
for name, component in json.load(open(sys.argv[1], encoding="utf-8"))["components"].items():
    if name.endswith("-windows-x86_64"):
        continue
    for artifact in component.get("artifacts", []):
        print(artifact["sources"][0]["package_index"]["project"], component["version"],
              artifact["sources"][0]["package_index"]["file"])
print("nvidia-cuda-nvcc-cu11 11.8.89 nvidia_cuda_nvcc_cu11-11.8.89-py3-none-manylinux2014_x86_64.whl")
PYTHON
while read -r project version file; do
  [ -f "$wheels/$file" ] && continue
  said=$(python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --python-version 3.11 \
    --platform manylinux_2_27_x86_64 --platform manylinux2014_x86_64 --platform manylinux_2_17_x86_64 \
    --platform manylinux2010_x86_64 --platform manylinux_2_12_x86_64 --dest "$wheels" "$project==$version" 2>&1) || {
    printf 'skipped: pip cannot get %s %s: %s\n' "$project" "$version" "${said##*$'\n'}"
    exit 77
  }
done <"$wheels/wanted"

toolkit=$build/downloads/cuda-11.8
for file in cuda_runtime cuda_nvcc cublas cudnn; do
  [ -d "$toolkit/nvidia/$file" ] || python3 -m zipfile -e "$wheels"/nvidia_${file}_cu11-*.whl "$toolkit"
done
chmod +x "$toolkit"/nvidia/cuda_nvcc/bin/*
own=$build/cuda-both
cmake -S "$source_folder" -B "$own" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF \
  -DENGINEHOST_CUDA11_ROOT="$toolkit" | grep 'engines/cuda' | tee "$own.configured"
if [ "$(grep -c 'is compiled by' "$own.configured")" != 2 ]; then
  echo "skipped: no toolkit of CUDA 13 beside the wheels of 11.8"
  exit 77
fi
cmake --build "$own" --target engine_cuda engine_cuda_11
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$own/CMakeCache.txt")
python3 "$source_folder/manifests/pack_repository.py" --templates "$source_folder/manifests/templates" \
  --output "$own/repository" --name both --version "$version" --os linux --arch x86_64 \
  --plugin cuda-13="$own/engines/libengine_cuda.so" --plugin cuda-11="$own/engines/cuda-11/libengine_cuda.so"
ENGINEHOST_CUDA_REPOSITORY=$own/repository ENGINEHOST_CUDA_WHEELS=$wheels TMPDIR=$build/downloads \
  "$build/tests/end_to_end_tests" --gtest_filter='CudaFlavors.*'

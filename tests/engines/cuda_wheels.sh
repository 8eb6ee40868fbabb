#!/usr/bin/env bash
# The CUDA engine for CUDA 11.8 and for 13.0 from NVIDIA's wheels alone. Both plugins are compiled with the parts that
# fetch_parts.py fetches, under NVIDIA's licenses. All their symbols are looked up in the libraries of the wheels that the
# manifest names, 1.7 GB, and the engine's tests run with these. Both builds are installed completely in one cache. The plugins
# are compiled again in another folder without the compiler cache, where the bytes must be the same.
#
#   cuda_wheels.sh SOURCE BUILD      (BUILD: the build tree whose commands are run, and which keeps what is fetched)
#
# Exit status 77: the package index cannot be reached.
set -euo pipefail
source_folder=$1
build=$2
wheels=$build/downloads/wheels
mkdir -p "$wheels"
# Fetches each artifact of the manifest from the package index once.
python3 - "$source_folder/manifests/templates/cuda.json" >"$wheels/wanted" <<'PYTHON'
import json, sys
for name, component in json.load(open(sys.argv[1], encoding="utf-8"))["components"].items():
    if name.endswith("-windows-x86_64"):
        continue
    for artifact in component.get("artifacts", []):
        print(artifact["sources"][0]["package_index"]["project"], component["version"],
              artifact["sources"][0]["package_index"]["file"])
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

parts=$(python3 -B "$source_folder/engines/cuda/fetch_parts.py" --accept-license LicenseRef-NVIDIA-CUDA-EULA \
  --accept-license LicenseRef-NVIDIA-cuDNN-SLA "$build/cuda") || { echo "skipped: not every part could be fetched, see above"; exit 77; }

# make SOURCE TREE PARTS TESTS TARGET...: compiles in another tree, with no other toolkit.
make() {
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_UNITY_BUILD=ON -DENGINEHOST_TESTS="$4" -DENGINEHOST_BENCHMARKS=OFF \
    -DENGINEHOST_CUDA_ROOT="$3" | grep 'engines/cuda'
  cmake --build "$2" --target engine_cuda_13 engine_cuda_11 "${@:5}"
}
own=$build/cuda-both
make "$source_folder" "$own" "$parts" ON engines_cuda_13_tests engines_cuda_11_tests
plugin_13=engines/cuda-13/libengine_cuda.so
plugin_11=engines/cuda-11/libengine_cuda.so

# check PLUGIN TESTS WHEEL...: with the whole libraries of these wheels.
check() {
  local libraries=$build/downloads/$2-libraries wheel
  for wheel in "${@:3}"; do
    [ -f "$libraries/$wheel" ] && continue
    python3 -m zipfile -e "$wheels"/"$wheel"-*.whl "$libraries"
    touch "$libraries/$wheel"
  done
  python3 -B "$source_folder/tests/engines/check_floor.py" "$source_folder/cmake/floor/symbols.txt" x86_64 "$own/$1" \
    "$libraries"/nvidia/*/lib/lib{cudart,cublasLt,cudnn}.so.*
  local folders
  folders=$(printf '%s:' "$libraries"/nvidia/*/lib)
  LD_LIBRARY_PATH=${folders%:} "$own/tests/$2"
}
check $plugin_13 engines_cuda_13_tests nvidia_cuda_runtime nvidia_cublas nvidia_cudnn_cu13
check $plugin_11 engines_cuda_11_tests nvidia_cuda_runtime_cu11 nvidia_cublas_cu11 nvidia_cudnn_cu11

version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$own/CMakeCache.txt")
python3 "$source_folder/manifests/pack_repository.py" --templates "$source_folder/manifests/templates" \
  --output "$own/repository" --name both --version "$version" --os linux --arch x86_64 \
  --plugin cuda-13="$own/$plugin_13" --plugin cuda-11="$own/$plugin_11"
ENGINEHOST_CUDA_REPOSITORY=$own/repository ENGINEHOST_CUDA_WHEELS=$wheels TMPDIR=$build/downloads \
  "$build/tests/end_to_end_tests" --gtest_filter='CudaFlavors.*'

other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
mkdir "$other/source"
tar -C "$source_folder" --exclude './build*' --exclude ./out --exclude ./.git -c . | tar -C "$other/source" -x
cp -r "$build/cuda" "$other/parts"
CCACHE_DISABLE=1 make "$other/source" "$other/tree" "${parts//"$build/cuda"/"$other/parts"}" OFF
# A toolkit's headers may lie where every compiler looks.
if ninja -C "$other/tree" -t deps | grep -E '^ +/.*/(cuda|cublas|cudnn|crt/|nv/)' | grep -vF " $other/" | sort -u | grep .; then
  echo "the plugins were compiled with these headers, which fetch_parts.py does not fetch"
  exit 1
fi
cmp "$own/$plugin_13" "$other/tree/$plugin_13"
cmp "$own/$plugin_11" "$other/tree/$plugin_11"
echo "the same bytes in both folders"

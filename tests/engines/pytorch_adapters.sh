#!/usr/bin/env bash
# The PyTorch adapters of every release that the manifest names for this machine: compiled with the headers of the published
# wheel, all their symbols looked up in its libraries and in RHEL 8's, and compiled again in another folder without the compiler cache, where the
# bytes must be the same. 700 MB are fetched, whole wheels are not.
#
#   pytorch_adapters.sh SOURCE BUILD [RELEASE]     (BUILD: the build tree, which keeps what is fetched; RELEASE: only this one)
#
# Exit status 77: the package index cannot be reached.
set -euo pipefail
source_folder=$1
build=$2
roots=$(python3 -B "$source_folder/engines/pytorch/fetch_headers.py" --libraries ${3:+--release "$3"} "$build/torch") || { echo "skipped: not every release could be fetched, see above"; exit 77; }
other=$(mktemp -d)
trap 'rm -rf "$other"' EXIT
mkdir "$other/source"
tar -C "$source_folder" --exclude './build*' --exclude ./out --exclude ./.git -c . | tar -C "$other/source" -x

mapfile -t stand_ins < <(python3 -c 'import json, sys; print(*json.load(open(sys.argv[1])), sep="\n")' \
  "$source_folder/engines/pytorch/stand_ins/table.json")
# make SOURCE TREE HEADERS: compiles the adapters of all releases, and their stand-ins.
make() {
  local targets=() release
  for release in ${roots//;/ }; do
    release=${release##*/}
    targets+=("engine_pytorch_${release%.*}")
  done
  for name in "${stand_ins[@]}"; do targets+=("stand_in_$name"); done
  cmake -S "$1" -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF \
    -DENGINEHOST_TORCH_ROOT="${roots//"$build/torch"/"$3"}" >/dev/null
  cmake --build "$2" --target "${targets[@]}"
}
first=$build/pytorch-adapters
make "$source_folder" "$first" "$build/torch"
mkdir "$other/headers"
tar -C "$build/torch" --exclude libraries -c "${3:-.}" | tar -C "$other/headers" -x
CCACHE_DISABLE=1 make "$other/source" "$other/tree" "$other/headers"
for root in ${roots//;/ }; do
  release=${root##*/}
  plugin=engines/pytorch-${release%.*}/libengine_pytorch.so
  python3 -B "$source_folder/tests/engines/check_floor.py" "$source_folder/cmake/floor/symbols.txt" "$(uname -m)" \
    "$first/$plugin" "$root"/libraries/*.so
  cmp "$first/$plugin" "$other/tree/$plugin"
done
for name in "${stand_ins[@]}"; do
  cmp "$first/engines/pytorch/stand_ins/$name" "$other/tree/engines/pytorch/stand_ins/$name"
done
echo "the same bytes in both folders"

#!/usr/bin/env bash
# The adapters on an older system: they are compiled here, and load and compute in a root of Debian 11 (glibc 2.31, GCC 10).
# Each build is installed here by engine-info; engine-plugin-check then runs it in that root. 10 MB are fetched for the root,
# and ONNX Runtime and the part of PyTorch's wheel for the CPU (330 MB) for the builds.
#
#   debian11.sh SOURCE BUILD      (BUILD: the build tree, which keeps what is fetched)
#
# Exit status 77: Debian's packages or the package index cannot be reached, or a root cannot be entered here.
set -euo pipefail
source_folder=$1
build=$2
release=2.11.0
root=$build/debian11
skip() {
  printf 'skipped: %s\n' "$*"
  exit 77
}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A separate apt: this machine's mirror and proxies, but its own lists, state and suite.
make_root() {
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Codename: bookworm' 'Component: main' 2>/dev/null | head -n 1)
  [ -n "$mirror" ] || skip "apt-get knows no mirror of Debian 12"
  mkdir -p "$scratch"/{lists,archives}/partial "$root/lib64"
  : >"$scratch/status"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror bullseye main" >"$scratch/sources.list"
  cat >"$scratch/apt.conf" <<END
APT::Architecture "amd64";
APT::Architectures { "amd64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::Etc::sourcelist "$scratch/sources.list";
Dir::Etc::sourceparts "-";
Dir::State "$scratch";
Dir::State::lists "$scratch/lists";
Dir::State::status "$scratch/status";
Dir::Cache "$scratch";
Dir::Cache::archives "$scratch/archives";
END
  APT_CONFIG=$scratch/apt.conf apt-get -q -o APT::Update::Error-Mode=any update >"$scratch/log" 2>&1 &&
    APT_CONFIG=$scratch/apt.conf apt-get -q -y install --download-only libstdc++6 zlib1g dash coreutils >>"$scratch/log" 2>&1 ||
    skip "the packages of Debian 11 cannot be fetched: $(tail -n 1 "$scratch/log")"
  rm -rf "$root"
  for merged in bin lib lib64 sbin; do
    mkdir -p "$root/usr/$merged"
    ln -s "usr/$merged" "$root/$merged"
  done
  for package in "$scratch"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --no-same-owner
  done
  mkdir -p "$root"/{proc,dev,tmp,builds}
  : >"$root/complete"
}
[ -f "$root/complete" ] || make_root
in_root() {
  unshare --map-root-user --mount sh -c 'mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"' \
    "$root" "$@"
}
said=$(in_root /bin/sh -c 'echo entered' 2>&1) || skip "a root cannot be entered here: $said"
[ "$said" = entered ]
system=$(in_root /lib/x86_64-linux-gnu/libc.so.6 | head -n 1)
grep -q 'release version 2.31' <<<"$system"

torch=$(python3 "$source_folder/engines/pytorch/fetch_headers.py" --release "$release" "$build/torch" 2>"$scratch/said") ||
  skip "the headers of PyTorch $release cannot be fetched: $(cat "$scratch/said")"
own=$build/pytorch-$release
cmake -S "$source_folder" -B "$own" -G Ninja -DCMAKE_BUILD_TYPE=Release -DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF \
  -DENGINEHOST_TORCH_ROOT="system;$torch" >/dev/null
cmake --build "$own" --target enginehost_repository engine-plugin-check
cp "$own/bin/engine-plugin-check" "$root/builds/"

export HOME=$scratch/home XDG_CACHE_HOME=$scratch/cache XDG_CONFIG_HOME=$scratch/config ENGINEHOST_CACHE=$build/debian11-store
for engine in reference onnxruntime "pytorch@$release"; do
  "$build/bin/engine-info" "$engine" --flavor cpu --json --repository "$own/share/enginehost/repository" \
    --accept-license LicenseRef-NVIDIA-CUDA-EULA >"$scratch/opened.json" || skip "$engine is not opened here: $(cat "$scratch/opened.json")"
  name=${engine%@*}
  folder=$(python3 - "$scratch/opened.json" <<'PYTHON'
import json, pathlib, sys
outcome = json.load(open(sys.argv[1], encoding="utf-8"))["outcome"]
plugin = next(one["path"] for one in outcome["loaded"] if pathlib.Path(one["path"]).name.startswith("libengine_"))
print(pathlib.Path(plugin).parent)
PYTHON
  )
  rm -rf "${root:?}/builds/$name"
  cp -rL "$folder" "$root/builds/$name"
  # EngineHost loads the libraries of a build before its plugin; here the loader finds them.
  folders=$(cd "$root" && find "builds/$name" -name '*.so*' -printf '/%h\n' | sort -u | paste -s -d :)
  in_root /usr/bin/env LD_LIBRARY_PATH="$folders" /builds/engine-plugin-check "/builds/$name/libengine_$name.so" \
    --root "/builds/$name" --timeout 300 | tee "$scratch/checks"
  grep -q 'All checks passed' "$scratch/checks"
done
echo "reference, ONNX Runtime and PyTorch $release load and compute with ${system%.}"

#!/usr/bin/env bash
# Makes files that install EngineHost on any Linux with glibc 2.28 or newer, without a compiler:
#
#   scripts/package.sh [--tar] [--wheel] [--arm64] [--alone] [--no-install] [--output FOLDER] [--preset NAME]
#
# --tar     enginehost-VERSION-linux-CPU.tar.xz, a folder that works wherever it is unpacked, and its debug information
# --wheel   enginehost-VERSION-py3-none-manylinux_2_28_CPU.whl, for pip
# --arm64   for aarch64 instead of this machine's processor
# --alone   no plugins for other systems
# --no-install  installs no packages of Debian
# --output  where they are written; out/packages of this tree if not named
# --preset  the preset of CMake's that is built; release if not named
#
# Without --tar and --wheel both are made. They have the plugins of this processor and, for engine-cache fetch --platform,
# of the other systems that there are compilers for; those for arm64 and macOS are fetched (200 MB). The same sources give
# the same bytes. The first run builds everything, which takes some twenty minutes on two cores, or ten with --alone.
# Exit status: 0 made, 77 Debian's sources or the package index cannot be reached, 1 it could not be made (the reason is
# printed).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

kinds=()
preset=release
output=$root/out/packages
name=portable
processor=$(uname -m)
alone=false
install=true
arm64=()
cross=()
while [ $# -gt 0 ]; do
  case $1 in
    --tar | --wheel) kinds+=("${1#--}") ;;
    --arm64)
      arm64=(--arm64)
      name=portable-arm64
      processor=aarch64
      [ "$(uname -m)" = aarch64 ] || cross=(-DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/aarch64-linux-gnu.cmake")
      ;;
    --alone) alone=true ;;
    --no-install) install=false ;;
    --preset)
      [ $# -ge 2 ] || { complain "--preset needs the name of one"; exit 2; }
      preset=$2
      shift
      ;;
    --output)
      [ $# -ge 2 ] || { complain "--output needs a folder"; exit 2; }
      output=$2
      shift
      ;;
    -h | --help)
      sed -n '2,20s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      complain "unknown argument $1 (known: --tar, --wheel, --arm64, --alone, --no-install, --output FOLDER, --preset NAME)"
      exit 2
      ;;
  esac
  shift
done
[ ${#kinds[@]} -gt 0 ] || kinds=(tar wheel)

# The repository's serial and the times of files. pack.py says what is wrong without git.
if committed=$(git log -1 --format=%ct 2>/dev/null); then export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$committed}; fi

mkdir -p out
if $install; then
  heading "packages of Debian"
  if $alone; then scripts/install-dependencies.sh --package; else scripts/install-dependencies.sh --package --plugins; fi
fi
heading "libraries that are linked in"
scripts/portable-libraries.sh "${arm64[@]}"

# torch_headers FOLDER [OPTION...]: fetches the headers of all published PyTorch, so that nobody compiles an adapter. Those
# that are there are kept. Sets `roots` to their folders. Fails with the exit status for the reason, which is printed.
torch_headers() {
  local folder=$1 reason
  shift
  if reason=$(package_index_reachable); then
    python3 -B engines/pytorch/fetch_headers.py "$@" "$folder" >/dev/null ||
      { complain "the headers of PyTorch could not be fetched"; return 1; }
  elif [ -z "$(fetched_into "$folder")" ]; then
    complain "skipped: $reason"
    return 77
  fi
  roots=$(fetched_into "$folder" | paste -sd ';')
}

# compile_plugins PLATFORM OPTION...: into build-plugins-PLATFORM, without debug information.
compile_plugins() {
  local platform=$1
  shift
  cmake --preset release -B "build-plugins-$platform" -DENGINEHOST_PLUGINS_ONLY=ON -DENGINEHOST_TESTS=OFF -DENGINEHOST_ENGINES=all \
    "$@" >"out/plugins-$platform.log" 2>&1 &&
    cmake --build "build-plugins-$platform" -j "$(jobs_that_fit)" --target enginehost_plugins >>"out/plugins-$platform.log" 2>&1
}

# unpacked arm64|zig: there is that compiler, or it is fetched if packages may be installed.
unpacked() { [ -f "out/$1/complete" ] || { $install && "scripts/$1-root.sh"; }; }

# The plugins of other systems travel too, as far as there are compilers for them here.
heading "plugins for other systems"
others=()
platforms=(linux-x86_64 linux-aarch64 windows-x86_64 macos-arm64 macos-x86_64)
if $alone; then platforms=(); fi
for platform in "${platforms[@]}"; do
  [ "$platform" != "linux-$processor" ] || continue
  file=
  strip=-s
  headers=()
  without=
  case $platform in
    "linux-$(uname -m)") headers=(build/torch) ;;
    linux-aarch64)
      file=aarch64-linux-gnu
      headers=(build/torch-aarch64 --os linux --arch aarch64)
      unpacked arm64 || without="scripts/arm64-root.sh unpacks a compiler for it"
      ;;
    windows-x86_64)
      file=x86_64-w64-mingw32
      strip="-s -Wl,--no-insert-timestamp"
      command -v x86_64-w64-mingw32-g++-posix >/dev/null || without="Debian's g++-mingw-w64-x86-64-posix compiles for it"
      ;;
    macos-*)
      file=${platform#macos-}-macos-zig
      strip=-Wl,-S
      if [ "$platform" = macos-arm64 ]; then headers=(build/torch-macos --os macos --arch arm64); fi
      unpacked zig || without="scripts/zig-root.sh unpacks a compiler for it"
      ;;
    *) without="no compiler for it is known here" ;;
  esac
  roots=none
  if [ -n "$without" ]; then
    say "$platform: left out; $without"
  elif [ ${#headers[@]} -gt 0 ] && ! torch_headers "${headers[@]}"; then
    say "$platform: left out; see above"
  elif ! compile_plugins "$platform" ${file:+"-DCMAKE_TOOLCHAIN_FILE=$root/cmake/toolchains/$file.cmake"} \
    -DENGINEHOST_TORCH_ROOT="$roots" "-DCMAKE_MODULE_LINKER_FLAGS_RELWITHDEBINFO=$strip"; then
    say "$platform: left out; compiling failed, see out/plugins-$platform.log"
  else
    others+=("$root/build-plugins-$platform")
    say "$platform: $(grep -c '^--' "build-plugins-$platform/plugins.txt") files"
  fi
done

heading "build"
build=build-$name
if [ "$processor" = aarch64 ]; then
  torch_headers build/torch-aarch64 --os linux --arch aarch64 || exit
else
  torch_headers build/torch || exit
fi
cmake --preset "$preset" -B "$build" "${cross[@]}" -DENGINEHOST_TESTS=OFF -DENGINEHOST_BENCHMARKS=OFF -DENGINEHOST_TOOLS=ON \
  -DENGINEHOST_ENGINES=all -DENGINEHOST_TORCH_ROOT="$roots" -DENGINEHOST_OTHER_PLUGINS="$(IFS=';' && echo "${others[*]}")" \
  -DENGINEHOST_LINKED_IN="$(python3 -B packaging/pack.py --list --libraries "out/portable-libraries${arm64:+-arm64}" \
    ${cross:+--packages-of out/arm64/root})" \
  -DENGINEHOST_PORTABLE_LIBRARIES="$root/out/portable-libraries${arm64:+-arm64}" \
  -DCMAKE_MODULE_LINKER_FLAGS_RELWITHDEBINFO=-s >"out/$name.log" 2>&1 && # nvcc's symbols have the number of its process
  rm -rf "$build/share/enginehost/repository" && # one that is there would give its serial to the new one
  cmake --build "$build" -j "$(jobs_that_fit)" >>"out/$name.log" 2>&1 ||
  { tail -n 20 "out/$name.log" >&2; complain "the build failed; its whole output is in out/$name.log"; exit 1; }

heading "pack"
tree=$root/out/$name-tree
rm -rf "$tree"
cmake --install "$build" --prefix "$tree" >>"out/$name.log" 2>&1
mkdir -p "$output"
python3 -B packaging/pack.py "${kinds[@]/#/--}" --tree "$tree" --libraries "out/portable-libraries${arm64:+-arm64}" \
  --scripts "$build/wheel/bin" --output "$output" ${cross:+--packages-of out/arm64/root}

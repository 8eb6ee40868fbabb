#!/usr/bin/env bash
# Builds the libraries that a portable EngineHost has linked in and that Debian's static libraries are not fit for: libcurl
# (HTTP and HTTPS only), libarchive, nghttp2 and ISA-L.
#
#   scripts/portable-libraries.sh [--arm64] [FOLDER]     FOLDER: out/portable-libraries of this tree if not named, with
#                                                        --arm64 out/portable-libraries-arm64
#
# The sources are Debian's, with Debian's patches, from the mirrors of this machine's apt. Nothing is installed, and apt's
# own lists stay unchanged. A complete folder is left unchanged; remove it to take newer sources. FOLDER/complete lists the
# versions. Takes 9 MB of download and one minute on two cores. Exit status: 0 the folder is complete, 77 the sources are
# not available, 1 it could not be made (the reason is printed).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/debian-sources.sh
source "$(dirname "$0")/debian-sources.sh"

packages=(curl libarchive nghttp2 libisal)
cross=()
name=portable-libraries
machine=$(uname -m)
if [ "${1:-}" = --arm64 ]; then
  shift
  name=portable-libraries-arm64
  machine=aarch64
  if [ "$(uname -m)" != aarch64 ]; then
    "$root/scripts/arm64-root.sh" >/dev/null
    cross=(-DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/aarch64-linux-gnu.cmake")
    PATH=$root/out/arm64/tools/path:$PATH
  fi
fi
folder=${1:-$root/out/$name}
recipe="$(cat "$0" "$root"/cmake/portable-libraries/{CMakeLists.txt,*.in} | sha256sum | cut -d' ' -f1)"

if [ -f "$folder/complete" ] && [ "$(head -n 1 "$folder/complete")" = "$recipe" ]; then
  say "$folder is complete."
  exit 0
fi
for program in cmake ninja dpkg-source apt-get make; do
  command -v "$program" >/dev/null ||
    { complain "$program is not installed (scripts/install-dependencies.sh --package)"; exit 1; }
done
if [ "$machine" = x86_64 ] && ! command -v nasm >/dev/null; then
  complain "nasm is not installed (scripts/install-dependencies.sh --package)"
  exit 1
fi

mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
debian_sources "$scratch" "${packages[@]}" || exit 77

# The same paths at each run, so that ccache recognizes the files.
sources=$root/out/$name-sources
build=$root/out/$name-build
rm -rf "$sources" "$build"
mkdir -p "$sources"
for package in "${packages[@]}"; do mv "$(source_of "$scratch" "$package")" "$sources/$package"; done
if ! cmake -G Ninja -S "$root/cmake/portable-libraries" -B "$build" "${cross[@]}" -DCMAKE_INSTALL_PREFIX="$folder" \
  -DCURL_SOURCE="$sources/curl" -DARCHIVE_SOURCE="$sources/libarchive" -DNGHTTP2_SOURCE="$sources/nghttp2" \
  >"$scratch/log" 2>&1 || ! ninja -C "$build" -j "$(jobs_that_fit)" install >>"$scratch/log" 2>&1; then
  grep -A 3 -E 'FAILED|error' "$scratch/log" | head -n 40 >&2
  complain "the libraries could not be built"
  exit 1
fi
# ISA-L by its own makefile: it knows which of its assembler files each processor has.
if ! make -C "$sources/libisal" -f Makefile.unx -j "$(jobs_that_fit)" units="igzip crc" host_cpu="$machine" \
  CC="gcc -fPIC" lib >"$scratch/log" 2>&1; then
  tail -n 20 "$scratch/log" >&2
  complain "ISA-L could not be built"
  exit 1
fi
cp "$sources/libisal/bin/isa-l.a" "$folder/lib/libisal.a"
mkdir -p "$folder/include/isa-l"
cp "$sources"/libisal/include/*.h "$folder/include/isa-l/"
# Each package's file of copyrights, for the tree that scripts/package.sh makes.
mkdir -p "$folder/licenses"
for package in "${packages[@]}"; do cp "$sources/$package/debian/copyright" "$folder/licenses/$package"; done
versions=$(source_versions "$scratch")
rm -rf "$sources" "$build"
printf '%s\n%s\n' "$recipe" "$versions" >"$folder/complete"
say "$folder: $versions, $(du -sm "$folder" | cut -f1) MB."

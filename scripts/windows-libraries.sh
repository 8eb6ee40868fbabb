#!/usr/bin/env bash
# Builds the libraries that EngineHost needs on Windows and that Debian has no MinGW packages for, as static libraries:
# libcurl (HTTP and HTTPS, over Windows' own TLS), libarchive with zlib, zstd and liblzma.
#
#   scripts/windows-libraries.sh [FOLDER]        FOLDER: out/windows-libraries of this tree if not named
#
# The sources are Debian's, with Debian's patches, from the mirrors of this machine's apt. Nothing is installed, and
# apt's own lists stay unchanged. A complete folder is left unchanged; FOLDER/complete lists the versions. Takes 24 MB
# of download and about one minute on two cores. Exit status: 0 the folder is complete, 77 the sources are not
# available, 1 it could not be made (the reason is printed).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"
# shellcheck source=scripts/debian-sources.sh
source "$(dirname "$0")/debian-sources.sh"

packages=(curl libarchive libzstd xz-utils)
folder=${1:-$root/out/windows-libraries}
recipe="$(cat "$0" "$root"/cmake/windows-libraries/* | sha256sum | cut -d' ' -f1)"

if [ -f "$folder/complete" ] && [ "$(head -n 1 "$folder/complete")" = "$recipe" ]; then
  say "$folder is complete."
  exit 0
fi
for program in x86_64-w64-mingw32-gcc-posix cmake ninja dpkg-source apt-get; do
  command -v "$program" >/dev/null ||
    { complain "$program is not installed (scripts/install-dependencies.sh --windows)"; exit 1; }
done

mkdir -p "$(dirname "$folder")"
rm -rf "$folder"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
debian_sources "$scratch" "${packages[@]}" || exit 77

# The same paths at each run, so that ccache recognizes the files.
sources=$root/out/windows-libraries-sources
build=$root/out/windows-libraries-build
rm -rf "$sources" "$build"
mkdir -p "$sources"
for package in "${packages[@]}"; do mv "$(source_of "$scratch" "$package")" "$sources/$package"; done
if ! cmake -G Ninja -S "$root/cmake/windows-libraries" -B "$build" \
  -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/x86_64-w64-mingw32.cmake" -DCMAKE_INSTALL_PREFIX="$folder" \
  -DCURL_SOURCE="$sources/curl" -DARCHIVE_SOURCE="$sources/libarchive" -DZSTD_SOURCE="$sources/libzstd" \
  -DXZ_SOURCE="$sources/xz-utils" \
  >"$scratch/log" 2>&1 || ! ninja -C "$build" -j "$(jobs_that_fit)" install >>"$scratch/log" 2>&1; then
  grep -A 3 -E 'FAILED|error' "$scratch/log" | head -n 40 >&2
  complain "the libraries could not be built"
  exit 1
fi
versions=$(source_versions "$scratch")
rm -rf "$sources" "$build"
printf '%s\n%s\n' "$recipe" "$versions" >"$folder/complete"
say "$folder: $versions, $(du -sm "$folder" | cut -f1) MB."

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
mkdir -p "$scratch"/{lists,cache/archives}/partial "$scratch/sources"

# The sources come from the places of the binary packages; most machines do not list them.
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016  # the names are apt's
apt-get indextargets --format '$(ORIGIN)|$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(SIGNED_BY)' "Created-By: Packages" |
  awk -F '|' -v keyring="$keyring" '$1 == "Debian" {
    if ($5 == "" || $5 ~ /^\$/) $5 = keyring
    print "deb-src [signed-by=" $5 "] " $2 " " $3 " " $4
  }' | sort -u >"$scratch/sources.list"
if [ ! -s "$scratch/sources.list" ]; then
  complain "skipped: apt has no lists of Debian's packages here (apt-get update makes them)"
  exit 77
fi
apt=(apt-get -q -o Dir::Etc::SourceList="$scratch/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$scratch/lists" -o Dir::Cache="$scratch/cache" -o APT::Sandbox::User=
  -o APT::Get::List-Cleanup=false -o Acquire::Languages=none -o Acquire::Retries=3)
if ! "${apt[@]}" -o APT::Update::Error-Mode=any update >"$scratch/log" 2>&1 ||
  ! (cd "$scratch/sources" && "${apt[@]}" source "${packages[@]}") >>"$scratch/log" 2>&1; then
  tail -n 5 "$scratch/log" >&2
  complain "skipped: the sources could not be fetched; the lines above are of apt-get"
  exit 77
fi

source_of() { find "$scratch/sources" -mindepth 1 -maxdepth 1 -type d -name "$1-*"; }
# The same paths at each run, so that ccache recognizes the files.
sources=$root/out/windows-libraries-sources
build=$root/out/windows-libraries-build
rm -rf "$sources" "$build"
mkdir -p "$sources"
for package in "${packages[@]}"; do mv "$(source_of "$package")" "$sources/$package"; done
if ! cmake -G Ninja -S "$root/cmake/windows-libraries" -B "$build" \
  -DCMAKE_TOOLCHAIN_FILE="$root/cmake/toolchains/x86_64-w64-mingw32.cmake" -DCMAKE_INSTALL_PREFIX="$folder" \
  -DCURL_SOURCE="$sources/curl" -DARCHIVE_SOURCE="$sources/libarchive" -DZSTD_SOURCE="$sources/libzstd" \
  -DXZ_SOURCE="$sources/xz-utils" \
  >"$scratch/log" 2>&1 || ! ninja -C "$build" -j "$(jobs_that_fit)" install >>"$scratch/log" 2>&1; then
  grep -A 3 -E 'FAILED|error' "$scratch/log" | head -n 40 >&2
  complain "the libraries could not be built"
  exit 1
fi
versions=$(find "$scratch/sources" -name '*.dsc' -printf '%f\n' | sed 's/\.dsc$//' | sort | paste -sd ' ')
rm -rf "$sources" "$build"
printf '%s\n%s\n' "$recipe" "$versions" >"$folder/complete"
say "$folder: $versions, $(du -sm "$folder" | cut -f1) MB."

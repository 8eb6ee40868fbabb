#!/usr/bin/env bash
# Unpacks Debian's cross compiler and emulator for arm64, and the arm64 packages that EngineHost is built with, into a
# folder:
#
#   FOLDER/root    the root of an arm64 machine for compiler and emulator
#   FOLDER/tools   compiler and emulator; FOLDER/tools/path holds gcc, g++, ld, ... that make code for that root
#
#   scripts/arm64-root.sh [FOLDER]        FOLDER: out/arm64 of this tree if not named
#
# Nothing is installed, and no package of this machine is removed. An installed cross compiler would replace
# gcc-multilib, with which it conflicts, and an installed emulator would run every arm64 program. No foreign
# architecture is added and no root is needed. A complete folder is left unchanged. Takes 120 MB of download and 550 MB
# of disk. Exit status: 0 the folder is complete, 1 it could not be made (the reason is printed).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

# Headers for all architectures are included, because those of the building machine lie beside its own libc's.
packages=(
  libc6-dev libstdc++-12-dev libcurl4-openssl-dev libarchive-dev libisal-dev libssl-dev
  zlib1g-dev liblzma-dev libzstd-dev
  nlohmann-json3-dev libcli11-dev libexpected-dev libdlpack-dev libgtest-dev libgmock-dev
)
# Without their dependencies: a native gcc 12 has installed those libraries.
tool_packages=(gcc-12-aarch64-linux-gnu g++-12-aarch64-linux-gnu cpp-12-aarch64-linux-gnu libgcc-12-dev-arm64-cross
  libstdc++-12-dev-arm64-cross qemu-user-static)
folder=${1:-$root/out/arm64}
arm64=$folder/root
tools=$folder/tools
complete=$folder/complete
contents="5 ${packages[*]} ${tool_packages[*]}"  # the number is the version of this script's layout

if [ -f "$complete" ] && [ "$(cat "$complete")" = "$contents" ]; then
  say "$folder is complete."
  exit 0
fi
if [ "$(dpkg --print-architecture 2>/dev/null)" != amd64 ]; then
  complain "the cross compiler is taken from Debian's packages for amd64, and this is another system"
  exit 1
fi
for program in gcc-12 aarch64-linux-gnu-ld; do
  command -v "$program" >/dev/null ||
    { complain "$program is not installed (Debian: gcc-12, binutils-aarch64-linux-gnu)"; exit 1; }
done

rm -rf "$folder"
mkdir -p "$arm64" "$tools/path"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{lists,archives}/partial "$scratch/tools"
if ! (cd "$scratch/tools" && apt-get -q -o APT::Sandbox::User= download "${tool_packages[@]}") >"$scratch/log" 2>&1; then
  tail -n 5 "$scratch/log" >&2
  complain "the cross compiler could not be fetched (are the package lists there? apt-get update)"
  exit 1
fi
# A separate apt: this machine's sources, keys and proxies, but its own lists, state and architecture.
: >"$scratch/status"
cat >"$scratch/apt.conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
Dir::State "$scratch";
Dir::State::lists "$scratch/lists";
Dir::State::status "$scratch/status";
Dir::Cache "$scratch";
Dir::Cache::archives "$scratch/archives";
END
export APT_CONFIG=$scratch/apt.conf
if ! apt-get -q -o APT::Update::Error-Mode=any update >"$scratch/log" 2>&1 ||
  ! apt-get -q -y install --download-only "${packages[@]}" >>"$scratch/log" 2>&1; then
  tail -n 5 "$scratch/log" >&2
  complain "the arm64 packages could not be fetched; the last lines above are of apt-get"
  exit 1
fi

# Debian's root has /lib as a link to /usr/lib; without it, two halves of one folder would be separated.
for merged in bin lib sbin; do
  mkdir -p "$arm64/usr/$merged"
  ln -s "usr/$merged" "$arm64/$merged"
done
mkdir -p "$arm64/var/lib/dpkg"
for package in "$scratch"/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$arm64" --keep-directory-symlink --no-same-owner
  # scripts/package.sh asks dpkg-query for the versions of what is linked in.
  printf '%s\nStatus: install ok installed\n\n' "$(dpkg-deb -f "$package")" >>"$arm64/var/lib/dpkg/status"
done
# Links to an absolute path would lead out of the folder.
find "$arm64" -type l -lname '/*' -print0 | while IFS= read -r -d '' link; do
  ln -sfnr "$arm64$(readlink "$link")" "$link"
done

# gcc finds its parts relative to itself: assembler and linker in the target's folder beside it. The libraries that its
# own folder only links to lie there too.
for package in "$scratch"/tools/*.deb; do dpkg-deb -x "$package" "$tools"; done
# The emulator is a static program, so LD_LIBRARY_PATH and the like affect only the emulated program.
find "$tools/usr/bin" -name 'qemu-*' ! -name qemu-aarch64-static -delete
mkdir -p "$tools/usr/aarch64-linux-gnu"
ln -s "$(dirname "$(command -v aarch64-linux-gnu-ld)")/../aarch64-linux-gnu/bin" "$tools/usr/aarch64-linux-gnu/bin"
ln -s ../../../root/usr/lib/aarch64-linux-gnu "$tools/usr/aarch64-linux-gnu/lib"
for name in gcc:gcc cc:gcc g++:g++ c++:g++ cpp:cpp; do
  cat >"$tools/path/${name%:*}" <<END
#!/bin/sh
exec "$tools/usr/bin/aarch64-linux-gnu-${name#*:}-12" --sysroot="$arm64" "\$@"
END
  chmod +x "$tools/path/${name%:*}"
done
for name in ld as ar nm objcopy objdump readelf strip ranlib; do
  ln -s "$(command -v "aarch64-linux-gnu-$name")" "$tools/path/$name"
done

printf '%s' "$contents" >"$complete"
say "$folder: $(find "$scratch" -name '*.deb' | wc -l) packages, $(du -sm "$folder" | cut -f1) MB."

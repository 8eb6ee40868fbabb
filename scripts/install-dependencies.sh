#!/usr/bin/env bash
# Installs the Debian packages that EngineHost is built with, as far as they are missing.
#
#   scripts/install-dependencies.sh [--tests] [--package] [--plugins] [--arm64] [--windows] [--dry-run]
#
# --tests    also what the tests and benchmarks need
# --package  also what scripts/package.sh needs; --tests includes it
# --plugins  also what it compiles plugins for other systems with
# --arm64    also what scripts/test-arm64.sh needs; most of it is unpacked into out/arm64 and not installed
# --windows  also what the preset windows-mingw-wine is built and run with (1.9 GB, and 0.7 GB for Wine's prefix)
# --dry-run  only prints what would be installed
#
# Needs root or sudo only when something is missing. Exit status: 0 everything is there (or was installed, or a dry
# run), 1 something is missing and could not be installed; its name is printed.
set -euo pipefail

to_build=(
  build-essential cmake ninja-build pkg-config ccache
  nlohmann-json3-dev libcurl4-openssl-dev libarchive-dev libisal-dev libssl-dev libcli11-dev libexpected-dev
  libboost-dev python3 python3-pip ca-certificates
)
to_test=(
  libgtest-dev libgmock-dev libdlpack-dev libbenchmark-dev python3-jsonschema python3-venv nginx-light docker-registry skopeo
  apache2-utils iproute2 minisign
  clang clang-format lld llvm libclang-rt-14-dev musl-tools patchelf binutils file unzip zip strace curl openssl util-linux mount
)
to_package=(dpkg-dev nasm zlib1g-dev liblzma-dev libzstd-dev)
to_compile_plugins=(binutils-aarch64-linux-gnu util-linux g++-mingw-w64-x86-64-posix clang lld llvm unzip)
# Excludes Debian's cross gcc and emulator: scripts/arm64-root.sh unpacks them and says why.
to_test_arm64=(gcc-12 binutils-aarch64-linux-gnu util-linux)
to_build_for_windows=(
  g++-mingw-w64-x86-64-posix libz-mingw-w64-dev libgcrypt-mingw-w64-dev libgpg-error-mingw-w64-dev googletest wine wine64
  dpkg-dev nginx-light openssl
)
# Tests that need one of these are skipped by name without it: a package here may conflict with installed ones.
if_possible=(gcc-multilib gcc-mingw-w64-x86-64 qemu-user libcap2-bin libtorch-dev libtree gnuplot-nox xfsprogs btrfs-progs
  sshfs openssh-sftp-server)
# Not installed because of its size (700 MB, and as much for its prefix): wine. tests/windows and tests/binary use its
# loader and libraries when it is installed; otherwise they are skipped by name.

self=$(basename "$0")
with_tests=false
with_package=false
with_plugins=false
with_arm64=false
with_windows=false
dry_run=false
for argument in "$@"; do
  case $argument in
    --tests) with_tests=true ;;
    --package) with_package=true ;;
    --plugins) with_plugins=true ;;
    --arm64) with_arm64=true ;;
    --windows) with_windows=true ;;
    --dry-run) dry_run=true ;;
    -h | --help)
      sed -n '2,14s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *)
      echo "$self: unknown argument $argument (known: --tests, --package, --plugins, --arm64, --windows, --dry-run)" >&2
      exit 2
      ;;
  esac
done

say() { printf '%s\n' "$*"; }
give_up() {
  printf '%s: %s\n' "$self" "$1" >&2
  printf '%s: still missing: %s\n' "$self" "${missing[*]}" >&2
  exit 1
}

is_installed() {
  # Debian has two releases of Boost, which exclude each other. Either has what is needed.
  if [ "$1" = libboost-dev ] && [ -e /usr/include/boost/dll/shared_library.hpp ]; then return 0; fi
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

wanted=("${to_build[@]}")
if $with_tests; then wanted+=("${to_test[@]}"); fi
if $with_tests || $with_package; then wanted+=("${to_package[@]}"); fi
if $with_plugins; then wanted+=("${to_compile_plugins[@]}"); fi
if $with_arm64; then wanted+=("${to_test_arm64[@]}"); fi
if $with_windows; then wanted+=("${to_build_for_windows[@]}"); fi

missing=("${wanted[@]}")
if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  give_up "this system has no Debian packages; install what corresponds to these Debian 12 packages and run cmake"
fi
missing=()
for package in "${wanted[@]}"; do
  is_installed "$package" || missing+=("$package")
done
optional=()
if $with_tests && [ "$(dpkg --print-architecture)" = amd64 ]; then
  for package in "${if_possible[@]}"; do
    is_installed "$package" || optional+=("$package")
  done
fi

# The arm64 libraries come last: apt-get fetches them, and unpacking needs no root.
unpack_arm64() {
  if ! $with_arm64; then return 0; fi
  if $dry_run; then
    say "Dry run: scripts/arm64-root.sh was not run."
  else
    "$(dirname "$0")/arm64-root.sh"
  fi
}

if [ ${#missing[@]} -eq 0 ] && [ ${#optional[@]} -eq 0 ]; then
  say "All ${#wanted[@]} packages are installed; nothing to do."
  unpack_arm64
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
apt=(env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Dpkg::Use-Pty=0 -o Acquire::Retries=3 -o DPkg::Lock::Timeout=300)
if [ ${#missing[@]} -gt 0 ]; then
  say "To be installed with apt-get${as_root[0]:+ through sudo}: ${missing[*]}"
fi
if [ ${#optional[@]} -gt 0 ]; then
  say "To be installed if nothing has to be removed for it: ${optional[*]}"
fi
if $dry_run; then
  say "Dry run: nothing was installed."
  unpack_arm64
  exit 0
fi

if [ ${#as_root[@]} -gt 0 ]; then
  command -v sudo >/dev/null || give_up "installing needs root, and there is no sudo"
  # Without a terminal no password can be entered.
  if [ -t 0 ]; then sudo -v || give_up "sudo was refused"; else sudo -n true || give_up "sudo wants a password"; fi
fi

had_nginx=false
if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then had_nginx=true; fi

# apt-get installs nothing while an installation that was killed is half done.
"${as_root[@]}" env DEBIAN_FRONTEND=noninteractive dpkg --force-confold --configure -a ||
  give_up "dpkg could not end an earlier installation; its message is above"

updated=true
"${as_root[@]}" "${apt[@]}" -o APT::Update::Error-Mode=any update || updated=false
if [ ${#missing[@]} -gt 0 ]; then
  if ! "${as_root[@]}" "${apt[@]}" install --no-install-recommends "${missing[@]}"; then
    still=()
    for package in "${missing[@]}"; do is_installed "$package" || still+=("$package"); done
    missing=("${still[@]}")
    $updated || give_up "the package lists could not be brought up to date: is there a network and a working mirror?"
    give_up "apt-get could not install everything; its message is above"
  fi
fi
for package in "${optional[@]}"; do
  plan=$("${apt[@]}" install --no-install-recommends --simulate "$package" 2>/dev/null) || plan="Remv"
  if grep -q '^Remv' <<<"$plan"; then
    say "Left out: $package, which this machine's packages or lists do not allow."
  else
    "${as_root[@]}" "${apt[@]}" install --no-install-recommends "$package" || say "Left out: $package; apt-get says why."
  fi
done

# The tests start their own nginx on loopback; the package's service is not needed.
if ! $had_nginx && [ -x /usr/sbin/nginx ] && [ -d /run/systemd/system ]; then
  "${as_root[@]}" systemctl disable --now nginx >/dev/null 2>&1 || true
fi
say "Done: ${#wanted[@]} packages are installed."
unpack_arm64

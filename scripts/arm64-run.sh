#!/usr/bin/env bash
# Runs a command with arm64's libraries and an emulated arm64 processor in addition to the machine's own. arm64
# programs start like any other, also as child processes, and gcc, cc and ld make arm64 code.
#
#   scripts/arm64-run.sh COMMAND [ARGUMENT...]
#
# The changes last as long as the command and are invisible to other processes: since Linux 6.7 a user namespace has its
# own list of emulators, and the arm64 libraries of scripts/arm64-root.sh are mounted over /usr/lib in a mount
# namespace. No root is needed. Exit status: the command's; 77 when this machine cannot do it, with the reason.
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

folder=${ENGINEHOST_ARM64:-$root/out/arm64}
cannot() {
  complain "$1"
  exit 77
}

if [ "${1:-}" = --inside ]; then
  shift
  mount -t overlay overlay -o "lowerdir=$folder/root/usr/lib:/usr/lib" /usr/lib ||
    cannot "the arm64 libraries cannot be laid over /usr/lib (an overlay mount in a user namespace)"
  mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc ||
    cannot "the kernel has no list of emulators for a user namespace (Linux before 6.7)"
  # Class 64, little-endian, ET_EXEC or ET_DYN, EM_AARCH64; P: the program receives its own name. The kernel reads \x.
  # shellcheck disable=SC2028
  echo ":enginehost-aarch64:M::\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00:\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff:$folder/tools/usr/bin/qemu-aarch64-static:P" \
    >/proc/sys/fs/binfmt_misc/register
  exec "$@"
fi

[ $# -gt 0 ] || { complain "no command"; exit 2; }
[ -f "$folder/complete" ] || cannot "$folder has no arm64 packages: run scripts/arm64-root.sh"
unshare --user --map-root-user --mount true 2>/dev/null || cannot "this machine allows no user namespaces"
ENGINEHOST_ARM64=$folder PATH=$folder/tools/path:$PATH \
  exec unshare --user --map-root-user --mount "$root/scripts/arm64-run.sh" --inside "$@"

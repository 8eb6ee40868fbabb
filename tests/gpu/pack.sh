#!/usr/bin/env bash
# Makes the folder that is copied to a machine with a GPU: check.py, and enginehost.tar.xz with the commands, every
# library they need except the C library's, the program that compares operations with its SDK, the local repository
# (reference engine, CUDA engine where a toolkit was found, adapters) and the source of the PyTorch adapter. At most
# 60 MB, because such machines often have slow connections. Their glibc must be as new as this machine's; check.py
# reports where it is not.
#
#   tests/gpu/pack.sh BUILD FOLDER       (FOLDER must not exist)
#
# Then, there:  python3 FOLDER/check.py --output REPORT
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$1
carried=$2
most_bytes=$((60 * 1000 * 1000))
[ ! -e "$carried" ] || { printf '%s is there already; name a folder that is not\n' "$carried" >&2; exit 2; }
for tool in patchelf strip ldd xz; do
  command -v "$tool" >/dev/null || { printf '%s is not installed\n' "$tool" >&2; exit 1; }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/enginehost
cmake --install "$build" --prefix "$folder" --strip >/dev/null
rm -rf "$folder/include" "$folder/lib/cmake" "$folder/lib/pkgconfig" "$folder/bin/engine-manifest" \
  "$folder/bin/engine-plugin-check"
cp "$build/tests/gpu_compare_operations" "$folder/bin/"
strip --strip-unneeded "$folder"/bin/* "$folder"/libexec/enginehost/*

# The C library, its loader and their parts are the machine's; all other libraries are packed.
mkdir -p "$folder/lib/carried"
ldd "$folder/bin/engine-info" "$folder/libexec/enginehost/enginehost-probe" "$folder"/lib/libenginehost.so.0 | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
  grep -vE '/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl|libnss_[^/]*)\.so' |
  while read -r library; do cp -L "$library" "$folder/lib/carried/"; done
for library in "$folder"/lib/carried/*; do
  chmod u+w "$library"
  strip --strip-unneeded "$library"
  # DT_RPATH, because it must also apply to the libraries that these need.
  patchelf --force-rpath --set-rpath "\$ORIGIN" "$library"
done
# The SDK lies where it is installed: from there it finds the probe and the repository.
patchelf --force-rpath --set-rpath "\$ORIGIN/carried" "$folder/lib/libenginehost.so.0"
for program in "$folder"/bin/*; do
  patchelf --force-rpath --set-rpath "\$ORIGIN/../lib/carried:\$ORIGIN/../lib" "$program"
done
patchelf --force-rpath --set-rpath "\$ORIGIN/../../lib/carried" "$folder/libexec/enginehost/enginehost-probe"

mkdir -p "$folder/source/engines" "$folder/source/plugin-api"
cp -r "$source_folder/engines/pytorch" "$source_folder/engines/support" "$folder/source/engines/"
cp -r "$source_folder/plugin-api/include" "$folder/source/plugin-api/"
"$folder/bin/engine-info" --version >/dev/null

mkdir -p "$carried"
tar -C "$work" -c enginehost | xz -T0 >"$carried/enginehost.tar.xz"
cp "$source_folder/tests/gpu/check.py" "$carried/"
bytes=$(du -sb "$carried" | cut -f1)
printf '%s: %d MB\n' "$carried" $((bytes / 1000 / 1000))
if [ "$bytes" -gt "$most_bytes" ]; then
  printf 'that is more than %d MB\n' $((most_bytes / 1000 / 1000)) >&2
  exit 1
fi

#!/usr/bin/env bash
# Unpacks the compiler for macOS builds, the Python package "ziglang" of the package index, and makes with it what
# linking needs:
#
#   FOLDER/ziglang                       the package: clang with macOS's C headers, libc++ and the names of libSystem
#   FOLDER/CPU/{libc++,libc++abi,...}.a  C++'s library for that processor (arm64, x86_64), made once
#   FOLDER/x86_64/standard.pch           the standard library's headers, precompiled: a C++20 file then compiles in two
#                                        thirds of the time. Missing includes show up for arm64, which has none
#   FOLDER/bin/CPU-{clang,clang++}       compile with zig and link with LLVM's linker for Mach-O, which knows the
#                                        options of Apple's; zig's own does not. C++'s library is linked in, unless
#                                        the command names a stub of macOS's (libc++.tbd)
#
#   scripts/zig-root.sh [FOLDER]         FOLDER: out/zig of this tree if not named
#
# A complete folder is left unchanged. Takes 80 MB of download, 500 MB of disk and up to four minutes.
# Exit status: 0 the folder is complete, 77 it cannot be made here (the reason is printed).
set -euo pipefail
# shellcheck source=scripts/common.sh
source "$(dirname "$0")/common.sh"

# The version, and the digest of its file from any index.
package='ziglang==0.13.0'
sha256=3ce0c9f16547e5d61b32e0d226926e9a2552ef4b91fccf7ab5ea1a623a77824b
minimum_system=11.0

folder=${1:-$root/out/zig}
complete=$folder/complete
contents="7 $package $minimum_system"  # the number is the version of this script's layout
if [ -f "$complete" ] && [ "$(cat "$complete")" = "$contents" ]; then
  say "$folder is complete."
  exit 0
fi
leave_out() {
  complain "skipped, $1"
  exit 77
}
if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ]; then leave_out "the package named here is Linux x86_64's"; fi
for program in clang-14 ld64.lld-14 llvm-ar-14 llvm-ranlib-14 unzip python3; do
  command -v "$program" >/dev/null ||
    leave_out "$program is not installed (scripts/install-dependencies.sh --tests)"
done

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/download"
printf '%s --hash=sha256:%s\n' "$package" "$sha256" >"$folder/download/wanted.txt"
if ! said=$(python3 -m pip --disable-pip-version-check --timeout 60 --retries 1 download --quiet --no-deps \
  --only-binary :all: --platform manylinux_2_12_x86_64 --require-hashes --dest "$folder/download" \
  --requirement "$folder/download/wanted.txt" 2>&1); then
  printf '%s\n' "$said" | tail -n 3 >&2
  leave_out "$package could not be had from the package index"
fi
unzip -q "$folder"/download/*.whl -d "$folder"
rm -r "$folder/download"

cd "$folder"
for cpu in arm64 x86_64; do
  zig_target=${cpu/arm64/aarch64}-macos.$minimum_system
  mkdir "$cpu"
  export ZIG_GLOBAL_CACHE_DIR=$folder/$cpu/cache ZIG_LOCAL_CACHE_DIR=$folder/$cpu/cache
  # Linking once with zig makes it build its C++ library, which stays in its cache.
  printf '#include <iostream>\nint main() { std::cout << 1; }\n' >first.cpp
  "$folder/ziglang/zig" c++ -target "$zig_target" -std=c++20 first.cpp -o first
  for library in libc++.a libc++abi.a libcompiler_rt.a; do
    find "$cpu/cache/o" -name "$library" -exec cp {} "$cpu/$library" \; -quit
    [ -s "$cpu/$library" ] || { complain "zig made no $library for $cpu"; exit 1; }
  done
  rm -f first first.*
  if [ "$cpu" = x86_64 ]; then
    # __builtin_cpu_supports uses symbols of Apple's compiler library that zig's lacks. These stand-ins are only linked.
    printf 'unsigned __cpu_model[4], __cpu_features2[4];\nint __cpu_indicator_init(void);\nint __cpu_indicator_init(void) { return 0; }\n' \
      >cpu_model.c
    "$folder/ziglang/zig" cc -target "$zig_target" -fno-sanitize=undefined -c cpu_model.c -o cpu_model.o
    llvm-ar-14 rs "$cpu/libcompiler_rt.a" cpu_model.o
    rm cpu_model.*
  fi
  header=
  if [ "$cpu" = x86_64 ]; then
    header=$folder/$cpu/standard.pch
    printf '#include <%s>\n' algorithm array atomic chrono condition_variable cstdint cstring filesystem fstream functional \
      iostream map memory mutex optional set sstream string string_view thread unordered_map utility variant vector \
      >"$cpu/standard.hpp"
    "$folder/ziglang/zig" c++ -target "$zig_target" -fno-sanitize=undefined -O0 -g0 -fPIC -fvisibility=hidden \
      -fvisibility-inlines-hidden -std=c++20 -x c++-header -c "$cpu/standard.hpp" -o "$header"
  fi
  for language in clang:cc clang++:c++; do
    cat >"bin/$cpu-${language%:*}" <<END
#!/bin/sh
# Made by scripts/zig-root.sh. A command with a source file compiles; one without links.
header=$header
export ZIG_GLOBAL_CACHE_DIR="$folder/$cpu/cache" ZIG_LOCAL_CACHE_DIR="$folder/$cpu/cache"
for argument in "\$@"; do
  case \$argument in
    -c | -E | -S | -fsyntax-only | --version | -dumpversion | -dumpmachine | -print-* | *.c | *.cc | *.cpp)
      case "\${header:+\$*}" in
        *' -O0 -g0 -fPIC -fvisibility=hidden '*' -std=c++20 '*) set -- -Xclang -include-pch -Xclang "\$header" "\$@" ;;
      esac
      # zig disables 512-bit vectors for processors that are not named, and -mavx512f alone does not enable them again.
      case " \$* " in *' -mavx512f '*) set -- "\$@" -mevex512 ;; esac
      # In a debug build zig would add its own sanitizer.
      exec "$folder/ziglang/zig" ${language#*:} -target $zig_target -fno-sanitize=undefined "\$@" ;;
  esac
done
case " \$* " in
  */libc++.tbd*) ;;
  *) set -- "\$@" "$folder/$cpu/libc++.a" "$folder/$cpu/libc++abi.a" ;;
esac
exec clang-14 --target=$cpu-apple-macos$minimum_system -mlinker-version=609 -fuse-ld=/usr/bin/ld64.lld-14 -nostdlib "\$@" \\
  "$folder/$cpu/libcompiler_rt.a" \\
  "$folder/ziglang/lib/libc/darwin/libSystem.tbd"
END
    chmod +x "bin/$cpu-${language%:*}"
  done
done
printf '%s' "$contents" >"$complete"
say "$folder: $(du -sm "$folder" | cut -f1) MB."

#!/usr/bin/env python3
"""Writes symbols.txt: what the C and C++ libraries of RHEL 8 export (glibc 2.28, GCC 8). Run by hand, when the floor changes.

usage: make_table.py ABILISTS CPU LIBSTDCXX LIBGCC [CPU LIBSTDCXX LIBGCC]... >symbols.txt

ABILISTS    ziglang/lib/libc/glibc/abilists of the Python package ziglang 0.13.0: the symbols of every release of glibc
LIBSTDCXX   libstdc++.so.6 of Debian 12 for that CPU (package libstdc++6)
LIBGCC      libgcc_s.so.1 of Debian 12 for that CPU (package libgcc-s1)

A version of libstdc++ and libgcc never gets another symbol once it was released. The symbols of GCC 8 are therefore those of
a later library whose version GCC 8 has.
"""
import pathlib
import struct
import sys

GLIBC = (2, 28, 0)
# The newest versions of GCC 8 (GCC's page "ABI Policy and Guidelines").
GCC = {"GLIBCXX": (3, 4, 25), "CXXABI": (1, 3, 11), "GCC": (7, 0, 0)}
SONAMES = {"c": "libc.so.6", "m": "libm.so.6", "pthread": "libpthread.so.0", "dl": "libdl.so.2", "rt": "librt.so.1",
           "util": "libutil.so.1", "resolv": "libresolv.so.2"}
LOADER = {"x86_64": "ld-linux-x86-64.so.2", "aarch64": "ld-linux-aarch64.so.1"}


class Reader:
    def __init__(self, content: bytes):
        self.content, self.at = content, 0

    def number(self, size: int) -> int:
        self.at += size
        return int.from_bytes(self.content[self.at - size:self.at], "little")

    def text(self) -> str:
        begin, self.at = self.at, self.content.index(b"\0", self.at) + 1
        return self.content[begin:self.at - 1].decode()


def of_glibc(path: str, cpu: str):
    """Yields (library, version, name, kind) of every symbol in glibc 2.28; kind is the size of an object."""
    read = Reader(pathlib.Path(path).read_bytes())
    libraries = [read.text() for _ in range(read.number(1))]
    versions = [(read.number(1), read.number(1), read.number(1)) for _ in range(read.number(1))]
    targets = [read.text() for _ in range(read.number(1))]
    target = 1 << targets.index(f"{cpu}-linux-gnu")
    for has_size in (False, True):  # functions, then objects
        name, last = "", True
        for _ in range(read.number(2)):
            name = read.text() if last else name
            on = read.number(4)
            kind = f" {read.number(2)}" if has_size else ""
            library = libraries[read.number(1)]
            last = on >> 31 == 1
            mark = 0
            while not mark & 128:
                mark = read.number(1)
                version = versions[mark & 127]
                if on & target and version <= GLIBC:
                    soname = LOADER[cpu] if library == "ld" else SONAMES[library]
                    yield soname, "GLIBC_" + ".".join(map(str, version if version[2] else version[:2])), name, kind


def of_gcc(path: str):
    """Yields (library, version, name, kind) of the symbols of GCC 8 that a later library of it exports."""
    content = pathlib.Path(path).read_bytes()
    table, = struct.unpack_from("<Q", content, 0x28)
    entry, count = struct.unpack_from("<HH", content, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, table + i * entry) for i in range(count)]
    by_type = {section[1]: section for section in sections}
    symbols, versions, definitions = by_type[11], by_type[0x6FFFFFFF], by_type[0x6FFFFFFD]

    def text(section: tuple, offset: int) -> str:
        begin = section[4] + offset
        return content[begin:content.index(b"\0", begin)].decode()

    names, at = {}, definitions[4]
    for _ in range(definitions[7]):
        _, _, index, _, _, first, following = struct.unpack_from("<HHHHIII", content, at)
        names[index] = text(sections[definitions[6]], struct.unpack_from("<I", content, at + first)[0])
        at += following
    for number in range(1, symbols[5] // 24):
        name, info, _, section, _, size = struct.unpack_from("<IBBHQQ", content, symbols[4] + 24 * number)
        version, = struct.unpack_from("<H", content, versions[4] + 2 * number)
        called = text(sections[symbols[6]], name)
        of_version = names.get(version & 0x7FFF, "")
        family, _, digits = of_version.partition("_")
        if section in (0, 0xFFF1) or family not in GCC or not digits.replace(".", "").isdigit():
            continue  # undefined, a version's own name, or a version without a number
        if tuple(map(int, digits.split("."))) <= GCC[family]:
            kind = {1: f" {size}", 6: f" {size} tls"}.get(info & 15, "")
            yield pathlib.Path(path).name, of_version, called, kind


def version_key(version: str) -> tuple:
    family, _, digits = version.partition("_")
    return family, [int(part) for part in digits.split(".")]


def main() -> int:
    if len(sys.argv) < 5 or len(sys.argv) % 3 != 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = {}  # (library, version, name, kind) -> CPUs
    for cpu, libstdcxx, libgcc in zip(*[iter(sys.argv[2:])] * 3):
        for symbol in [*of_glibc(sys.argv[1], cpu), *of_gcc(libstdcxx), *of_gcc(libgcc)]:
            found.setdefault(symbol, []).append(cpu)
    blocks = {}
    for (library, version, name, kind), cpus in found.items():
        blocks.setdefault((library, version, " ".join(cpus)), set()).add(name + kind)
    print("# Written by make_table.py. A block begins with library, version and processors. Objects have a size, those of a thread tls.")
    for library, version, cpus in sorted(blocks, key=lambda one: (one[0], version_key(one[1]), one[2])):
        print(f"\n{library} {version} {cpus}")
        print("\n".join(sorted(blocks[library, version, cpus])))
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails if a plugin needs a symbol that neither RHEL 8's C and C++ libraries nor its own runtime export.

usage: check_floor.py TABLE CPU [--at-run-time REGEX] PLUGIN [LIBRARY]...

TABLE          cmake/floor/symbols.txt: what glibc 2.28 and the libraries of GCC 8 export
LIBRARY        of the plugin's runtime; a library that the table has is not one
--at-run-time  for a plugin whose runtime is not here: names of its libraries with versions, and of symbols that only it has

Every undefined symbol is looked up, with its version if it has one.
"""
import argparse
import pathlib
import re
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "cmake/floor"))
from make_stubs import symbols_of  # noqa: E402

# The compiler's start code asks for these and works without them.
OPTIONAL = re.compile("__gmon_start__|_ITM_(de)?registerTMCloneTable")
THREAD_LOCAL_INITIALIZER = "_ZTH"  # weak, and absent if the variable needs none


class Library:
    """The dynamic symbols of a 64-bit little-endian ELF file: (name, version, library of the version, weak)."""

    def __init__(self, path: str):
        self.content = pathlib.Path(path).read_bytes()
        table, = struct.unpack_from("<Q", self.content, 0x28)
        entry, count = struct.unpack_from("<HH", self.content, 0x3A)
        self.sections = [struct.unpack_from("<IIQQQQIIQQ", self.content, table + i * entry) for i in range(count)]
        self.by_type = {section[1]: section for section in self.sections}
        self.versions = self.needed_versions()
        self.undefined, self.defined = [], set()
        symbols, indices = self.by_type[11], self.by_type.get(0x6FFFFFFF)
        for number in range(1, symbols[5] // 24):
            name, info, _, section, _, _ = struct.unpack_from("<IBBHQQ", self.content, symbols[4] + 24 * number)
            index = struct.unpack_from("<H", self.content, indices[4] + 2 * number)[0] & 0x7FFF if indices else 0
            called = self.text(self.sections[symbols[6]], name)
            if section:
                self.defined.add(called)
            else:
                self.undefined.append((called, *self.versions.get(index, ("", "")), info >> 4 == 2))

    def text(self, section: tuple, offset: int) -> str:
        begin = section[4] + offset
        return self.content[begin:self.content.index(b"\0", begin)].decode()

    def needed_versions(self) -> dict:
        """index -> (version, library)"""
        section, found = self.by_type.get(0x6FFFFFFE), {}
        at, files = (section[4], section[7]) if section else (0, 0)
        for _ in range(files):
            _, count, file, first, following = struct.unpack_from("<HHIII", self.content, at)
            library, entry = self.text(self.sections[section[6]], file), at + first
            for _ in range(count):
                _, _, index, name, next_entry = struct.unpack_from("<IHHII", self.content, entry)
                found[index] = (self.text(self.sections[section[6]], name), library)
                entry += next_entry
            at += following
        return found


def problems(plugin: Library, floor: dict, runtime: list, at_run_time: str):
    of_runtime = set().union(*(library.defined for library in runtime))
    for name, version, library, weak in plugin.undefined:
        if library in floor:
            if name not in floor[library].get(version, {}):
                yield f"{name}: {library} of RHEL 8 lacks it with version {version}"
            continue
        optional = weak and (OPTIONAL.fullmatch(name) or name.startswith(THREAD_LOCAL_INITIALIZER))
        if name not in of_runtime and not optional and not (at_run_time and re.match(at_run_time, library or name)):
            yield f"{name}: no library that the plugin can rely on exports it{f' ({library} {version})' if version else ''}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=pathlib.Path)
    parser.add_argument("cpu")
    parser.add_argument("--at-run-time", default="", metavar="REGEX")
    parser.add_argument("plugin")
    parser.add_argument("libraries", nargs="*")
    options = parser.parse_args()
    floor = symbols_of(options.table.read_text(), options.cpu)
    if "libc.so.6" not in floor:
        parser.error(f"{options.table} has no symbols for {options.cpu}")
    plugin = Library(options.plugin)
    found = list(problems(plugin, floor, [Library(one) for one in options.libraries], options.at_run_time))
    for one in found:
        print(f"{options.plugin}: {one}")
    if not found:
        print(f"{options.plugin}: RHEL 8 and its runtime have all of its {len(plugin.undefined)} symbols")
    return 1 if found or not plugin.undefined else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Holds engine_plugin.h to its golden layout.

  check_layout.py compare PROGRAM GOLDEN HEADER        what PROGRAM prints is GOLDEN, and GOLDEN names all of HEADER
  check_layout.py target CLANG GOLDEN INCLUDE_DIR TRIPLE  the same layout for another machine, by static assertions
  check_layout.py frozen HEADER FOLDER                 FOLDER keeps HEADER's minor, alike but for comments

Exit status: 0 equal, 1 different, 77 cannot be checked here (CTest shows it as skipped).
"""
import difflib
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def compare(program, golden_path, header_path):
    printed = subprocess.run([program], check=False, stdout=subprocess.PIPE, text=True)
    golden = open(golden_path, encoding="utf-8").read()
    if printed.returncode or printed.stdout != golden:
        sys.stdout.writelines(difflib.unified_diff(golden.splitlines(True), printed.stdout.splitlines(True),
                                                   "golden", "this compiler"))
        return 1
    header = re.sub(r"/\*.*?\*/", "", open(header_path, encoding="utf-8").read(), flags=re.S)
    names = set(re.findall(r"struct (engine_\w+) \{", header))
    names |= set(re.findall(r"\b(ENGINE_[A-Z0-9_]+) = ", header))
    names |= set(re.findall(r"#define (ENGINE_[A-Z0-9_]+) \d", header))
    names -= {"ENGINE_ABI_MINOR", "ENGINE_ABI_NEWEST_MINOR"}  # these two move with every release
    missing = names - {line.split()[1] for line in golden.splitlines()}
    for name in sorted(missing):
        print(f"{name}: in the header, not in the golden layout")
    print(f"{len(golden.splitlines())} lines equal, {len(names)} names of the header covered")
    return 1 if missing else 0


def assertions(golden_path):
    yield "#include <enginehost/engine_plugin.h>"
    for line in open(golden_path, encoding="utf-8"):
        kind, name, *numbers = line.split()
        if kind == "struct":
            yield f'_Static_assert(sizeof({name}) == {numbers[0]}, "sizeof {name}");'
        elif kind == "field":
            struct, field = name.split(".")
            yield f'_Static_assert(offsetof({struct}, {field}) == {numbers[0]}, "offset of {name}");'
            yield f'_Static_assert(sizeof((({struct} *)0)->{field}) == {numbers[1]}, "size of {name}");'
        else:
            yield f'_Static_assert({name} == {numbers[0]}, "{name}");'


def target(clang, golden_path, include_directory, triple):
    if not shutil.which(clang):
        print(f"skipped: {clang} is not installed")
        return SKIPPED
    source = "\n".join(assertions(golden_path)) + "\n"
    command = [clang, "-target", triple, "-ffreestanding", "-fsyntax-only", "-std=c11", "-Wall", "-Wextra", "-Werror",
               "-x", "c", "-I", include_directory, "-"]
    done = subprocess.run(command, check=False, input=source, text=True)
    print(f"{triple}: {source.count('_Static_assert')} assertions", "hold" if done.returncode == 0 else "FAIL")
    return 1 if done.returncode else 0


def without_comments(path):
    return re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.S).split()


def frozen(header_path, folder):
    header = pathlib.Path(header_path)
    major, minor = (re.search(rf"#define {name} (\d+)", header.read_text(encoding="utf-8")).group(1)
                    for name in ("ENGINE_ABI_MAJOR", "ENGINE_ABI_NEWEST_MINOR"))
    kept = pathlib.Path(folder) / f"engine_plugin_{major}_{minor}.h"
    if not kept.is_file():
        print(f"{kept} is missing: every released header is kept")
        return 1
    if without_comments(header) != without_comments(kept):
        print(f"{header} says ABI {major}.{minor} and differs from {kept} in more than comments.\n"
              "A change to a released header needs a new minor; before the release, copy the header there.")
        return 1
    print(f"ABI {major}.{minor} is as it was released")
    return 0


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "compare":
        return compare(*arguments[1:])
    if len(arguments) == 5 and arguments[0] == "target":
        return target(*arguments[1:])
    if len(arguments) == 3 and arguments[0] == "frozen":
        return frozen(*arguments[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

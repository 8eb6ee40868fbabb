#!/usr/bin/env python3
"""Compares a public C header (engine_plugin.h, or the SDK's enginehost.h) with its golden layout.

  check_layout.py compare PROGRAM GOLDEN HEADER    what PROGRAM prints is GOLDEN, and GOLDEN names all of HEADER
  check_layout.py covers GOLDEN HEADER             GOLDEN names every struct, field and constant of HEADER
  check_layout.py target COMPILER GOLDEN INCLUDE_DIR HEADER TRIPLE
                                                   the same layout for another machine, by static assertions: in C and
                                                   C++ by clang, in C by a cross gcc, whose TRIPLE is "own"
  check_layout.py wrapped GOLDEN HEADER CPP        the C++ header CPP passes every field of the structs that it fills in or
                                                   reads, and calls every function of HEADER
  check_layout.py frozen HEADER FOLDER             FOLDER keeps HEADER's minor, alike but for comments

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


def fields_of(body):
    """The names that the declarations between a struct's braces declare."""
    for declaration in body.split(";"):
        function = re.search(r"\(\*\s*(\w+)\)\s*\(", declaration)
        if function:
            yield function.group(1)
        elif declaration.strip():
            for declarator in declaration.split(","):
                yield re.search(r"(\w+)\s*(?:\[\w+\])?\s*$", declarator).group(1)


def covers(golden_path, header_path):
    header = re.sub(r"/\*.*?\*/", "", open(header_path, encoding="utf-8").read(), flags=re.S)
    names = set()
    for struct, body in re.findall(r"struct (\w+) \{(.*?)\n\}", header, flags=re.S):
        names |= {f"struct {struct}"} | {f"field {struct}.{field}" for field in fields_of(body)}
    for body in re.findall(r"enum\s*\w*\s*\{(.*?)\}", header, flags=re.S):
        names |= {f"constant {constant}" for constant in re.findall(r"\b([A-Z][A-Z0-9_]+)\b", body)}
    golden = {" ".join(line.split()[:2]) for line in open(golden_path, encoding="utf-8")}
    for name in sorted(names - golden):
        print(f"{name}: in the header, not in the golden layout")
    for name in sorted(golden - names):
        print(f"{name}: in the golden layout, not in the header")
    print(f"{len(names)} names of the header")
    return 0 if names and names == golden else 1


def assertions(golden_path, header):
    yield "#include <stddef.h>"
    yield f"#include <{header}>"
    yield "#ifdef __cplusplus"
    yield "#define HOLDS(what, text) static_assert(what, text)"
    yield "#else"
    yield "#define HOLDS(what, text) _Static_assert(what, text)"
    yield "#endif"
    for line in open(golden_path, encoding="utf-8"):
        kind, name, *numbers = line.split()
        if kind == "struct":
            yield f'HOLDS(sizeof({name}) == {numbers[0]}, "sizeof {name}");'
        elif kind == "field":
            struct, field = name.split(".")
            yield f'HOLDS(offsetof({struct}, {field}) == {numbers[0]}, "offset of {name}");'
            yield f'HOLDS(sizeof((({struct} *)0)->{field}) == {numbers[1]}, "size of {name}");'
        else:
            yield f'HOLDS({name} == {numbers[0]}, "{name}");'


def target(compiler, golden_path, include_directory, header, triple):
    if not shutil.which(compiler):
        print(f"skipped: {compiler} is not installed")
        return SKIPPED
    source = "\n".join(assertions(golden_path, header)) + "\n"
    # Without a triple it is a cross gcc, whose C++ part may not be installed. The headers need no C++
    # library, so none is searched; clang would warn where it finds none.
    machine = [] if triple == "own" else ["-target", triple, "-nostdinc++"]
    languages = [("c", "c11")] if triple == "own" else [("c", "c11"), ("c++", "c++20")]
    failed = 0
    for language, standard in languages:
        command = [compiler, *machine, "-ffreestanding", "-fsyntax-only", f"-std={standard}", "-Wall", "-Wextra",
                   "-Werror", "-x", language, "-I", include_directory, "-"]
        done = subprocess.run(command, check=False, input=source, text=True)
        print(f"{compiler} {triple} {standard}: {source.count('HOLDS(') - 2} assertions",
              "hold" if done.returncode == 0 else "FAIL")
        failed |= done.returncode
    return 1 if failed else 0


# Structs of the C API that have a C++ form, and the variable by which the C++ header fills them in or reads them. The
# structs of callbacks have none: applications get them as they are.
WRAPPED = {"enginehost_request": "c", "enginehost_device": "device", "enginehost_check": "found",
           "enginehost_watch": "asked", "enginehost_port": "port"}


def wrapped(golden_path, header_path, cpp_path):
    cpp = re.sub(r"//.*", "", open(cpp_path, encoding="utf-8").read())
    header = re.sub(r"/\*.*?\*/", "", open(header_path, encoding="utf-8").read(), flags=re.S)
    uses = {f"{struct}.{field}": rf"\b{WRAPPED[struct]}\.{field}\b"
            for struct, field in (line.split()[1].split(".") for line in open(golden_path, encoding="utf-8")
                                  if line.startswith("field "))
            if struct in WRAPPED and not field.startswith("reserved")}
    uses.update((name, rf"\b{name}\b") for name in re.findall(r"\b(enginehost_\w+)\(", header))
    missing = [name for name, use in uses.items() if not re.search(use, cpp)]
    for name in missing:
        print(f"{name}: in the C header, and the C++ header does not use it")
    print(f"{len(uses)} fields and functions")
    return 0 if len(uses) > 60 and not missing else 1


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
    if len(arguments) == 3 and arguments[0] == "covers":
        return covers(*arguments[1:])
    if len(arguments) == 6 and arguments[0] == "target":
        return target(*arguments[1:])
    if len(arguments) == 4 and arguments[0] == "wrapped":
        return wrapped(*arguments[1:])
    if len(arguments) == 3 and arguments[0] == "frozen":
        return frozen(*arguments[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

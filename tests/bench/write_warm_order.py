"""Writes cmake/warm-open.ld: the functions of ours that a repeated open runs, for the linker to put together.

    cmake --preset release -DENGINEHOST_WARM_ORDER=OFF; cmake --build --preset release --target bench_open_child
    valgrind --tool=callgrind --demangle=no --callgrind-out-file=OPEN.callgrind \
        --toggle-collect=_ZN10enginehost4open11open_sharedERKNS0_13SharedRequestE \
        build/tests/bench_open_child open CACHE REPOSITORY ENGINE     # until the open is led by its shortcut
    python3 tests/bench/write_warm_order.py OPEN.callgrind >cmake/warm-open.ld
"""
import re
import sys


def functions(lines, program):
    """The names that ran in the program. callgrind writes a name once, "(7) name", and "(7)" from then on."""
    known = {"ob": {}, "fn": {}}
    in_program = False
    for line in lines:
        said = re.match(r"(c?)(ob|fn)=\((\d+)\)(?: (.*))?$", line.rstrip("\n"))
        if not said:
            continue
        called, kind, number, name = said.groups()
        if name is not None:
            known[kind][number] = name
        if called:
            continue
        if kind == "ob":
            in_program = known["ob"][number].endswith(program)
        elif in_program:
            yield re.sub(r"'\d+$", "", known["fn"][number])


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        names = {name for name in functions(file, "/bench_open_child") if name.startswith("_Z")}
    print("/* Made by tests/bench/write_warm_order.py; see cmake/WarmOpen.cmake. */")
    print("SECTIONS")
    print("{")
    print("  .text.warm :")
    print("  {")
    # A constructor and a destructor have two names of one body, which lies under the second.
    names |= {re.sub(r"([CD])1(?=[EI])", r"\g<1>2", name) for name in names}
    for name in sorted(names):
        print(f"    *(.text.{name})")
    print("  }")
    print("}")
    print("INSERT BEFORE .text;")


main()

#!/usr/bin/env python3
"""Every code of a diagnosis that the sources use stands in the catalog of host/explain, once, and the other way
round: what was released stays.

check_codes.py ROOT   prints one line a violation, exit status 1 if there is one.
"""
import pathlib
import re
import sys

CATALOG = "host/explain/catalog"
RELEASED = "tests/end-to-end/released_codes.txt"
CODE = re.compile(r'"(EH-[A-Z][0-9]+)"')
FORM = re.compile(r"^EH-[FLRGWXNMPSE][0-9]{2}$")
DECLARED = re.compile(r'\.name\s*=\s*\{"(EH-[A-Z][0-9]+)"')
SKIPPED = re.compile(r"^(build.*|out|tests|\.git|\.cache)$")


def sources(root):
    for path in sorted(root.rglob("*")):
        parts = path.relative_to(root).parts
        if not SKIPPED.match(parts[0]) and path.suffix in {".c", ".cpp", ".h", ".hpp"} and path.is_file():
            yield path


def violations(root):
    declared = []
    for path in sorted((root / CATALOG).glob("*.cpp")):
        declared += DECLARED.findall(path.read_text())
    for code in sorted(set(declared)):
        if not FORM.match(code):
            yield "%s: %s is not of the form of a code" % (CATALOG, code)
        if declared.count(code) > 1:
            yield "%s: %s is declared %d times" % (CATALOG, code, declared.count(code))
    for path in sources(root):
        if CATALOG in path.as_posix():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            for code in CODE.findall(line):
                if code not in declared:
                    yield "%s:%d: %s is in no catalog" % (path.relative_to(root), number, code)
    released = (root / RELEASED).read_text().split()
    for code in sorted(set(released) - set(declared)):
        yield "%s: %s was released and is gone" % (RELEASED, code)
    for code in sorted(set(declared) - set(released)):
        yield "%s: %s is missing: add it, and its meaning is fixed from then on" % (RELEASED, code)
    if len(declared) < 100:
        yield "%s: only %d codes were found; does this check still read it?" % (CATALOG, len(declared))


def main():
    found = list(violations(pathlib.Path(sys.argv[1])))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

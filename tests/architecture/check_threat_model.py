#!/usr/bin/env python3
"""Every test that docs/threat-model.md names exists: `Suite.Name` or `Suite.*`. Each cell of its table of attacks has one.

check_threat_model.py ROOT   prints one line a violation, exit status 1 if there is one.
"""
import pathlib
import re
import sys

from check_faults import tests_of

PAGE = "docs/threat-model.md"
COLUMNS = ["attack", "repository", "bundle", "layer", "registry"]
ATTACKS = ["signed", "unsigned", "expired", "revoked", "blocked", "rolled back", "fast-forwarded", "mixed", "stripped",
           "forged"]
NAMED = re.compile(r"`([A-Z]\w*\.(?:\w+|\*))`")


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def problems(page, tests):
    for name in NAMED.findall(page):
        if name.endswith("*"):
            if not any(test.startswith(name[:-1]) for test in tests):
                yield f"there is no suite {name}"
        elif name not in tests:
            yield f"there is no test {name}"
    lines = page.splitlines()
    heads = [number for number, line in enumerate(lines) if cells_of(line) == COLUMNS]
    if len(heads) != 1:
        yield "it has no table with the columns " + ", ".join(COLUMNS)
        return
    rows = [cells_of(line) for line in lines[heads[0] + 2:heads[0] + 2 + len(ATTACKS)]]
    if [row[0] for row in rows] != ATTACKS:
        yield "the rows of its table are not " + ", ".join(ATTACKS)
    for row in rows:
        for column, cell in zip(COLUMNS[1:], row[1:]):
            if not NAMED.search(cell):
                yield f"{row[0]}, {column}: no test"
        if len(row) != len(COLUMNS):
            yield f"{row[0]}: {len(row)} cells"


def main():
    root = pathlib.Path(sys.argv[1])
    tests = tests_of(root)
    page = (root / PAGE).read_text(encoding="utf-8")
    found = list(problems(page, tests))
    # Tests of the check: a missing name and an empty cell must be found.
    for changed in (page + "`Suite.NoSuchTest`", re.sub(r"(\| forged \|)[^|]*\|", r"\1 |", page)):
        if len(list(problems(changed, tests))) <= len(found):
            found.append("the check itself finds nothing")
    for problem in found:
        print(f"{PAGE}: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

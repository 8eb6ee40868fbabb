#!/usr/bin/env python3
"""Every test that docs/faults.md names exists: `Suite.Name`, or `Suite.Beginning…`, and the rows are 1 to 27."""
import pathlib
import re
import sys


def tests_of(root):
    found = set()
    for source in (root / "tests").rglob("*.cpp"):
        text = source.read_text(encoding="utf-8")
        found.update(f"{suite}.{name}" for suite, name in re.findall(r"^TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\)", text, re.M))
    return found


def problems(page, tests):
    rows = [line for line in page.splitlines() if re.match(r"\| \d+ \|", line)]
    numbers = [int(row.split("|")[1]) for row in rows]
    if numbers != list(range(1, 28)):
        yield f"its rows are {numbers}"
    for row in rows:
        named = re.findall(r"`([A-Z]\w*\.\w*…?)`", row)
        if not named and "tests/" not in row:
            yield f"row {row.split('|')[1].strip()} names no test"
        for name in named:
            is_beginning = name.endswith("…")
            if not any(test.startswith(name[:-1]) if is_beginning else test == name for test in tests):
                yield f"there is no test {name}"


def main():
    root = pathlib.Path(sys.argv[1])
    tests = tests_of(root)
    found = list(problems((root / "docs/faults.md").read_text(encoding="utf-8"), tests))
    # A test of the check: a missing name must be found.
    if not list(problems("| 1 | x | `Suite.NoSuchTest` | main |", tests)):
        found.append("the check itself finds nothing")
    for problem in found:
        print(f"docs/faults.md: {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What the scripts fetch with pip is compared with digests in the tree: each `pip download` and `pip install` has
--require-hashes, or fetches nothing (--no-index, --dry-run).

check_fetched.py ROOT   prints one line a violation, exit status 1 if there is one.
"""
import pathlib
import re
import sys

FETCHES = re.compile(r"-m pip\b[^\n;|&]*\b(?:download|install)\b[^\n;|&]*")
ALLOWED = ("--require-hashes", "--no-index", "--dry-run")


def problems(text):
    whole = text.replace("\\\n", " ")
    return [found.strip() for found in FETCHES.findall(whole) if not any(flag in found for flag in ALLOWED)]


def main():
    root = pathlib.Path(sys.argv[1])
    found = [f"{script.name}: {problem}" for script in sorted((root / "scripts").glob("*.sh"))
             for problem in problems(script.read_text(encoding="utf-8"))]
    # Tests of the check.
    by_version = "python3 -m pip -q download --no-deps \\\n  --dest x name==1.0 || exit 1"
    if not problems(by_version) or problems(by_version.replace("--no-deps", "--require-hashes")):
        found.append("the check itself finds nothing, or too much")
    if "--require-hashes" not in (root / "scripts/setup.sh").read_text(encoding="utf-8"):
        found.append("setup.sh fetches no package by its digest")
    for problem in found:
        print(problem)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

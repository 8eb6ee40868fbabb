#!/usr/bin/env python3
"""Holds every C and C++ file of the tree to .clang-format, but for those that are left out.

check_format.py ROOT   prints one line a file that differs, exit status 1 if there is one; 77 where this version of
                       clang-format is not installed: others break lines elsewhere.
"""
import concurrent.futures
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys

import check_architecture

VERSION = "14"
SKIPPED = 77
AT_ONCE = 40  # files that one process reads

# Excluded files: pattern -> reason. A pattern without a file is reported too.
LEFT_OUT = {
    "base/*.hpp": "comments of up to 120 columns",
    "host/load/audit/audit.c": "pointers as C writes them",
    "tests/abi/frozen/*.h": "kept as they were published",
}


def program():
    """The clang-format to ask, or None."""
    for name in (f"clang-format-{VERSION}", "clang-format"):
        if shutil.which(name):
            reported = subprocess.run([name, "--version"], check=False, stdout=subprocess.PIPE, text=True).stdout
            if f"version {VERSION}." in reported:
                return name
    return None


def files_of(root):
    """What git tracks; all there is where there is no git. Relative to the root."""
    reported = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) if shutil.which("git") else None
    if reported is not None and reported.returncode == 0 and reported.stdout:
        names = (pathlib.PurePosixPath(name) for name in reported.stdout.split("\0") if name)
        return sorted(name.as_posix() for name in names
                      if name.suffix in check_architecture.SUFFIXES and (root / name).is_file())
    return sorted(path.relative_to(root).as_posix() for path in check_architecture.sources(root))


def differing(formatter, root, names):
    reported = subprocess.run([formatter, "--dry-run", "--Werror", "--ferror-limit=1", *names], check=False, cwd=root,
                          stderr=subprocess.PIPE, text=True)
    if reported.returncode == 0:
        return []
    return [name for name in names if f"{name}:" in reported.stderr] or [reported.stderr.strip()]


def check(root, formatter):
    """All violations below the root, as lines of text, and how many files were read."""
    root = pathlib.Path(root)
    everything = files_of(root)
    unused = [pattern for pattern in LEFT_OUT if not fnmatch.filter(everything, pattern)]
    names = [name for name in everything if not any(fnmatch.fnmatch(name, pattern) for pattern in LEFT_OUT)]
    parts = [names[i:i + AT_ONCE] for i in range(0, len(names), AT_ONCE)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [name for part in pool.map(lambda part: differing(formatter, root, part), parts) for name in part]
    return [f"{name}: differs from .clang-format; clang-format -i {name}" for name in found] + [
        f"{pattern}: left out, and no file has such a name" for pattern in unused], len(names)


def main():
    formatter = program()
    if formatter is None:
        print(f"skipped: clang-format {VERSION} is not installed")
        return SKIPPED
    violations, count = check(sys.argv[1], formatter)
    for violation in violations:
        print(violation)
    print(f"{count} files read, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Fails if a plugin of the build tree needs newer C or C++ libraries than the row of its build says. Decisions for recorded
machines (tests/resolve/decisions.txt) are made with the rows.

usage: check_rows.py TEMPLATES REPOSITORY VERSION
"""
import json
import pathlib
import sys


def main() -> int:
    templates, repository, version = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    compared, failed = 0, 0
    for template in sorted(templates.glob("*.json")):
        manifest, = (json.loads(file.read_text()) for file in (repository / "manifests").glob(template.stem + "-*.json"))
        packed = {build["id"]: build["requires"] for build in manifest["builds"] if "not_built" not in build}
        for build in json.loads(template.read_text())["builds"]:
            needed = packed.get(build["id"].replace("@VERSION@", version))
            if needed is None or build["os"] != "linux":
                continue
            compared += 1
            for name in ("glibc", "glibcxx", "cxxabi"):
                row = build["requires"].get(name)
                if needed.get(name) != row:
                    print(f"{template}: {build['id']} says {name} {row}, with its plugin it needs {needed.get(name)}")
                    failed = 1
    print(f"{compared} rows compared with the plugins of {repository}")
    return failed or int(compared == 0)


if __name__ == "__main__":
    sys.exit(main())

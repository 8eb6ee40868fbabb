#!/usr/bin/env python3
"""Fails if a plugin of the build tree needs newer C or C++ libraries than the row of its build says. Decisions for recorded
machines (tests/resolve/decisions.txt) are made with the rows.

usage: check_rows.py [--built ENGINE] TEMPLATES REPOSITORY VERSION

--built  also fails if a row of ENGINE for Linux on this processor has no plugin
"""
import argparse
import json
import pathlib
import platform
import sys


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--built", metavar="ENGINE")
    parser.add_argument("templates", type=pathlib.Path)
    parser.add_argument("repository", type=pathlib.Path)
    parser.add_argument("version")
    options = parser.parse_args()
    templates, repository, version = options.templates, options.repository, options.version
    compared, failed = 0, 0
    for template in sorted(templates.glob("*.json")):
        manifest, = (json.loads(file.read_text()) for file in (repository / "manifests").glob(template.stem + "-*.json"))
        for build in manifest["builds"] if manifest["engine"] == options.built else []:
            if (build["os"], build["arch"]) == ("linux", platform.machine()) and "not_built" in build:
                print(f"{repository}: {build['id']} has no plugin: {build['not_built']}")
                failed = 1
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

#!/usr/bin/env python3
"""Writes manifests/headers.json: the headers in published wheels, which engine-cache sdk writes beside the files that a
build loads.

usage: name_headers.py [--check]

For each wheel by its digest: which files, their tree, their size and the ranges of the archive that hold them. A wheel has
thousands of headers, so the tree stands for them, and no manifest names each. A tree of PyTorch's headers is the one of
engines/pytorch/headers.json, which its adapters are compiled with. pack_repository.py adds the entries to the artifacts.

--check    compares with headers.json, writes nothing; exit status 1 if they differ
"""
import argparse
import json
import sys

from name_files import FOLDER, artifacts, members_of, ranges_of
from wheels import Broken, index_url, selected, tree_of, url_of

TABLE = FOLDER / "headers.json"
HEADERS = {"torch": ["torch/include/**"]}  # by project of the index
SERVED = "-linux-"  # engine-cache sdk writes folders for Linux only


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    before = json.loads(TABLE.read_text()) if TABLE.is_file() else {}
    pinned = json.loads((FOLDER.parent / "engines/pytorch/headers.json").read_text())
    index, table, problems = index_url(), {}, 0
    for name, artifact in artifacts().items():
        source = next((one["package_index"] for one in artifact["sources"] if "package_index" in one), {})
        sha256, patterns = artifact["sha256"], HEADERS.get(source.get("project"))
        if patterns is None or SERVED not in name or sha256 in table:
            continue
        try:
            members, places, size = members_of(url_of(index, source["project"], source["file"]))
            files = selected(members, {"select": patterns})
            if not files:
                raise Broken(f"it has no {' and no '.join(patterns)}")
            if any(len(one) > 3 for one in files):
                raise Broken("a header is marked as a program; an archive that is fetched by ranges does not show that")
            tree = tree_of(files)
            if tree != pinned.get(sha256, tree):
                raise Broken(f"its headers give {tree}, headers.json has {pinned[sha256]}")
        except (Broken, OSError, KeyError, ValueError) as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)
            problems += 1
            continue
        table[sha256] = {"select": patterns, "tree": tree, "unpacked": sum(one[1] for one in files),
                         "ranges": ranges_of(places, size, files)}
        fetched = sum(end - begin for begin, end in table[sha256]["ranges"])
        print(f"{name}: {len(files)} files, {fetched >> 20} MiB in {len(table[sha256]['ranges'])} ranges", file=sys.stderr)
    if problems:
        return 1
    if options.check:
        return 0 if table == before else 1
    lines = [f"{json.dumps(sha256)}: {json.dumps(entry)}" for sha256, entry in sorted(table.items())]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

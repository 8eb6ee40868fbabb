#!/usr/bin/env python3
"""Writes manifests/files.json: every file of every published archive that the templates name, with size and SHA-256,
and the ranges of the archive that hold them where fetching only these is better than fetching all.

usage: name_files.py [--check] [--only COMPONENT]...

A wheel's RECORD has the SHA-256 and the size of each member, and its directory has the modes. Both are read by ranged
requests, so that a wheel of 2 GB costs some hundred kilobytes. pip says which package index to use. Each result must give
the tree that manifests/facts has, which was computed from the whole archive; otherwise nothing is written.

--check    compares with files.json, writes nothing; exit status 1 if they differ
--only     only these components; the others keep their entries

Archives that no package index has (a vendor's URL) stay without an entry, and are listed.
"""
import argparse
import io
import json
import pathlib
import sys
import zipfile

from wheels import Broken, RangedFile, index_url, record_of, selected, tree_of, url_of

FOLDER = pathlib.Path(__file__).parent
TABLE = FOLDER / "files.json"


def members_of(url: str) -> tuple:
    """The members that RECORD has, and where each member of the archive begins and ends."""
    file = RangedFile(url)
    with zipfile.ZipFile(io.BufferedReader(file, 1 << 16)) as wheel:
        names = sorted(wheel.infolist(), key=lambda info: info.header_offset)
        begins = [info.header_offset for info in names] + [wheel.start_dir]
        places = {info.filename: (begins[i], begins[i + 1]) for i, info in enumerate(names)}
        return record_of(wheel), places, file.size


def ranges_of(places: dict, size: int, files: list) -> list:
    """As ranges_to_fetch() in host/acquire/partial_zip.hpp, which has the reasons."""
    exact = sorted(places[one[0]] for one in files)
    left, joined = sum(end - begin for begin, end in exact) // 32, []
    for begin, end in exact:
        gap = begin - joined[-1][1] if joined else None
        if gap is not None and gap <= min(left, 1 << 20):
            left -= gap
            joined[-1][1] = end
        else:
            joined.append([begin, end])
    worth_it = sum(end - begin for begin, end in joined) + (len(joined) << 20) <= size
    return joined if worth_it else []


def artifacts() -> dict:
    found = {}
    for template in sorted((FOLDER / "templates").glob("*.json")):
        for name, component in json.loads(template.read_text())["components"].items():
            for artifact in component.get("artifacts", []):
                found[name] = artifact
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="COMPONENT")
    options = parser.parse_args()
    before = json.loads(TABLE.read_text()) if TABLE.is_file() else {}
    index, table, problems, members, trees = index_url(), {}, 0, {}, {}
    for name, artifact in artifacts().items():
        if "files" in artifact:  # a plan names them (engine-manifest follow)
            continue
        if options.only and name not in options.only:
            if name in before:
                table[name] = before[name]
            continue
        source = next((one["package_index"] for one in artifact["sources"] if "package_index" in one), None)
        if source is None:
            print(f"{name}: no package index has it")
            continue
        try:
            sha256 = artifact["sha256"]
            if sha256 not in members:
                members[sha256] = members_of(url_of(index, source["project"], source["file"]))
            known, places, size = members[sha256]
            files = selected(known, artifact)
        except (Broken, OSError, StopIteration, KeyError, ValueError) as error:
            print(f"{name}: {type(error).__name__}: {error}")
            problems += 1
            continue
        tree = tree_of(files)
        trees.setdefault(sha256, set()).add(tree)
        table[name] = {"sha256": sha256, "tree": tree, "files": files}
        if ranges := ranges_of(places, size, files):
            table[name]["ranges"] = ranges
    # Two components may take different files of one archive; the facts are those of one of them.
    for sha256, computed in trees.items():
        facts = FOLDER / "facts" / f"{sha256}.json"
        known = json.loads(facts.read_text())["tree"] if facts.is_file() else None
        if known and known not in computed:
            print(f"{sha256}: RECORD gives the trees {computed}, the whole archive gave {known}")
            problems += 1
    if problems:
        return 1
    if options.check:
        return 0 if table == before else 1
    lines = [f"{json.dumps(name)}: {json.dumps(entry)}" for name, entry in sorted(table.items())]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

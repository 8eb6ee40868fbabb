#!/usr/bin/env python3
"""Compares engines/pytorch/stand_ins/table.json with the libraries of the published wheels that it names.

usage: stand_ins_wheels_test.py SOURCE DOWNLOADS

A stand-in must have every function that a wheel's libtorch_cpu.so needs from a library of its name, and nobody may need
data. Each library is read once, by ranged requests (some 120 MB each); DOWNLOADS keeps the names. Exit status 77: the package
index cannot be reached.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.error

SOURCE, DOWNLOADS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "manifests"))
import wheels  # noqa: E402

LIBRARY = "torch/lib/libtorch_cpu.so"


def artifacts() -> dict:
    """Each wheel of the manifest by its digest: project, file, and the digest of its libtorch_cpu.so."""
    template = json.loads((SOURCE / "manifests/templates/pytorch.json").read_text())
    files = json.loads((SOURCE / "manifests/files.json").read_text())
    found = {}
    for name, component in template["components"].items():
        for artifact in component.get("artifacts", []):
            index = artifact["sources"][0].get("package_index")
            named = {one["path"]: one["sha256"] for one in artifact.get("files", [])}
            named = named or {one[0]: one[2] for one in files.get(name, {}).get("files", [])}
            library = named.get(LIBRARY)
            if index and library:
                found[artifact["sha256"]] = (index["project"], index["file"], library)
    return found


def needs_of(library: bytes) -> dict:
    """library -> name -> type, of the undefined symbols with a version of libcudart or libcupti."""
    with tempfile.NamedTemporaryFile(suffix=".so") as file:
        file.write(library)
        file.flush()
        lines = subprocess.run(["readelf", "--dyn-syms", "-W", file.name], check=True, capture_output=True,
                               text=True).stdout.splitlines()
    needs = {}
    for words in (line.split() for line in lines):
        # Num: Value Size Type Bind Vis Ndx Name@Version (number)
        if len(words) >= 8 and words[6] == "UND" and "@" in words[7]:
            name, version = words[7].replace("@@", "@").split("@")
            if version.startswith(("libcudart", "libcupti")):
                needs.setdefault(version, {})[name] = words[3]
    return needs


def main() -> int:
    table = json.loads((SOURCE / "engines/pytorch/stand_ins/table.json").read_text())
    known, wanted, failed = artifacts(), {}, 0
    for name, processors in table.items():
        for processor, entry in processors.items():
            for one in entry["read_from"]:
                wanted.setdefault((one["sha256"], one["wheel"]), []).append((name, processor))
    index, union = wheels.index_url(), {}
    for (digest, wheel), served in wanted.items():
        project, file, library = known[digest]
        assert file == wheel, (file, wheel)
        kept = DOWNLOADS / f"needs-of-{library}.json"
        if not kept.is_file():
            try:
                content = wheels.members_in(wheels.url_of(index, project, file), [LIBRARY]).files[LIBRARY]
            except (urllib.error.URLError, OSError) as error:
                print(f"skipped: {file} cannot be read: {error}")
                return 77
            assert hashlib.sha256(content).hexdigest() == library, f"{file} has another {LIBRARY} than files.json says"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(needs_of(content)))
        needs = json.loads(kept.read_text())
        for name, functions in needs.items():
            if name not in [one for one, _ in served]:
                print(f"{file} needs {name}, and table.json was not read from it")
                failed = 1
            for function, kind in functions.items():
                if kind not in ("FUNC", "NOTYPE"):
                    print(f"{file} needs {function} of {name}, which is no function but {kind}")
                    failed = 1
        for name, processor in served:
            union.setdefault((name, processor), set()).update(needs.get(name, {}))
            print(f"{file}: {len(needs.get(name, {}))} functions of {name}")
    for (name, processor), functions in union.items():
        said = table[name][processor]["functions"]
        if said != sorted(functions):
            print(f"table.json: {name} for {processor}: lacks {sorted(functions - set(said))}, has too much: "
                  f"{sorted(set(said) - functions)}, or is not sorted")
            failed = 1
    # A release that nobody looked at would fail on a user's machine only.
    builds = json.loads((SOURCE / "manifests/templates/pytorch.json").read_text())
    for build in builds["builds"]:
        names = [one for part in build["components"] for one in builds["components"][part].get("stands_in_for", [])]
        digests = {artifact["sha256"] for part in build["components"]
                   for artifact in builds["components"][part].get("artifacts", [])}
        for name in names:
            if not digests & {one["sha256"] for one in table[name][build["arch"]]["read_from"]}:
                print(f"{build['id']}: table.json was not read from its wheel for {name}")
                failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())

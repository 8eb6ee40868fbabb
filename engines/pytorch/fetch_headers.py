#!/usr/bin/env python3
"""Fetches the headers of the PyTorch releases that manifests/templates/pytorch.json names for a system.

usage: fetch_headers.py [--os OS] [--arch ARCH] [--release VERSION]... [--libraries] [--record] FOLDER

A plugin needs the headers of its release and no library of it: engines/pytorch/CMakeLists.txt links it with empty libraries of
the same names. Apple's linker notes the library of each symbol, so for macOS the libraries are fetched too. All of it lies in
the published wheels. It is read by ranged requests, 14 MiB of 500, and compared with the tree digests in headers.json. FOLDER
gets a folder for each release, VERSION, with include/ and release.json; a release that is there already costs nothing. Standard
output lists the folders, separated by semicolons, as ENGINEHOST_TORCH_ROOT takes them.

--os, --arch   as the manifest names them; this machine's if not named
--libraries    also fetches a release's two libraries into VERSION/libraries, for tests; some 120 MB
--record       writes the digests into headers.json instead of comparing; for a new release

Exit status: 0, 1 something could not be fetched (the others are there), 2 wrong usage.
"""
import argparse
import json
import pathlib
import platform
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE.parent.parent / "manifests"
sys.path.insert(0, str(MANIFESTS))
from wheels import Broken, index_url, members_in, url_of, write_folder  # noqa: E402

TABLE = HERE / "headers.json"
PREFIX = "torch/"
HEADERS = ["torch/include/**"]
LIBRARIES = {"linux": ["torch/lib/libc10.so", "torch/lib/libtorch_cpu.so"],
             "macos": ["torch/lib/*.dylib"]}


def releases(system: str, arch: str) -> dict:
    """version -> (cxx11_abi, wheel's SHA-256, file name), one wheel of the index for each release of the manifest."""
    template = json.loads((MANIFESTS / "templates/pytorch.json").read_text())
    components, found = template["components"], {}
    for build in template["builds"] if system in LIBRARIES else []:
        plugin = components[build["plugin"]["component"]]
        if (build["os"], build["arch"]) != (system, arch) or not plugin["plugin_of"].endswith("-wheel"):
            continue
        for name in build["components"]:
            for artifact in components[name].get("artifacts", []):
                for source in artifact["sources"]:
                    wheel = source.get("package_index", {})
                    if wheel.get("project") == "torch":
                        found[build["version"]] = (plugin.get("cxx11_abi", ""), artifact["sha256"], wheel["file"])
    return dict(sorted(found.items(), key=lambda one: [int(part) for part in one[0].split(".")]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--os", default={"Darwin": "macos"}.get(platform.system(), platform.system().lower()))
    parser.add_argument("--arch", default=platform.machine())
    parser.add_argument("--release", action="append", default=[], metavar="VERSION")
    parser.add_argument("--libraries", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    known = releases(options.os, options.arch)
    unknown = [one for one in options.release if one not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: the manifest has {', '.join(known) or 'no release'} for {options.os}-{options.arch}")
    table = json.loads(TABLE.read_text()) if TABLE.is_file() else {}
    folders, failed, index = [], 0, None
    for version, (abi, sha256, name) in known.items():
        if options.release and version not in options.release:
            continue
        folder = options.folder.resolve() / version
        release = {"version": version, "cxx11_abi": abi, "wheel": sha256, "headers": table.get(sha256)}
        try:
            known_as = folder / "release.json"
            if not known_as.is_file() or json.loads(known_as.read_text()) != release:
                index = index or index_url()
                patterns = HEADERS + (LIBRARIES["macos"] if options.os == "macos" else [])
                tree, files, _, fetched = members_in(url_of(index, "torch", name), patterns)
                if options.record:
                    table[sha256] = release["headers"] = tree
                elif tree != table.get(sha256):
                    raise Broken(f"the headers of {name} give {tree}, headers.json has {table.get(sha256)}")
                print(f"PyTorch {version}: {len(files)} files, {sum(map(len, files.values())) >> 20} MiB, {fetched} bytes fetched",
                      file=sys.stderr)
                write_folder(folder, {**{path[len(PREFIX):]: content for path, content in files.items()},
                                      known_as.name: json.dumps(release, indent=1).encode()})
            if options.libraries and not (folder / "libraries").is_dir():
                index = index or index_url()
                _, files, *_ = members_in(url_of(index, "torch", name), LIBRARIES[options.os])
                write_folder(folder / "libraries", {path.rpartition("/")[2]: content for path, content in files.items()})
            folders.append(str(folder))
        except (Broken, OSError, ValueError, KeyError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
            print(f"PyTorch {version}: {name} could not be read from pip's package index: {error}", file=sys.stderr)
            failed = 1
    if options.record:
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
    print(";".join(folders))
    return failed


if __name__ == "__main__":
    sys.exit(main())

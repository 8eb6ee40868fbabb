#!/usr/bin/env python3
"""Fetches the headers of the PyTorch releases that manifests/templates/pytorch.json names for a system.

usage: fetch_headers.py [--os linux] [--arch x86_64] [--release VERSION]... [--record] FOLDER

A plugin needs the headers of its release and no library of it: engines/pytorch/CMakeLists.txt links it with empty libraries of
the same names. The headers lie in the published wheels. They are read by ranged requests, 14 MiB of 500, and compared with the
tree digests in headers.json. FOLDER gets a folder for each release, VERSION, with include/ and release.json; a release that is
there already costs nothing. The last line lists the folders, separated by semicolons, as ENGINEHOST_TORCH_ROOT takes them.

--record   writes the digests into headers.json instead of comparing; for a new release

Exit status: 0, 1 something could not be fetched (the others are there), 2 wrong usage.
"""
import argparse
import hashlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE.parent.parent / "manifests"
sys.path.insert(0, str(MANIFESTS))
from name_files import Broken, RangedFile, index_url, record_of, url_of  # noqa: E402

TABLE = HERE / "headers.json"
PREFIX = "torch/include/"


def releases(system: str, arch: str) -> dict:
    """version -> (cxx11_abi, wheel's SHA-256, file name), one wheel of the index for each release of the manifest."""
    template = json.loads((MANIFESTS / "templates/pytorch.json").read_text())
    components, found = template["components"], {}
    for build in template["builds"]:
        plugin = components[build["plugin"]["component"]]
        if (build["os"], build["arch"]) != (system, arch) or not plugin["plugin_of"].endswith("-wheel"):
            continue
        for name in build["components"]:
            for artifact in components[name].get("artifacts", []):
                for source in artifact["sources"]:
                    wheel = source.get("package_index", {})
                    if wheel.get("project") == "torch":
                        found[build["version"]] = (plugin.get("cxx11_abi", ""), artifact["sha256"], wheel["file"])
    return found


def contiguous(infos: list) -> list:
    """The byte ranges of these members, joined where less than 1 MiB lies between two."""
    ranges = []
    for info in sorted(infos, key=lambda one: one.header_offset):
        # A local header repeats the name and may have more extra fields than the directory has.
        end = info.header_offset + 30 + len(info.filename) + 1024 + info.compress_size
        if ranges and info.header_offset < ranges[-1][1] + (1 << 20):
            ranges[-1][1] = max(end, ranges[-1][1])
        else:
            ranges.append([info.header_offset, end])
    return ranges


def tree_of(files: dict) -> str:
    lines = [f"{hashlib.sha256(content).hexdigest()} {path}\n" for path, content in sorted(files.items())]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def headers_in(url: str) -> dict:
    file = RangedFile(url)
    with zipfile.ZipFile(io.BufferedReader(file, 1 << 16)) as wheel:
        infos = [info for info in wheel.infolist() if info.filename.startswith(PREFIX) and not info.is_dir()]
        for begin, end in contiguous(infos):
            file.prefetch(begin, end)
        recorded = record_of(wheel)
        files = {}
        for info in infos:
            content = wheel.read(info)
            if recorded[info.filename][1] != hashlib.sha256(content).hexdigest():
                raise Broken(f"{info.filename} is not as the wheel's RECORD says")
            files[info.filename[len(PREFIX):]] = content
    if not files:
        raise Broken("the wheel has no headers")
    return files


def write(folder: pathlib.Path, files: dict, release: dict) -> None:
    """Nothing is visible before everything is written."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for path, content in files.items():
            target = made / "include" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        (made / "release.json").write_text(json.dumps(release, indent=1) + "\n")
        made.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--os", default="linux")
    parser.add_argument("--arch", default="x86_64")
    parser.add_argument("--release", action="append", default=[], metavar="VERSION")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    known = releases(options.os, options.arch)
    unknown = [one for one in options.release if one not in known]
    if unknown:
        parser.error(f"{', '.join(unknown)}: the manifest has {', '.join(known) or 'no release'} for {options.os}-{options.arch}")
    table = json.loads(TABLE.read_text()) if TABLE.is_file() else {}
    folders, failed, index = [], 0, None
    for version, (abi, sha256, name) in sorted(known.items()):
        if options.release and version not in options.release:
            continue
        folder = options.folder.resolve() / version
        release = {"version": version, "cxx11_abi": abi, "wheel": sha256, "headers": table.get(sha256)}
        try:
            if (folder / "release.json").is_file() and json.loads((folder / "release.json").read_text()) == release:
                folders.append(str(folder))
                continue
            index = index or index_url()
            files = headers_in(url_of(index, "torch", name))
            tree = tree_of(files)
            if options.record:
                table[sha256] = release["headers"] = tree
            elif tree != table.get(sha256):
                raise Broken(f"the headers of {name} give {tree}, headers.json has {table.get(sha256)}")
            write(folder, files, release)
            print(f"PyTorch {version}: {len(files)} headers, {sum(map(len, files.values())) >> 20} MiB")
            folders.append(str(folder))
        except (Broken, OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
            print(f"PyTorch {version}: {type(error).__name__}: {error}")
            failed = 1
    if options.record:
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
    print(";".join(folders))
    return failed


if __name__ == "__main__":
    sys.exit(main())

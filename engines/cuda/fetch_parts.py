#!/usr/bin/env python3
"""Fetches what the plugins for CUDA are compiled with, for the builds of Linux on x86-64 in manifests/templates/cuda.json.

usage: fetch_parts.py [--accept-license ID]... [--record] FOLDER

A plugin takes the headers of the CUDA runtime, cuBLASLt and cuDNN, NVRTC as the compiler of its kernels, fatbinary, and two
small libraries to link with. All of it lies in NVIDIA's wheels, most of them the build's own. It is read by ranged requests, 73
MiB of 1.8 GB, and compared with the tree digests in parts.json. FOLDER gets a folder for each release of CUDA, with the files
under their paths in the wheels, and release.json; a release that is there already costs nothing. Standard output lists the
folders, separated by semicolons, as ENGINEHOST_CUDA_ROOT takes them.

--accept-license  accepts one of NVIDIA's two licenses; nothing is fetched without both
--record          writes the digests into parts.json instead of comparing; for a new release

Exit status: 0, 1 something could not be fetched (the others are there), 2 wrong usage, 3 a license is not accepted.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MANIFESTS = HERE.parent.parent / "manifests"
sys.path.insert(0, str(MANIFESTS))
from wheels import Broken, index_url, members_in, url_of, write_folder  # noqa: E402

TABLE = HERE / "parts.json"
SELECT = ["nvidia/*/include/**", "nvidia/*/lib/libcudart.so.*", "nvidia/*/lib/libcudnn.so.9", "nvidia/*/lib/libnvrtc.so.*",
          "nvidia/*/lib/libnvrtc-builtins.so.*", "nvidia/*/bin/fatbinary", "*.dist-info/**/License.txt", "*.dist-info/License.txt"]
# Wheels that only compiling needs, by release of CUDA. CUDA 11's wheels have no fatbinary; a newer one serves all.
NEWER = "py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl"
FATBINARY = ("nvidia-cuda-nvcc", f"nvidia_cuda_nvcc-13.0.88-{NEWER}", SELECT)
COMPILER = {
    "11.8": [FATBINARY, ("nvidia-cuda-nvcc-cu11", "nvidia_cuda_nvcc_cu11-11.8.89-py3-none-manylinux2014_x86_64.whl", SELECT)],
    "13.0": [FATBINARY, ("nvidia-cuda-crt", f"nvidia_cuda_crt-13.0.88-{NEWER}", SELECT),
             ("nvidia-cuda-cccl", f"nvidia_cuda_cccl-13.0.85-{NEWER}", ["nvidia/*/include/nv/**", "*.dist-info/**/License.txt"])]}


def releases(template: dict) -> dict:
    """release of CUDA -> (architectures of the kernels, [(project, file name, what to select)] of the wheels)."""
    found = {}
    for build in template["builds"]:
        if (build["os"], build["arch"]) == ("linux", "x86_64"):
            cuda, wheels = build["requires"]["cuda"], []
            for name in build["components"]:
                for artifact in template["components"][name]["artifacts"]:
                    wheel = artifact["sources"][0]["package_index"]
                    wheels.append((wheel["project"], wheel["file"], SELECT))
            found[cuda["toolkit"]] = ([one.replace(".", "") for one in cuda["sass"]], wheels + COMPILER[cuda["toolkit"]])
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accept-license", action="append", default=[], metavar="ID")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    template = json.loads((MANIFESTS / "templates/cuda.json").read_text())
    missing = [one["id"] for one in template["licenses"].values()
               if one["accept"] == "explicit" and one["id"] not in options.accept_license]
    table = json.loads(TABLE.read_text()) if TABLE.is_file() else {}
    folders, wanted, failed, index = [], [], 0, None
    for version, (code, wheels) in releases(template).items():
        folder = options.folder.resolve() / version
        known_as = folder / "release.json"
        release = {"cuda": version, "code": code, "parts": {file: table.get(file, {}).get("tree") for _, file, _ in wheels}}
        if known_as.is_file() and json.loads(known_as.read_text()) == release:
            folders.append(str(folder))
            continue
        if missing:
            wanted.append((version, sum(table[file]["fetched"] for _, file, _ in wheels)))
            continue
        content, programs, fetched = {}, set(), 0
        try:
            for project, file, select in wheels:
                index = index or index_url()
                found = members_in(url_of(index, project, file), select)
                if options.record:
                    release["parts"][file] = found.tree
                    table[file] = {"tree": found.tree, "fetched": found.fetched}
                elif found.tree != release["parts"][file]:
                    raise Broken(f"its parts give {found.tree}, parts.json has {release['parts'][file]}")
                content.update(found.files)
                programs |= found.programs
                fetched += found.fetched
            write_folder(folder, {**content, known_as.name: json.dumps(release, indent=1).encode()}, programs)
        except (Broken, OSError, ValueError, KeyError, subprocess.SubprocessError, zipfile.BadZipFile) as error:
            print(f"CUDA {version}: {file} could not be read from pip's package index: {error}", file=sys.stderr)
            failed = 1
            continue
        print(f"CUDA {version}: {len(content)} files, {fetched >> 20} MiB were fetched", file=sys.stderr)
        folders.append(str(folder))
    if options.record:
        TABLE.write_text(json.dumps(table, indent=1, sort_keys=True) + "\n")
    if wanted:
        print(f"CUDA {' and '.join(version for version, _ in wanted)}: not fetched ({sum(size for _, size in wanted) >> 20} MiB), "
              f"because {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not accepted", file=sys.stderr)
        failed = 3
    print(";".join(folders))
    return failed


if __name__ == "__main__":
    sys.exit(main())

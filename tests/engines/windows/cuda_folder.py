#!/usr/bin/env python3
"""Puts the CUDA engine for Windows and the DLLs that its manifest selects into one folder.

usage: cuda_folder.py REPOSITORY PLUGIN FOLDER

REPOSITORY is one of tests/end-to-end/windows/wheel_repository.py. Windows finds the libraries that a DLL needs in that
DLL's own folder. The plugin is copied last: a folder with it is complete. Exit status 77: there is no such repository.
"""
import fnmatch
import json
import pathlib
import shutil
import sys
import zipfile


def main() -> int:
    repository, plugin, folder = map(pathlib.Path, sys.argv[1:])
    if not (repository / "index.json").exists():
        print(f"skipped: there are no wheels at {repository}", file=sys.stderr)
        return 77
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    manifest = json.loads((repository / "manifests/cuda.json").read_text())
    for artifact in (artifact for part in manifest["components"].values() for artifact in part["artifacts"]):
        if artifact["archive"] != "zip":
            continue
        with zipfile.ZipFile(repository / artifact["sources"][0]["file"]) as wheel:
            for name in wheel.namelist():
                if name.endswith(".dll") and any(fnmatch.fnmatch(name, glob) for glob in artifact["select"]):
                    with wheel.open(name) as library, open(folder / pathlib.PurePosixPath(name).name, "wb") as out:
                        shutil.copyfileobj(library, out)
    shutil.copy(plugin, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

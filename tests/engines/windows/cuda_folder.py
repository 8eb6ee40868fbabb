#!/usr/bin/env python3
"""Fetches NVIDIA's DLLs as the CUDA engine's build for Windows selects them, and puts the engine beside them.

usage: cuda_folder.py MANIFEST DOWNLOADS PLUGIN FOLDER

Windows finds the libraries that a DLL needs in that DLL's own folder. The plugin is copied last: a folder with it is
complete. Exit status 3: pip could not get a wheel; the last line of standard error is the reason.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys


def main() -> int:
    manifest, downloads, plugin, folder = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    parts = json.loads(manifest.read_text())
    [build] = [build for build in parts["builds"] if build["os"] == "windows"]
    for component in (parts["components"][name] for name in build["components"]):
        [artifact] = component["artifacts"]
        project = artifact["sources"][0]["package_index"]["project"]
        fetched = subprocess.run([sys.executable, pathlib.Path(__file__).parent.parent / "fetch_wheel.py", "--platform", "win_amd64",
                                  downloads, project, component["version"], *artifact["select"]],
                                 stdout=subprocess.PIPE, text=True)
        if fetched.returncode != 0:
            return fetched.returncode
        for library in pathlib.Path(fetched.stdout.strip()).rglob("*.dll"):
            os.link(library, folder / library.name)
    shutil.copy(plugin, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())

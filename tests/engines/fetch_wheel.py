#!/usr/bin/env python3
"""Fetches one file of the package index through pip and unpacks some members of it, once.

usage: fetch_wheel.py [--platform PLATFORM] [--python RELEASE] FOLDER PROJECT VERSION GLOB...

PLATFORM is a platform of wheel file names (win_amd64); without it: Linux on x86-64.
RELEASE is the Python that a wheel is made for; without it: 3.11.
Prints the folder of the members. Exit status 3: pip could not get the file; the last line of standard error is the
reason. Processes may call it at the same time for the same file.
"""
import fcntl
import fnmatch
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile


def main() -> int:
    arguments = sys.argv[1:]
    platforms = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64", "any",
                 "manylinux_2_35_x86_64"]
    suffix = ""
    if arguments[0] == "--platform":
        platforms, suffix = [arguments[1], "any"], "-" + arguments[1]
        arguments = arguments[2:]
    python = "3.11"
    if arguments[0] == "--python":
        python, arguments = arguments[1], arguments[2:]
    folder, project, version, globs = pathlib.Path(arguments[0]), arguments[1], arguments[2], arguments[3:]
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / f"{project}-{version}{suffix}"
    with open(folder / f".{done.name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                           "--only-binary", ":all:", "--python-version", python, "--dest", scratch]
                for platform in platforms:
                    command += ["--platform", platform]
                pip = subprocess.run(command + [f"{project}=={version}"], capture_output=True, text=True, timeout=240)
                if pip.returncode != 0:
                    print(pip.stderr.strip().splitlines()[-1] if pip.stderr.strip() else "pip failed", file=sys.stderr)
                    return 3
                wheel = next(pathlib.Path(scratch).glob("*.whl"))
                unpacked = pathlib.Path(scratch) / "unpacked"
                with zipfile.ZipFile(wheel) as archive:
                    for name in archive.namelist():
                        if any(fnmatch.fnmatch(name, glob) for glob in globs):
                            archive.extract(name, unpacked)
                shutil.move(unpacked, done)
    print(done)
    return 0


if __name__ == "__main__":
    sys.exit(main())

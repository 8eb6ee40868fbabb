#!/usr/bin/env python3
"""Makes a .tar.xz and a wheel of an installed portable tree (scripts/package.sh).

usage: pack.py [--tar] [--wheel] --tree TREE --libraries FOLDER --scripts FOLDER --output FOLDER [--packages-of ROOT]
       pack.py --list --libraries FOLDER [--packages-of ROOT]

TREE       what "cmake --install" of a portable build wrote
LIBRARIES  what scripts/portable-libraries.sh made
ROOT       the root of the Debian system whose static libraries are linked in; / if not named
SCRIPTS    the commands for a wheel, which look for the library in the package

The same files give the same bytes: names are sorted, and times are those of the last commit (SOURCE_DATE_EPOCH).
"""
import argparse
import base64
import gzip
import hashlib
import io
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# The libraries that are linked in: Debian's source package, the Debian package whose copyright file holds its license, its SPDX license.
LINKED_IN = [
    ("curl", None, "curl"),
    ("libarchive", None, "BSD-2-Clause"),
    ("nghttp2", None, "MIT"),
    ("libisal", None, "BSD-3-Clause"),
    ("openssl", "libssl-dev", "Apache-2.0"),
    ("zlib", "zlib1g-dev", "Zlib"),
    ("libzstd", "libzstd-dev", "BSD-3-Clause"),
    ("xz-utils", "liblzma-dev", "0BSD"),
    ("gcc-12", "libstdc++-12-dev", "GPL-3.0-or-later WITH GCC-exception-3.1"),
    ("boost1.74", "libboost1.74-dev", "BSL-1.0"),
    ("nlohmann-json3", "nlohmann-json3-dev", "MIT"),
    ("cli11", "libcli11-dev", "BSD-3-Clause"),
    ("expected-lite", "libexpected-dev", "BSL-1.0"),
]
# Files that a wheel has in its dist-info.
IN_DIST_INFO = ("share/doc/enginehost/enginehost.cyclonedx.json", "share/doc/enginehost/LICENSE")


def said_by(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT).stdout.strip()


def project_version() -> str:
    return re.search(r"project\(EngineHost VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def epoch() -> int:
    given = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return int(given or said_by("git", "log", "-1", "--format=%ct"))
    except (OSError, subprocess.CalledProcessError, ValueError):
        raise SystemExit("pack.py: this folder is no checkout of git whose last commit has a time, and SOURCE_DATE_EPOCH "
                         f"is {given!r}: set it to seconds since 1970") from None


def processor_of(file: pathlib.Path) -> str:
    head = file.read_bytes()[:20]
    return {62: "x86_64", 183: "aarch64"}[int.from_bytes(head[18:20], "little")]


def is_elf(file: pathlib.Path) -> bool:
    with open(file, "rb") as opened:
        return opened.read(4) == b"\x7fELF"


def tool(name: str, processor: str) -> str:
    return name if os.uname().machine == processor else f"{processor}-linux-gnu-{name}"


def linked_in(libraries: pathlib.Path, root: pathlib.Path) -> list:
    """Name, version, license and text of everything that the library contains and that is not EngineHost's own."""
    built = dict(word.rsplit("_", 1) for word in (libraries / "complete").read_text().split("\n")[1].split())
    parts = []
    for name, package, spdx in LINKED_IN:
        if package is None:
            parts.append((name, built[name], spdx, (libraries / "licenses" / name).read_bytes()))
            continue
        # Boost's headers are this machine's in every build.
        of = root if (root / f"usr/share/doc/{package}/copyright").exists() else pathlib.Path("/")
        version = said_by("dpkg-query", f"--admindir={of}/var/lib/dpkg", "-W", "-f=${Version}", package)
        parts.append((name, version, spdx, (of / f"usr/share/doc/{package}/copyright").read_bytes()))
    return parts


def sbom(parts: list, version: str, time_of: int) -> bytes:
    """CycloneDX 1.5."""
    components = [{
        "type": "library", "name": name, "version": of, "bom-ref": name, "licenses": [{"expression": spdx}],
        "purl": f"pkg:deb/debian/{name}@{of}?arch=source&distro=bookworm"} for name, of, spdx, _ in parts]
    document = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time_of)),
            "component": {"type": "application", "name": "enginehost", "version": version, "bom-ref": "enginehost",
                          "licenses": [{"license": {"id": "Apache-2.0"}}]}},
        "components": components,
        "dependencies": [{"ref": "enginehost", "dependsOn": [name for name, *_ in parts]}],
    }
    return (json.dumps(document, indent=1) + "\n").encode()


def finish(tree: pathlib.Path, libraries: pathlib.Path, root: pathlib.Path, debug: pathlib.Path, time_of: int) -> None:
    """Takes debug information out of the tree, and puts the list and the licenses of what is linked in into it."""
    shutil.rmtree(debug, ignore_errors=True)
    for file in sorted(tree.rglob("*")):
        if file.is_symlink():
            raise SystemExit(f"pack.py: {file} is a link, and a wheel would make a copy of its target")
        if not file.is_file() or not is_elf(file):
            continue
        processor = processor_of(file)
        into = debug / (str(file.relative_to(tree)) + ".debug")
        into.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run([tool("objcopy", processor), "--only-keep-debug", file, into], check=True)
        subprocess.run([tool("strip", processor), "--remove-section=.comment", file], check=True)
    parts = linked_in(libraries, root)
    pages = tree / "share/doc/enginehost"
    (pages / "linked-in").mkdir(parents=True, exist_ok=True)
    for name, _, _, text in parts:
        (pages / "linked-in" / f"{name}.gz").write_bytes(gzip.compress(text, mtime=0))  # GCC's has two megabytes
    (pages / "enginehost.cyclonedx.json").write_bytes(sbom(parts, project_version(), time_of))


def keep_one_of_each_header(tree: pathlib.Path) -> None:
    """The pages link to the headers beside them. Here they link to the installed ones, and a wheel has no file twice."""
    pages = tree / "share/doc/enginehost"
    for header in sorted((tree / "include").rglob("*.h")):
        for twin in pages.rglob(header.name):
            if twin.read_bytes() != header.read_bytes():
                raise SystemExit(f"pack.py: {twin} and {header} differ")
            for page in pages.rglob("*.md"):
                text = page.read_text()
                linked = text.replace(f"]({os.path.relpath(twin, page.parent)})", f"]({os.path.relpath(header, page.parent)})")
                if linked != text:
                    page.write_text(linked)
            twin.unlink()


def make_tar(folder: pathlib.Path, name: str, output: pathlib.Path, time_of: int) -> None:
    bytes_of_tar = io.BytesIO()
    with tarfile.open(fileobj=bytes_of_tar, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for file in [folder, *sorted(folder.rglob("*"))]:
            entry = archive.gettarinfo(file, str(pathlib.Path(name) / file.relative_to(folder)))
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = time_of, 0, 0, "", ""
            entry.mode = 0o755 if file.is_dir() or entry.mode & 0o100 else 0o644
            if file.is_file():
                with open(file, "rb") as opened:
                    archive.addfile(entry, opened)
            else:
                archive.addfile(entry)
    output.write_bytes(lzma.compress(bytes_of_tar.getvalue(), preset=9))


def metadata(version: str) -> str:
    return f"""Metadata-Version: 2.1
Name: enginehost
Version: {version}
Summary: Chooses, verifies, loads and diagnoses builds of ML engines
License: Apache-2.0
Requires-Python: >=3.9
Description-Content-Type: text/markdown

{(HERE / "python/README.md").read_text()}"""


def make_wheel(tree: pathlib.Path, scripts: pathlib.Path, output: pathlib.Path, time_of: int) -> pathlib.Path:
    version = project_version()
    processor = processor_of(tree / "lib/libenginehost.so.0")
    tag = f"py3-none-manylinux_2_28_{processor}"
    files = {}  # path in the wheel -> (content, may it be run)
    for file in sorted(tree.rglob("*")):
        if file.is_file() and str(file.relative_to(tree)) not in IN_DIST_INFO:
            files["enginehost/" + str(file.relative_to(tree))] = (file.read_bytes(), os.access(file, os.X_OK))
    for file in sorted((HERE / "python/enginehost").glob("*")):
        if file.is_file():
            files["enginehost/" + file.name] = (file.read_bytes().replace(b"@VERSION@", version.encode()), False)
    for file in sorted(scripts.iterdir()):
        stripped = output / (file.name + ".stripped")
        subprocess.run([tool("strip", processor), "--remove-section=.comment", "-o", stripped, file], check=True)
        files[f"enginehost-{version}.data/scripts/{file.name}"] = (stripped.read_bytes(), True)
        stripped.unlink()
    info = f"enginehost-{version}.dist-info/"
    bom = (tree / "share/doc/enginehost/enginehost.cyclonedx.json").read_bytes()
    for name, text in {
            "METADATA": metadata(version),
            "WHEEL": f"Wheel-Version: 1.0\nGenerator: enginehost ({version})\nRoot-Is-Purelib: false\nTag: {tag}\n",
            "entry_points.txt": "[cmake.root]\nEngineHost = enginehost\n\n[cmake.prefix]\nenginehost = enginehost\n",
            "licenses/LICENSE": (ROOT / "LICENSE").read_text(),
            "sboms/enginehost.cyclonedx.json": bom.decode()}.items():
        files[info + name] = (text.encode(), False)
    record = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}"
              for path, (content, _) in files.items()]
    files[info + "RECORD"] = ("\n".join([*record, f"{info}RECORD,,"]) + "\n").encode(), False
    wheel = output / f"enginehost-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, (content, may_run) in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(max(time_of, 315619200))[:6])
            entry.external_attr = (0o100755 if may_run else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content, compresslevel=9)
    return wheel


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tar", action="store_true")
    parser.add_argument("--wheel", action="store_true")
    parser.add_argument("--list", action="store_true", help="only print what is linked in")
    for name in ("tree", "libraries", "scripts", "output"):
        parser.add_argument(f"--{name}", required=name == "libraries", type=pathlib.Path)
    parser.add_argument("--packages-of", default="/", type=pathlib.Path)
    options = parser.parse_args()
    if options.list:
        print(", ".join(f"{name} {version}" for name, version, *_ in linked_in(options.libraries, options.packages_of.resolve())))
        return 0
    time_of = epoch()
    debug = options.tree.with_name(options.tree.name + "-debug")
    finish(options.tree, options.libraries, options.packages_of.resolve(), debug, time_of)
    keep_one_of_each_header(options.tree)
    made = []
    if options.tar:
        name = f"enginehost-{project_version()}-linux-{processor_of(options.tree / 'lib/libenginehost.so.0')}"
        for folder, suffix in ((options.tree, ""), (debug, "-debug")):
            made.append(options.output / f"{name}{suffix}.tar.xz")
            make_tar(folder, name + suffix, made[-1], time_of)
    if options.wheel:
        made.append(make_wheel(options.tree, options.scripts, options.output, time_of))
    for file in made:
        print(f"{file}  {file.stat().st_size / 1e6:.1f} MB  sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

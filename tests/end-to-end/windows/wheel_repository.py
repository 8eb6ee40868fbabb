#!/usr/bin/env python3
"""Makes a repository of one build and its wheels from the build tree's repository, for tests that cannot run pip.

usage: wheel_repository.py REPOSITORY ENGINE BUILD FOLDER

Uses the manifest of ENGINE in REPOSITORY with two changes: BUILD is the only build, and the files that its components
fetch from the package index become files of the new repository in FOLDER. pip fetches them for the platform that the
file's name contains. The digests stay the manifest's, and a file with another digest is refused. A wheel that is in FOLDER
is not fetched again. Exit status 77: pip could not get the file; the last line of standard error has the reason.
"""
import hashlib
import json
import pathlib
import re
import subprocess
import sys
import tempfile


def fetch(source: dict, place: pathlib.Path) -> str:
    """Returns the reason why pip could not get the file; "" when it is in `place`."""
    project, file = source["project"], source["file"]
    _, version, python, _, platforms = re.fullmatch(r"(.+?)-(.+?)-(?:cp|py)(.+?)-(.+?)-(.+)\.whl", file).groups()
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps",
                   "--only-binary", ":all:", "--python-version", python, "--dest", scratch, f"{project}=={version}"]
        for platform in platforms.split("."):
            command += ["--platform", platform]
        pip = subprocess.run(command, capture_output=True, text=True, timeout=240)
        if pip.returncode != 0:
            return pip.stderr.strip().splitlines()[-1] if pip.stderr.strip() else "pip failed"
        (pathlib.Path(scratch) / file).rename(place)
    return ""


def main() -> int:
    repository, engine, wanted, folder = sys.argv[1:]
    [place] = (pathlib.Path(repository) / "manifests").glob(f"{engine}-*.json")
    manifest = json.loads(place.read_bytes())
    manifest["builds"] = [build for build in manifest["builds"] if build["id"] == wanted]
    [build] = manifest["builds"]
    used = {build["plugin"]["component"], *build["components"]}
    manifest["components"] = {name: part for name, part in manifest["components"].items() if name in used}
    manifest["licenses"] = {name: terms for name, terms in manifest["licenses"].items()
                            if any(part.get("license") == name for part in manifest["components"].values())}
    for terms in manifest["licenses"].values():
        if terms.get("text", {}).get("component") not in used:
            terms.pop("text", None)  # it is in a component of another system
    out = pathlib.Path(folder)
    for part in ("files", "manifests"):
        (out / part).mkdir(parents=True, exist_ok=True)
    for component in manifest["components"].values():
        for artifact in component["artifacts"]:
            [source] = artifact["sources"]
            index = source.get("package_index")
            name = index["file"] if index else pathlib.PurePosixPath(source["file"]).name
            place = out / "files" / name
            if not index:
                place.write_bytes((pathlib.Path(repository) / source["file"]).read_bytes())
            elif not place.exists():
                why = fetch(index, place)
                if why:
                    print(f"skipped: {name}: {why}", file=sys.stderr)
                    return 77
            if hashlib.sha256(place.read_bytes()).hexdigest() != artifact["sha256"]:
                print(f"{name} is not the file of that digest", file=sys.stderr)
                return 1
            artifact["sources"] = [{"file": f"files/{name}"}]
    text = json.dumps(manifest, indent=1).encode()
    (out / "manifests" / f"{engine}.json").write_bytes(text)
    index = {key: manifest[key] for key in ("format", "serial", "created", "expires")}
    index.update(name="wheels-of-tests", manifests=[{"path": f"manifests/{engine}.json",
                                                     "sha256": hashlib.sha256(text).hexdigest(), "size": len(text)}])
    (out / "index.json").write_text(json.dumps(index))
    return 0


if __name__ == "__main__":
    sys.exit(main())

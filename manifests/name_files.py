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
import base64
import csv
import hashlib
import io
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile

FOLDER = pathlib.Path(__file__).parent
TABLE = FOLDER / "files.json"
JSON_PAGE = "application/vnd.pypi.simple.v1+json"


class Broken(Exception):
    pass


def matcher(pattern: str) -> re.Pattern:
    """The pattern of base/text.hpp, matches_pattern()."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(parts.get(one, re.escape(one)) for one in re.split(r"(\*\*/|\*\*|\*|\?)", pattern)))


def pip(*arguments: str) -> str:
    return subprocess.run([sys.executable, "-m", "pip", *arguments], check=True, capture_output=True, text=True).stdout


def index_url() -> str:
    settings = dict(line.split("=", 1) for line in pip("config", "list").splitlines() if "=" in line)
    for key in (":env:.index-url", "install.index-url", "global.index-url"):
        if key in settings:
            return settings[key].strip("'\"")
    found = re.search(r"--index-url <url>.*?\(default\s+(\S+?)\)", re.sub(r"\s+", " ", pip("install", "--help")))
    if not found:
        raise Broken("pip names no package index")
    return found.group(1)


class RangedFile(io.RawIOBase):
    """A file behind a URL, read by ranged requests of at least 256 KiB."""

    def __init__(self, url: str):
        self.url, self.at, self.parts = url, 0, []
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=60) as answer:
            self.size = int(answer.headers["Content-Length"])

    def seekable(self): return True
    def readable(self): return True
    def tell(self): return self.at

    def seek(self, offset, whence=0):
        self.at = {0: 0, 1: self.at, 2: self.size}[whence] + offset
        return self.at

    def readinto(self, buffer):
        wanted = min(len(buffer), self.size - self.at)
        if wanted <= 0:
            return 0
        for begin, content in self.parts:
            if begin <= self.at < begin + len(content):
                piece = content[self.at - begin:][:wanted]
                buffer[:len(piece)] = piece
                self.at += len(piece)
                return len(piece)
        begin = max(0, min(self.at, self.size - (1 << 18)))
        self.prefetch(begin, max(self.at + wanted, begin + (1 << 18)))
        return self.readinto(buffer)

    def prefetch(self, begin: int, end: int) -> None:
        """Fetches these bytes with one request; reads of them cost nothing then."""
        end = min(self.size, end)
        request = urllib.request.Request(self.url, headers={"Range": f"bytes={begin}-{end - 1}"})
        with urllib.request.urlopen(request, timeout=120) as answer:
            if answer.status != 206:
                raise Broken(f"{self.url} sends no ranges")
            self.parts.append((begin, answer.read()))


def url_of(index: str, project: str, file: str) -> str:
    page = urllib.parse.urljoin(index + ("" if index.endswith("/") else "/"),
                                re.sub(r"[-_.]+", "-", project).lower() + "/")
    with urllib.request.urlopen(urllib.request.Request(page, headers={"Accept": JSON_PAGE}), timeout=120) as answer:
        for one in json.loads(answer.read())["files"]:
            if one["filename"] == file:
                return urllib.parse.urljoin(page, one["url"])
    raise Broken(f"the index does not list {file}")


def record_of(wheel: zipfile.ZipFile) -> dict:
    """path -> (size, sha256, executable), for each member that RECORD has."""
    infos = {info.filename: info for info in wheel.infolist()}
    record = next(name for name in infos if re.fullmatch(r"[^/]+\.dist-info/RECORD", name))
    found = {}
    for path, digest, size in csv.reader(io.StringIO(wheel.read(record).decode())):
        if not digest.startswith("sha256=") or path not in infos:
            continue
        sha256 = base64.urlsafe_b64decode(digest[7:] + "=" * (-len(digest[7:]) % 4)).hex()
        if infos[path].file_size != int(size):
            continue  # changed after RECORD was written; if it is selected, the tree differs from the facts
        found[path] = (int(size), sha256, bool(infos[path].external_attr >> 16 & 0o111))
    return found


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


def tree_of(files: list) -> str:
    """The tree id of cache/tree_list.hpp."""
    lines = [f"{'X' if len(one) > 3 else 'F'} {one[1]} {one[2]} {one[0]}\n".encode() for one in files]
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def selected(members: dict, artifact: dict) -> list:
    patterns = [matcher(one) for one in artifact.get("select", ["**"])]
    return [[path, size, sha256] + (["x"] if executable else [])
            for path, (size, sha256, executable) in sorted(members.items())
            if any(one.fullmatch(path) for one in patterns)]


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

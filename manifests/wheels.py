"""Reads members of published wheels by ranged requests. The package index is the one that pip is configured for."""
import base64
import csv
import hashlib
import io
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import typing
import urllib.parse
import urllib.request
import zipfile

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


def tree_of(files: list) -> str:
    """The tree id of cache/tree_list.hpp."""
    lines = [f"{'X' if len(one) > 3 else 'F'} {one[1]} {one[2]} {one[0]}\n".encode() for one in files]
    return hashlib.sha256(b"".join(sorted(lines))).hexdigest()


def selected(members: dict, artifact: dict) -> list:
    patterns = [matcher(one) for one in artifact.get("select", ["**"])]
    return [[path, size, sha256] + (["x"] if executable else [])
            for path, (size, sha256, executable) in sorted(members.items())
            if any(one.fullmatch(path) for one in patterns)]


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


class Members(typing.NamedTuple):
    tree: str  # the digest
    files: dict  # content by path
    programs: set  # paths
    fetched: int  # bytes


def members_in(url: str, patterns: list) -> Members:
    file, files = RangedFile(url), {}
    with zipfile.ZipFile(io.BufferedReader(file, 1 << 16)) as wheel:
        wanted = selected(record_of(wheel), {"select": patterns})
        if not wanted:
            raise Broken(f"the wheel has no {' and no '.join(patterns)}")
        for begin, end in contiguous([wheel.getinfo(path) for path, *_ in wanted]):
            file.prefetch(begin, end)
        for path, _, sha256, *_ in wanted:
            content = wheel.read(path)
            if sha256 != hashlib.sha256(content).hexdigest():
                raise Broken(f"{path} is not as the wheel's RECORD says")
            files[path] = content
    programs = {path for path, _, _, *executable in wanted if executable}
    return Members(tree_of(wanted), files, programs, sum(len(content) for _, content in file.parts))


def write_folder(folder: pathlib.Path, files: dict, programs: set = frozenset()) -> None:
    """Nothing is visible before everything is written."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = pathlib.Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for path, content in files.items():
            target = made / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            if path in programs:
                target.chmod(0o755)
        made.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)

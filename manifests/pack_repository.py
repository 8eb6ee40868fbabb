#!/usr/bin/env python3
"""Makes the local repository of a build tree: manifests from templates, and an archive of every plugin compiled here.

usage: pack_repository.py --templates FOLDER [--files TABLE] [--headers TABLE] --output FOLDER --name NAME --version VERSION
                          --os OS --arch ARCH [--vendor-facts FILE] [--plugin NAME=FILE]... [--stand-in FILE]... [@LIST]...

Plugins and stand-ins may be for other platforms than --os and --arch, the one whose build tree this is: each says for which
it was compiled. LIST is a file with more arguments, one a line, such as another build's plugins.txt.

A template is a manifest in which a component may have "plugin_of": "NAME", "os": ..., "arch": ..., and "cxx11_abi": "0" or
"1" if the plugin must be for that C++ ABI. If that plugin was compiled for that platform, its archive becomes the
component's artifact, and the file's requirements on the system are added to every build that uses it. Otherwise those
builds get the reason in "not_built", and for the platform that is packed what makes the plugin, unless the template's own
reason names that behind a semicolon. "@VERSION@" stands for the version of this EngineHost.

A component with "stands_in_for": ["NAME"], "os" and "arch" gets the stand-in of that file name that was compiled for that
platform, in the folder stand-ins/ of the view, where nothing but the build looks.

Several plugins may have one NAME, if they differ in their C++ ABI. A plugin called ENGINE-RELEASE-ORIGIN that no template
names (another release of libtorch than the published builds have, or one of them with the other ABI) gets a component and a
build of its own: for machines that have its runtime, and for installations (docs/installations.md).

Other processes may read the repository meanwhile. Files are named by their content; each is written to a temporary name
and renamed, index.json last. If nothing changed, no file is touched, so the serial rises only with the content. The serial
is a time, so that it also rises when the build tree is made again.
"""
import argparse
import datetime
import gzip
import hashlib
import io
import json
import os
import pathlib
import re
import struct
import sys
import tarfile
import tempfile
import time

# The command that makes the plugins of a build tree, by system.
MAKES_PLUGINS = {"linux": "; scripts/setup.sh --all makes it in EngineHost's source folder"}

EXPIRES_AFTER_DAYS = 3650  # the repository is trusted by its location; its age is irrelevant


class Broken(Exception):
    pass


def symbol_versions(content: bytes) -> dict:
    """The newest version of each family ("GLIBC": "2.34") an ELF file needs, from its .gnu.version_r; {} if not ELF."""
    if content[:4] != b"\x7fELF":
        return {}
    if content[4] != 2 or content[5] != 1:
        raise Broken("only 64-bit little-endian ELF plugins are known")
    section_offset, = struct.unpack_from("<Q", content, 0x28)
    section_size, section_count = struct.unpack_from("<HH", content, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, section_offset + i * section_size)
                for i in range(section_count)]
    newest = {}
    for section in sections:
        if section[1] != 0x6FFFFFFE:  # SHT_GNU_verneed
            continue
        at, strings = section[4], sections[section[6]][4]
        while True:
            _, aux_count, _, aux, following = struct.unpack_from("<HHIII", content, at)
            entry = at + aux
            for _ in range(aux_count):
                _, _, _, name, next_entry = struct.unpack_from("<IHHII", content, entry)
                text = content[strings + name:content.index(b"\0", strings + name)].decode()
                match = re.fullmatch(r"([A-Z]+)_([0-9]+(?:\.[0-9]+)*)", text)
                if match:
                    family, version = match.groups()
                    newest[family] = max(newest.get(family, version), version, key=version_key)
                entry += next_entry
            if following == 0:
                break
            at += following
    return newest


# Libraries of the system; a plugin's other needs belong to its runtime.
OF_THE_SYSTEM = re.compile(r"^(lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+)\.so|ld-linux|ld-musl|libc\.musl)")


def adapter_of(content: bytes) -> dict:
    """The runtime libraries that an ELF plugin needs by name, and the C++ ABI of the symbols it uses from them; {} if it
    opens the runtime by name and the interface is C."""
    if content[:4] != b"\x7fELF":
        return {}
    section_offset, = struct.unpack_from("<Q", content, 0x28)
    section_size, section_count = struct.unpack_from("<HH", content, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", content, section_offset + i * section_size)
                for i in range(section_count)]

    def text(table: tuple, offset: int) -> str:
        begin = table[4] + offset
        return content[begin:content.index(b"\0", begin)].decode(errors="replace")

    needs, undefined = [], []
    for section in sections:
        if section[1] == 6:  # SHT_DYNAMIC
            for at in range(section[4], section[4] + section[5], 16):
                tag, value = struct.unpack_from("<qQ", content, at)
                if tag == 1:  # DT_NEEDED
                    needs.append(text(sections[section[6]], value))
        if section[1] == 11:  # SHT_DYNSYM
            for at in range(section[4] + 24, section[4] + section[5], 24):
                name, _, _, index = struct.unpack_from("<IBBH", content, at)
                if index == 0:
                    undefined.append(text(sections[section[6]], name))
    needs = [name for name in needs if not OF_THE_SYSTEM.match(name)]
    if not needs:
        return {}
    # Symbols in the runtime's own namespaces: those of libstdc++ exist in both ABIs.
    own = [name for name in undefined if re.match(r"_ZNK?(3c10|2at|5torch)", name)]
    if not own:
        return {"needs": needs}
    return {"needs": needs, "cxx11_abi": "1" if any("__cxx11" in name for name in own) else "0"}


def platform_of(content: bytes):
    """The system and processor that an ELF, PE or Mach-O file was compiled for, as the manifests name them; None for others."""
    if content[:4] == b"\x7fELF":
        machine, names = int.from_bytes(content[18:20], "little"), {62: "x86_64", 183: "aarch64"}
        return ("linux", names[machine]) if machine in names else None
    if content[:4] == b"\xcf\xfa\xed\xfe":
        machine, names = int.from_bytes(content[4:8], "little"), {0x01000007: "x86_64", 0x0100000C: "arm64"}
        return ("macos", names[machine]) if machine in names else None
    header = int.from_bytes(content[0x3C:0x40], "little")
    if content[:2] == b"MZ" and content[header:header + 4] == b"PE\0\0":
        machine, names = int.from_bytes(content[header + 4:header + 6], "little"), {0x8664: "x86_64", 0xAA64: "arm64"}
        return ("windows", names[machine]) if machine in names else None
    return None


class Compiled:
    """A plugin or stand-in and the platform that it is for."""

    def __init__(self, name: str, file: str, options: argparse.Namespace):
        self.name, self.file, self.taken = name, pathlib.Path(file), False
        self.content = self.file.read_bytes()
        self.platform = platform_of(self.content) or (options.os, options.arch)
        self.adapter = adapter_of(self.content)


def version_key(version: str) -> list:
    return [int(part) for part in version.split(".")]


def raise_requirement(requires: dict, name: str, version: str) -> None:
    """Raises a ">=" requirement to at least `version`; other bounds are kept."""
    known = requires.get(name)
    match = re.fullmatch(r">=\s*([0-9.]+)", known) if known else None
    if known and not match:
        requires[name] = f"{known},>={version}"
    elif not match or version_key(match.group(1)) < version_key(version):
        requires[name] = f">={version}"


def archive_of(path: str, content: bytes) -> bytes:
    """A tar.gz that contains only this file; equal files give equal bytes, on every machine and at any time."""
    member = tarfile.TarInfo(path)
    member.size, member.mode, member.mtime = len(content), 0o755, 0
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(content))
    packed = io.BytesIO()
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", compresslevel=6, mtime=0) as stream:
        stream.write(tar.getvalue())
    return packed.getvalue()


def write(path: pathlib.Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def to_bytes(document: dict) -> bytes:
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode()


def choose(component: dict, plugins: list):
    """Returns the compiled plugin for a component, or None; marks it as taken."""
    name, system, arch, abi = (component.pop(key, None) for key in ("plugin_of", "os", "arch", "cxx11_abi"))
    fitting = [one for one in plugins if (one.name, one.platform) == (name, (system, arch))
               and abi in (None, one.adapter.get("cxx11_abi", abi))]
    if len(fitting) > 1:
        raise Broken(f"two plugins are called {name}: {fitting[0].file} and {fitting[1].file}")
    if not fitting:
        return None
    fitting[0].taken = True
    return fitting[0]


def add_others(manifest: dict, plugins: list) -> None:
    """Adds a component and a build for each plugin of the manifest's engine that its template does not name."""
    for plugin in plugins:
        parts = plugin.name.split("-")
        if plugin.taken or len(parts) != 3 or parts[0] != manifest["engine"] or "needs" not in plugin.adapter:
            continue
        engine, release, origin = parts
        system, arch = plugin.platform
        if abi := plugin.adapter.get("cxx11_abi"):
            origin += f"-abi{abi}"
        component = f"{engine}-plugin-{release}-{origin}-{system}-{arch}"
        if component in manifest["components"]:
            raise Broken(f"two plugins are called {plugin.name}, and {plugin.file} is one of them")
        manifest["components"][component] = {"plugin_of": plugin.name, "os": system, "arch": arch}
        if abi:
            manifest["components"][component]["cxx11_abi"] = abi
        capabilities = next((build["capabilities"] for build in manifest["builds"]
                             if build["flavor"] == "cpu" and "capabilities" in build), [])
        manifest["builds"].append({
            "id": f"{engine}-{release}-cpu-{system}-{arch}-{origin}", "version": release, "flavor": "cpu",
            "os": system, "arch": arch, "requires": {"libraries": plugin.adapter["needs"]},
            "plugin": {"component": component, "path": plugin.file.name}, "components": [], "search": [],
            "capabilities": capabilities, "priority": -2})


def name_files(manifest: dict, table: dict) -> None:
    """Adds the tree, every file and the ranges of a published archive, from the table that name_files.py makes."""
    for identifier, component in manifest["components"].items():
        known = table.get(identifier)
        for artifact in component.get("artifacts", []):
            if known and artifact["sha256"] == known["sha256"]:
                artifact["tree"] = known["tree"]
                artifact["files"] = [{"path": one[0], "size": one[1], "sha256": one[2],
                                      **({"executable": True} if len(one) > 3 else {})} for one in known["files"]]
                if "ranges" in known:
                    artifact["ranges"] = [{"begin": begin, "end": end} for begin, end in known["ranges"]]


def add_headers(manifest: dict, table: dict) -> None:
    """Adds which headers a published archive has, from the table that name_headers.py makes."""
    for component in manifest["components"].values():
        for artifact in component.get("artifacts", []):
            if known := table.get(artifact["sha256"]):
                artifact["headers"] = {**known, "ranges": [{"begin": begin, "end": end} for begin, end in known["ranges"]]}


def tree_of(path: str, content: bytes) -> str:
    """The tree id of an archive that contains only this executable file (cache/tree_list.hpp)."""
    line = f"X {len(content)} {hashlib.sha256(content).hexdigest()} {path}\n"
    return hashlib.sha256(line.encode()).hexdigest()


def packed(compiled: Compiled, path: str, name: str, files: dict) -> list:
    """The artifacts of a component that has only this file, at `path` in the view; adds its archive to `files`."""
    content = compiled.content
    archive = archive_of(path, content)
    digest = hashlib.sha256(archive).hexdigest()
    place = f"files/{name}-{'-'.join(compiled.platform)}-{digest[:16]}.tar.gz"
    files[place] = archive
    return [{"sha256": digest, "size": len(archive), "archive": "tar.gz", "tree": tree_of(path, content),
             "files": [{"path": path, "size": len(content), "executable": True,
                        "sha256": hashlib.sha256(content).hexdigest()}],
             "sources": [{"file": place}]}]


def fill(template: dict, plugins: list, options: argparse.Namespace, files: dict) -> dict:
    """Returns the manifest of a template; adds the archives that it refers to to `files` under their paths."""
    manifest = template
    filled = fill_components(manifest, plugins, options, files)
    add_others(filled, plugins)
    return fill_stand_ins(fill_components(filled, plugins, options, files), options, files)


def fill_components(manifest: dict, plugins: list, options: argparse.Namespace, files: dict) -> dict:
    for identifier, component in manifest["components"].items():
        if "plugin_of" not in component:
            continue
        plugin, system, arch = (component[key] for key in ("plugin_of", "os", "arch"))
        users = [build for build in manifest["builds"] if build["plugin"]["component"] == identifier]
        chosen = choose(component, plugins)
        component.setdefault("license", "enginehost")
        component["version"] = options.version
        if chosen is None:
            component["artifacts"] = []
            here = (system, arch) == (options.os, options.arch)
            for build in users:
                reason = build.get("not_built") or ("its plugin was not compiled" if here else
                                                    f"its plugin (target engine_{plugin}) was not compiled for {system} {arch}")
                build["not_built"] = reason + (MAKES_PLUGINS.get(system, "") if here and ";" not in reason else "")
            continue
        file = chosen.file
        component["artifacts"] = packed(chosen, file.name, file.name.split(".")[0], files)
        if chosen.adapter:
            component["adapter"] = chosen.adapter
        versions = symbol_versions(chosen.content)
        for build in users:
            build.pop("not_built", None)
            if build["plugin"]["path"] != file.name:
                raise Broken(f"build {build['id']} calls its plugin {build['plugin']['path']}, compiled was {file.name}")
            for family, name in (("GLIBC", "glibc"), ("GLIBCXX", "glibcxx"), ("CXXABI", "cxxabi")):
                if family in versions:
                    raise_requirement(build.setdefault("requires", {}), name, versions[family])
    return manifest


def fill_stand_ins(manifest: dict, options: argparse.Namespace, files: dict) -> dict:
    made = [Compiled(pathlib.Path(one).name, one, options) for one in options.stand_in]
    compiled = {(one.name, *one.platform): one for one in made}
    for identifier, component in manifest["components"].items():
        if "stands_in_for" not in component:
            continue
        name, = component["stands_in_for"]
        system, arch = component.pop("os"), component.pop("arch")
        component.setdefault("license", "enginehost")
        component["version"] = options.version
        component["artifacts"] = []
        if one := compiled.get((name, system, arch)):
            component["artifacts"] = packed(one, f"stand-ins/{name}", f"stand-in-{name}", files)
            continue
        for build in manifest["builds"]:
            if identifier in build["components"]:
                build.setdefault("not_built", f"its stand-in for {name} was not compiled for {system} {arch}")
    return manifest


def instant(seconds: int) -> str:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def previous(path: pathlib.Path) -> dict:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}


def pack(options: argparse.Namespace) -> None:
    plugins = [Compiled(*one.partition("=")[::2], options) for one in options.plugin]
    output = pathlib.Path(options.output)
    old = previous(output / "index.json")
    now = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    serial = max(now, old.get("serial", 0) + 1)
    stamps = {"serial": serial, "created": instant(now), "expires": instant(now + EXPIRES_AFTER_DAYS * 86400)}

    files, manifests = {}, []
    table = json.loads(pathlib.Path(options.files).read_text()) if options.files else {}
    headers = json.loads(pathlib.Path(options.headers).read_text()) if options.headers else {}
    for template in sorted(pathlib.Path(options.templates).glob("*.json")):
        try:
            manifests.append(fill(json.loads(template.read_text().replace("@VERSION@", options.version)), plugins, options,
                                  files))
            name_files(manifests[-1], table)
            add_headers(manifests[-1], headers)
        except (Broken, KeyError, TypeError, ValueError) as error:
            raise Broken(f"{template}: {type(error).__name__}: {error}") from error

    # An unchanged manifest keeps its stamps, and with them its digest.
    known = {before.get("engine"): before
             for before in (previous(output / entry["path"]) for entry in old.get("manifests", []))}
    entries = []
    for manifest in manifests:
        before = known.get(manifest["engine"], {})
        kept = {key: before.get(key) for key in stamps}
        manifest.update(kept if to_bytes({**manifest, **kept}) == to_bytes(before) else stamps)
        content = to_bytes(manifest)
        digest = hashlib.sha256(content).hexdigest()
        # The path names the engine, so that a request for another one does not read the manifest.
        path = f"manifests/{manifest['engine']}-{digest}.json"
        files[path] = content
        entries.append({"path": path, "sha256": digest, "size": len(content)})
    index = {"format": 1, "name": options.name, **stamps, "manifests": entries}
    if options.vendor_facts:
        content = pathlib.Path(options.vendor_facts).read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        path = f"vendor-facts/{digest}.json"
        files[path] = content
        index["vendor_facts"] = {"path": path, "sha256": digest, "size": len(content)}
    for path, content in files.items():
        place = output / path
        if not place.is_file() or place.read_bytes() != content:
            write(place, content)
    if {**index, **{key: old.get(key) for key in stamps}} != old:
        write(output / "index.json", to_bytes(index))
    for folder in ("files", "manifests", "vendor-facts"):
        for place in (output / folder).glob("*"):
            if f"{folder}/{place.name}" not in files:
                place.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     fromfile_prefix_chars="@")
    for required in ("templates", "output", "name", "version", "os", "arch"):
        parser.add_argument(f"--{required}", required=True)
    parser.add_argument("--files", metavar="TABLE", help="the table of name_files.py")
    parser.add_argument("--vendor-facts", metavar="FILE", help="the document of vendor facts")
    parser.add_argument("--headers", metavar="TABLE", help="the table of name_headers.py")
    parser.add_argument("--plugin", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--stand-in", action="append", default=[], metavar="FILE")
    try:
        pack(parser.parse_args())
    except (Broken, OSError) as error:
        print(f"pack_repository: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

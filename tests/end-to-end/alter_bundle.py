"""Writes a bundle with one altered file, whose lists agree with it: only a publisher's statement shows the change.

usage: alter_bundle.py BUNDLE PATH OUT   PATH: a file of a tree. Needs the program zstd.
"""
import hashlib
import json
import subprocess
import sys


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def entries_of(tar: bytes) -> dict:
    found, at = {}, 0
    while tar[at:at + 1] not in (b"\0", b""):
        name = tar[at:at + 100].rstrip(b"\0").decode()
        size = int(tar[at + 124:at + 135], 8)
        found[name] = tar[at + 512:at + 512 + size]
        at += 512 + (size + 511) // 512 * 512
    return found


def header(name: str, size: int) -> bytes:
    block = bytearray(512)
    for place, text in ((0, name.encode()), (100, b"0000644"), (108, b"0000000"), (116, b"0000000"),
                        (124, b"%011o" % size), (136, b"0" * 11), (148, b" " * 8), (156, b"0"), (257, b"ustar\x0000")):
        block[place:place + len(text)] = text
    block[148:155] = b"%06o\0" % sum(block)
    return bytes(block)


def main() -> int:
    bundle, path, out = sys.argv[1:]
    entries = entries_of(subprocess.run(["zstd", "-dcq", bundle], check=True, capture_output=True).stdout)
    bundle_list = json.loads(entries["bundle.json"])
    documents, files = ({one["sha256"]: entries["blobs/sha256/" + one["sha256"]] for one in bundle_list[kind]}
                        for kind in ("documents", "files"))
    trees = bundle_list["builds"][0]["trees"]
    for component, tree in list(trees.items()):
        lines = documents[tree].decode().splitlines()
        for number, line in enumerate(lines):
            kind, size, content, name = line.split(" ", 3)
            if name != path or kind == "L":
                continue
            altered = files.pop(content)[:-1] + b"!"
            files[digest(altered)] = altered
            lines[number] = f"{kind} {size} {digest(altered)} {name}"
            changed = "".join(sorted(one + "\n" for one in lines)).encode()
            del documents[tree]
            documents[digest(changed)] = changed
            trees[component] = digest(changed)
    for kind, contents in (("documents", documents), ("files", files)):
        bundle_list[kind] = [{"sha256": one, "size": len(contents[one])} for one in sorted(contents)]
    text = json.dumps(bundle_list, indent=1, ensure_ascii=False).encode() + b"\n"
    parts = [("bundle.json", text), ("spdx.json", entries["spdx.json"])]
    parts += [("blobs/sha256/" + one, contents[one]) for contents in (documents, files) for one in sorted(contents)]
    tar = b"".join(header(name, len(content)) + content + bytes(-len(content) % 512) for name, content in parts)
    subprocess.run(["zstd", "-qf", "--no-check", "-o", out], check=True, input=tar + bytes(1024))
    return 0


if __name__ == "__main__":
    sys.exit(main())

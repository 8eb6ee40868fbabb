#!/usr/bin/env python3
"""The catalog of failures against the sources: every class is made somewhere, every fact is set or read somewhere, what was
released stays, and no source names a class or a fact by text.

check_codes.py ROOT            prints one line a violation, exit status 1 if there is one
check_codes.py ROOT --count    prints how many texts of each kind there are, and how many there were before failures/ was written
"""
import pathlib
import re
import sys
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "failures"))
from generate import ENUMERATORS

CATALOG = "failures"
RELEASED = "tests/end-to-end/released_codes.txt"
FOLDERS = ("base", "cache", "host", "plugin-api", "engines", "tools")
# kind of text -> how it is found, and how many the sources had before there was failures/
TEXTS = {
    "code as text": (re.compile(r'"EH-[A-Z](?:[0-9]{2})?"'), 1461),
    "comparison with code text": (re.compile(r'(?:==|!=|starts_with\() ?"EH-'), 425),
    "fact as text": (re.compile(r'(?:\.|->)(?:with|values?)\(\s*"[a-z_]+"'), 2264),
}
# A process without memory writes its failure without the catalog; a person may leave "EH-" out.
ALLOWED = {"host/commands/common.cpp", "host/commands/posix/main.cpp", "host/explain/describe_code.cpp"}


def sources(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if "explain/catalog/" not in path.as_posix() and path.suffix in {".c", ".cpp", ".h", ".hpp", ".mm"} and path.is_file():
                yield path.relative_to(root).as_posix(), re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(errors="replace"), flags=re.S)


def catalog(root):
    """The classes by code, and the facts."""
    classes = {}
    for file in sorted((root / CATALOG).glob("*.toml")):
        table = tomllib.loads(file.read_text())
        if file.name == "facts.toml":
            facts = table["shown"] + table["hidden"]
        elif file.name != "shared.toml":
            classes.update({code: block for code, block in table.items() if isinstance(block, dict)})
    return classes, facts


def violations(root):
    classes, facts = catalog(root)
    used = set()
    for name, text in sources(root):
        used.update(re.findall(r"\b(?:Code|Key)::(\w+)", text))
        for kind, (pattern, _) in TEXTS.items():
            for found in pattern.findall(text) if name not in ALLOWED else ():
                yield f"{name}: {kind}: {found}"
    for code, block in classes.items():
        if (block["name"] in used) == ("retired" in block):
            yield f"{CATALOG}: {code} is {'retired and' if 'retired' in block else 'not'} made (Code::{block['name']})"
    for fact in facts:
        if ENUMERATORS.get(fact, fact) not in used:
            yield f"{CATALOG}/facts.toml: nothing sets {fact}"
    released = (root / RELEASED).read_text().split()
    for code in sorted(set(released) - set(classes)):
        yield f"{RELEASED}: {code} was released and is gone"
    for code in sorted(set(classes) - set(released)):
        yield f"{RELEASED}: {code} is missing: add it, and its meaning is fixed from then on"
    if len(classes) < 100:
        yield f"{CATALOG}: only {len(classes)} classes were found; does this check still read it?"


def main():
    root = pathlib.Path(sys.argv[1])
    if "--count" in sys.argv:
        for kind, (pattern, before) in TEXTS.items():
            print(f"{kind}: {sum(len(pattern.findall(text)) for _, text in sources(root))}, before {before}")
        return 0
    found = list(violations(root))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

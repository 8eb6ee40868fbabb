#!/usr/bin/env python3
"""Reads the C and C++ sources of the tree and reports what breaks the rules of docs/ARCHITECTURE.md.

check_architecture.py ROOT   prints one line a violation, exit status 1 if there is one.
"""
import itertools
import pathlib
import re
import sys

# The order is the rule: a module includes only itself and modules named before it.
ROOMS = ["base", "plugin-api", "cache", "engines", "manifests"] + [
    "host/" + name for name in (
        "vendor_facts", "binary", "linker", "platform", "settings", "transfer", "oci", "manifest", "installations", "history", "resolve",
        "acquire", "preflight", "explain", "load", "catalog", "consent", "context", "decision_cache", "attempt",
        "open", "offline", "engine_sdk", "sdk", "commands")] + [
    # The loader ends here: nothing above includes what publishers and authors of engines run.
    "tools/" + name for name in ("conformance", "oci", "offline", "publish", "follow", "commands")]

# The page that documents the order: its table has one row per module.
PAGE = "docs/ARCHITECTURE.md"
ROW = re.compile(r"^\| `([a-z-]+(?:/[a-z_]+)?)/?` \|", re.MULTILINE)

# Modules that may include less than what stands above them.
ONLY = {"plugin-api": set(), "cache": {"base"}, "engines": {"plugin-api"}, "tools/conformance": {"plugin-api"}}

# Parts of modules whose promise an include would break: folder -> (headers, the promise).
NOT_IN = {
    "host/resolve/": (("base/files.hpp", "base/child_process.hpp", "host/transfer/"),
                      "deciding is a pure function without input or output"),
    "host/linker/": (("base/child_process.hpp",), "where a loader would look is a pure function"),
    "host/load/helper/": (("base/sha256.hpp", "host/transfer/", "host/manifest/"),
                          "the helper stays small: no network, no cryptography"),
}

# Independent, so that an engine author can take the folder alone: its sources include each other by relative paths.
RELATIVE = "plugin-api/"

GENERATED = {"failures/names.hpp"}  # by failures/generate.py, in the build folder
OUTSIDE_ROOMS = {"tests", "examples"}  # may include anything
SKIPPED = re.compile(r"^(build.*|out|\.git|\.cache|__pycache__)$")
SUFFIXES = {".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".hxx"}
HEADERS = {".h", ".hh", ".hpp", ".hxx"}
LONGEST = 500
THIRD_PARTY = re.compile(r"^(nlohmann/|curl/|archive(_entry)?\.h$|openssl/|boost/)")
# Headers that one source includes, because the rest of the tree uses what that source makes of them.
ONE_SOURCE = {"boost/": "host/load/in_process/open_library.cpp"}
# Flags of loaders that change which file is opened, or what its symbols are bound to.
NEVER_PASSED = re.compile(r"\b(?:append_decorations|LOAD_WITH_ALTERED_SEARCH_PATH|load_with_altered_search_path|"
                          r"(?:RTLD|rtld)_(?:DEEPBIND|deepbind))\b")
ENVIRONMENT = re.compile(r"\b(?:secure_)?getenv\s*\(")
ENVIRONMENT_READERS = ("base/", "host/settings/", "host/platform/")
# Threads of an application may call while its process ends. `static T& x = *new T` is never destroyed.
DESTROYED_AT_EXIT = re.compile(
    r"^(?:[ \t]+static[ \t]+(?:const[ \t]+)?|(?:static[ \t]+|const[ \t]+)*)"
    r"std::(?:string|vector|map|set|unordered_\w+|optional|function|unique_ptr|shared_ptr|deque|list)\b(?!_view)"
    r"[^;(){}=&*]*[ \t>]\w+[ \t]*[;={]", re.MULTILINE)
ENDS_WITH_ITS_PROGRAM = ("host/commands/", "host/load/helper/")

TOKENS = re.compile(
    r'//[^\n]*|/\*.*?\*/'                                  # comments
    r'|R"(?P<fence>[^()\\\s]{0,16})\(.*?\)(?P=fence)"'     # raw text
    r'|"(?:\\.|[^"\\\n])*"'                                # text
    r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'",               # characters, not the separators of 1'000
    re.DOTALL)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)


def without(text, texts_too):
    """The source without comments (and, if asked, without string literals); line numbers stay as they are."""
    def replace(found):
        token = found.group(0)
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return '""' + "\n" * token.count("\n") if texts_too else token
    return TOKENS.sub(replace, text)


def sources(root):
    pending = [root]
    while pending:
        for entry in sorted(pending.pop().iterdir()):
            if entry.is_dir() and not entry.is_symlink():
                if not SKIPPED.match(entry.name):
                    pending.append(entry)
            elif entry.suffix in SUFFIXES:
                yield entry


def module_of(path):
    """The module of a path relative to the root, or None."""
    parts = path.split("/")
    if parts[0] in ("host", "tools"):
        name = "/".join(parts[:2]) if len(parts) > 2 else None
    else:
        name = parts[0]
    return name if name in ROOMS else None


def target_of(root, own, quoted, angled, public):
    """What an include names, relative to the root; None for headers of others."""
    if angled:
        return public.get(angled) or (angled if (root / angled).is_file() else None)
    if (root / quoted).is_file():
        return quoted
    if own.startswith(RELATIVE):
        for folder in (pathlib.PurePosixPath(own).parent, pathlib.PurePosixPath(RELATIVE)):
            if (root / folder / quoted).is_file():
                return (folder / quoted).as_posix()
    return public.get(quoted)


def may_include(module, own, target_room, target):
    if module == target_room:
        if module != "engines":
            return True
        return target.split("/")[1] in (own.split("/")[1], "support")
    if module in ONLY:
        return target_room in ONLY[module]
    if target_room == "engines":
        return False
    return ROOMS.index(target_room) < ROOMS.index(module)


def check_file(root, path, public):
    name = path.relative_to(root).as_posix()
    text = path.read_text(encoding="utf-8", errors="replace")
    module = module_of(name)
    lines = text.count("\n")
    if lines > LONGEST:
        yield f"{name}: {lines} lines; a file has one job and at most {LONGEST}"
    if path.suffix == ".hpp" and not re.search(r"^#pragma once$", without(text, True), re.MULTILINE):
        yield f"{name}: no #pragma once"
    if name.split("/")[0] in OUTSIDE_ROOMS:
        return
    if module is None:
        yield f"{name}: stands in no module of docs/ARCHITECTURE.md"
        return
    code = without(text, False)
    for include in INCLUDE.finditer(code):
        quoted, angled = include.groups()
        header = quoted or angled
        where = f"{name}:{code.count(chr(10), 0, include.start()) + 1}"
        if path.suffix in HEADERS and THIRD_PARTY.match(header):
            yield f"{where}: a header of ours includes <{header}>; it belongs into a source file"
        for headers, source in ONE_SOURCE.items():
            if header.startswith(headers) and name != source and path.suffix not in HEADERS:
                yield f"{where}: includes <{header}>; only {source} does"
        target = target_of(root, name, quoted, angled, public)
        if target is None:
            if quoted and quoted not in GENERATED and not THIRD_PARTY.match(quoted):
                yield f'{where}: "{quoted}" is no file of the tree; includes are written from the repository root'
            continue
        target_room = module_of(target)
        if target_room is None:
            yield f"{where}: includes {target}, which stands in no module"
        elif not may_include(module, name, target_room, target):
            yield f"{where}: {module} must not include {target} of {target_room}"
        for folder, (headers, promise) in NOT_IN.items():
            if name.startswith(folder) and target.startswith(headers):
                yield f"{where}: includes {target}, but {promise}"
    bare = without(text, True)
    for found in NEVER_PASSED.finditer(bare):
        yield f"{name}:{bare.count(chr(10), 0, found.start()) + 1}: names {found.group()}, which is passed to no loader"
    if not name.startswith(ENVIRONMENT_READERS):
        for found in ENVIRONMENT.finditer(bare):
            yield (f"{name}:{bare.count(chr(10), 0, found.start()) + 1}: reads the environment; "
                   "that is host/settings', host/platform's and base's")
    if module.startswith(("base", "cache", "host/")) and not name.startswith(ENDS_WITH_ITS_PROGRAM):
        for found in DESTROYED_AT_EXIT.finditer(bare):
            yield (f"{name}:{bare.count(chr(10), 0, found.start()) + 1}: is destroyed while threads may use it; "
                   "say static T& name = *new T")


def check_page(root):
    """Where the page's table and ROOMS part, a line."""
    if not (root / PAGE).is_file():
        return
    rows = ROW.findall((root / PAGE).read_text(encoding="utf-8"))
    for number, (listed, module) in enumerate(itertools.zip_longest(rows, ROOMS), 1):
        if listed != module:
            yield f"{PAGE}: module {number} is {listed or 'missing'}; the order that is kept has {module or 'none there'}"
            return


def check(root):
    """All violations below the root, as lines of text."""
    root = pathlib.Path(root)
    files = list(sources(root))
    # Public headers are included as <enginehost/...>, as those who install them do.
    public = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        if "/include/" in name and not name.startswith(tuple(OUTSIDE_ROOMS)):
            public[name.split("/include/", 1)[1]] = name
    violations = [violation for path in files for violation in check_file(root, path, public)]
    return [*check_page(root), *violations], len(files)


def main():
    violations, count = check(sys.argv[1])
    for violation in violations:
        print(violation)
    print(f"{count} sources read, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

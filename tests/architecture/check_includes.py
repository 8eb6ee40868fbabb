#!/usr/bin/env python3
"""Reports files of the modules that use a name without including, themselves or through headers of ours, what declares it.

check_includes.py ROOT   prints one line a violation, exit status 1 if there is one.

A build with precompiled headers (ENGINEHOST_PRECOMPILED_MODULES) does not notice these; one without them may fail. So only
what those headers declare is looked for.
"""
import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from check_architecture import INCLUDE, module_of, sources, target_of, without  # noqa: E402

ALGORITHMS = ("adjacent_find all_of any_of binary_search clamp copy copy_if copy_n count count_if equal equal_range erase fill "
              "fill_n find find_end find_first_of find_if find_if_not for_each generate includes inplace_merge is_sorted "
              "lexicographical_compare lower_bound max max_element merge min min_element minmax mismatch none_of nth_element "
              "partial_sort partition partition_point remove remove_copy remove_copy_if remove_if replace replace_if reverse rotate "
              "search set_difference set_intersection set_union sort stable_partition stable_sort transform unique upper_bound")


def std(*names):
    return r"\bstd::(?:" + "|".join(names) + r")\b"


# Header -> the names that are looked for, and other headers that are specified, or have always been made, to bring it.
# First what is precompiled (the list in cmake/EngineHost.cmake is the same), then what that brings along.
PRECOMPILED = {
    "algorithm": (std(*ALGORITHMS.split()), {"string", "filesystem", "functional", "regex"}),
    "chrono": (std("chrono"), {"filesystem", "thread", "condition_variable", "future", "mutex", "shared_mutex"}),
    "cstdint": (std("u?int(?:8|16|32|64)_t", "u?intptr_t"), set()),
    "filesystem": (std("filesystem"), set()),
    "functional": (std("function", "bind", "greater", "mem_fn", "reference_wrapper"), set()),
    "map": (std("map", "multimap"), set()),
    "memory": (std("unique_ptr", "shared_ptr", "weak_ptr", "make_unique", "make_shared"), {"filesystem", "future"}),
    "mutex": (std("mutex", "lock_guard", "unique_lock", "scoped_lock", "once_flag", "call_once"),
              {"condition_variable", "future", "shared_mutex"}),
    "optional": (std("optional", "nullopt"), set()),
    "set": (std("set", "multiset"), set()),
    "string": (std("string", "to_string"), {"filesystem", "sstream", "iostream", "fstream", "system_error", "regex"}),
    "string_view": (std("string_view"), {"string", "filesystem"}),
    "system_error": (std("error_code", "errc", "system_error", "generic_category"),
                     {"charconv", "filesystem", "mutex", "thread"}),
    "thread": (std("thread", "this_thread"), {"future"}),
    "utility": (std("pair", "exchange", "index_sequence"), {"map", "string", "vector", "memory", "algorithm", "unordered_map"}),
    "vector": (std("vector"), {"functional", "regex"}),
    "base/json.hpp": (r"\bJson\b", set()),
    "base/result.hpp": (r"\b(?:Result<|TRY\(|TRY_ASSIGN\()", set()),
}
BROUGHT_ALONG = {
    "array": (std("array"), set()),
    "atomic": (std("atomic", "atomic_flag", "memory_order_[a-z_]+"), set()),
    "cctype": (std("is(?:alnum|alpha|digit|lower|print|space|upper|xdigit)", "tolower", "toupper"), set()),
    "cerrno": (r"\berrno\b", set()),
    "cstdio": (r"\bFILE\b|" + std("fputs", "fprintf", "fwrite", "snprintf", "fopen", "fclose"), set()),
    "cstdlib": (std("getenv", "strto(?:l|ul|ll|ull|d)", "abort", "_?[eE]xit", "free", "malloc"), set()),
    "cstring": (std("mem(?:cpy|cmp|set|chr|move)", "str(?:len|cmp|chr|rchr|ncmp|error)"), set()),
    "ctime": (std("time_t", "time", "tm", "gmtime", "mktime", "strftime", "timespec"), set()),
    "initializer_list": (std("initializer_list"), {"string", "vector", "map", "set"}),
    "iomanip": (std("setw", "setfill", "quoted", "setprecision"), set()),
    "iterator": (std("back_inserter", "make_move_iterator", "istreambuf_iterator", "next", "prev", "advance"),
                 {"string", "vector", "map", "set", "algorithm"}),
    "limits": (std("numeric_limits"), set()),
    "sstream": (std("[io]?stringstream"), set()),
    "tuple": (std("tuple", "tie", "forward_as_tuple"), {"map", "functional"}),
    "type_traits": (std("is_same(?:_v)?", "decay_t", "remove_cvref_t", "enable_if_t", "conditional_t"),
                    {"string", "vector", "optional", "variant", "functional"}),
    "unordered_map": (std("unordered_map"), {"functional"}),
    "variant": (std("variant", "visit", "get_if", "holds_alternative", "monostate"), set()),
}
NAMES = {**PRECOMPILED, **BROUGHT_ALONG}
PATTERNS = {header: re.compile(pattern) for header, (pattern, _) in NAMES.items()}


class Tree:
    def __init__(self, root):
        self.root = root

    @functools.lru_cache(maxsize=None)
    def code(self, name):
        return without((self.root / name).read_text(encoding="utf-8", errors="replace"), False)

    @functools.lru_cache(maxsize=None)
    def brought(self, name):
        """Every header that a file includes, and what those of ours include."""
        brought, pending = set(), [name]
        while pending:
            own = pending.pop()
            for include in INCLUDE.finditer(self.code(own)):
                quoted, angled = include.groups()
                target = target_of(self.root, own, quoted, angled, {})
                found = target or quoted or angled
                if found not in brought:
                    brought.add(found)
                    if target:
                        pending.append(target)
        return brought

    def missing(self, name):
        brought = self.brought(name)
        text = without(self.code(name), True)
        for header, pattern in PATTERNS.items():
            if header == name or header in brought or brought & NAMES[header][1]:
                continue
            found = pattern.search(text)
            if found:
                line = text.count("\n", 0, found.start()) + 1
                shown = f'"{header}"' if "/" in header else f"<{header}>"
                yield f"{name}:{line}: {found.group(0)} is used, and nothing that is included brings {shown}"


def precompiled(root):
    """What cmake/EngineHost.cmake precompiles for the modules."""
    text = (root / "cmake/EngineHost.cmake").read_text(encoding="utf-8")
    found = re.search(r"enginehost_headers\(enginehost_module_headers([^)]*)\)", text)
    return {header.strip('<>"').removeprefix("${PROJECT_SOURCE_DIR}/") for header in found.group(1).split()}


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    tree = Tree(root)
    complaints = [f"cmake/EngineHost.cmake: {header} is precompiled, and {pathlib.Path(__file__).name} does not look for it"
                  for header in sorted(precompiled(root) - PRECOMPILED.keys())]
    for path in sources(root):
        name = path.relative_to(root).as_posix()
        module = module_of(name)
        if module is not None and module not in ("plugin-api", "engines") and path.suffix in (".cpp", ".hpp"):
            complaints += tree.missing(name)
    print("\n".join(complaints) or "every file includes what it uses of what is precompiled")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())

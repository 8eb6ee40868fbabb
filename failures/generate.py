#!/usr/bin/env python3
"""Generates C++ from the catalog of failure classes.

usage: generate.py OUTPUT

Reads the .toml files beside it and writes into the folder OUTPUT, each file only if its content changed:

failures/names.hpp    enum class Code, one name a class; enum class Area, one a file; enum class Key, one a fact
failures/names.cpp    their texts
failures/catalog.cpp  titles, causes and remedies

AREA.toml holds a class in each table [EH-L01]. It begins with "exit" and "category", which its classes share unless they name
others. The strings of a class are texts; "@name" stands for a text of shared.toml. "remedies" may be the code of another class,
whose remedies are meant. "retired" names what is made in place of a class that nothing makes any more.
host/explain/explain.hpp explains the other members and the slots of templates.

Exit status: 0 written, 1 a file has a mistake (file, table and remedy are printed).
"""
import pathlib
import re
import sys

try:
    import tomllib
except ImportError:
    sys.exit(f"generate.py: {sys.executable} is Python {sys.version.split()[0]}, and 3.11 or newer is needed to read TOML: name a newer "
             "one with -DPython3_EXECUTABLE=FILE")

HERE = pathlib.Path(__file__).resolve().parent
TEXTS = ("title", "unproduced", "meaning", "before", "after")
MEMBERS = {"name", "retired", "proof", "exit", "category", "causes", "remedies", *TEXTS}
REQUIRED = ("name", "title", "meaning", "causes", "remedies")
PROOFS = ("none", "produced", "from the file", "parsed", "described")
# Failed loads have a degree of proof.
OF_FAILED_LOADS = "FGLRWX"
# Facts whose released name is a macro or a withdrawn word, with their enumerators.
ENUMERATORS = {"errno": "errno_", "exception_code": "exception_number", "mended": "repaired"}
# Words of C++ and macros, which no class may have as its name.
RESERVED = {"class", "default", "operator", "new", "delete", "union", "signed", "unsigned", "register", "template", "this", "linux", "unix"}


class Mistake(Exception):
    pass


def read(name: str) -> dict:
    try:
        return tomllib.loads((HERE / name).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise Mistake(f"{name}: {error}") from error


def text_of(text: str, shared: dict, where: str) -> str:
    if not text.startswith("@"):
        return text
    if text[1:] not in shared:
        raise Mistake(f"{where}: {text} is not in shared.toml")
    return shared[text[1:]]


def check_slots(template: str, keys: set, where: str) -> None:
    """Each slot names a fact of facts.toml."""
    for slot in re.findall(r"\{([^}]*)\}", template):
        key = re.match(r"[?!+]?([a-z_0-9]*)", slot)[1]
        if key not in keys:
            raise Mistake(f"{where}: {{{slot}}} names {key!r}, which is not in facts.toml")


def load() -> tuple:
    """Returns the classes, sorted by code; the areas in the same order; and the facts by whether they are shown."""
    facts = read("facts.toml")
    keys = sorted(facts["shown"] + facts["hidden"])
    twice = [key for key in keys if keys.count(key) > 1]
    if twice:
        raise Mistake(f"facts.toml: {twice[0]} is there twice")
    shared = read("shared.toml")
    classes, by_name = {}, {}
    for file in sorted(HERE.glob("*.toml")):
        if file.name in ("facts.toml", "shared.toml"):
            continue
        tables = read(file.name)
        defaults = {member: tables.pop(member) for member in ("exit", "category")}
        for code, block in tables.items():
            where = f"{file.name}: {code}"
            if not re.fullmatch(r"EH-[A-Z][0-9]{2}", code):
                raise Mistake(f"{where} is not EH-, a letter and two digits")
            for member in REQUIRED:
                if member not in block or (member != "remedies" and not block[member]):
                    raise Mistake(f"{where} has no {member!r}")
            for member in block:
                if member not in MEMBERS:
                    raise Mistake(f"{where}: {member!r} is unknown (known: {', '.join(sorted(MEMBERS))})")
            if block["name"] in RESERVED or block["name"] in by_name:
                raise Mistake(f"{where}: the name {block['name']!r} is a word of C++, or that of {by_name.get(block['name'])}")
            by_name[block["name"]] = code
            if block.setdefault("proof", "produced") not in PROOFS:
                raise Mistake(f"{where}: proof is one of {', '.join(PROOFS)}")
            for member in TEXTS:
                block[member] = text_of(block.get(member, ""), shared, where)
            classes[code] = {**defaults, **block, "area": file.stem}
    for code, block in classes.items():
        for member in ("causes", "remedies"):
            if isinstance(block[member], str):
                if block[member] not in classes:
                    raise Mistake(f"{code}: {member} of {block[member]!r}, which is no class")
                block[member] = classes[block[member]][member]
            block[member] = [text_of(text, shared, code) for text in block[member]]
            for template in block[member]:
                check_slots(template, set(keys), code)
    classes = dict(sorted(classes.items()))
    areas = list(dict.fromkeys(block["area"] for block in classes.values()))
    return classes, areas, keys, set(facts["shown"])


def enumerator(key: str) -> str:
    return ENUMERATORS.get(key, key)


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def names_header(classes: dict, areas: list, keys: list) -> str:
    codes = "".join(f"  {block['name']},  // {code}: {block['title']}\n" for code, block in classes.items())
    return f"""// Generated by failures/generate.py.
#pragma once
#include <cstdint>

namespace enginehost {{

// A failure class. A released one never changes its meaning.
enum class Code : std::uint16_t {{
  none,
{codes}  unknown  // of a newer EngineHost, read from a record
}};

// The subject of a class: the letter of its code.
enum class Area : std::uint8_t {{
  none,
{"".join(f"  {area},{chr(10)}" for area in areas)}}};

// A kind of fact that supports a diagnosis.
enum class Key : std::uint16_t {{
{"".join(f"  {enumerator(key)},{chr(10)}" for key in keys)}  unlisted  // of a plugin or a newer EngineHost; the fact has its name
}};

}}  // namespace enginehost
"""


def names_source(classes: dict, areas: list, keys: list, shown: set) -> str:
    of_code = "".join(f"    {{{quoted(code)}, Area::{block['area']}}},\n" for code, block in classes.items())
    return f"""// Generated by failures/generate.py.
#include "base/failures.hpp"

namespace enginehost::failure_names {{

// In the order of Code.
const OfCode of_codes[] = {{
    {{"", Area::none}},
{of_code}    {{"EH-?", Area::none}},
}};
const std::size_t number_of_codes = std::size(of_codes);

// In the order of Key, which is sorted.
const OfKey of_keys[] = {{
{"".join(f"    {{{quoted(key)}, {'true' if key in shown else 'false'}}},{chr(10)}" for key in keys)}    {{"", true}},
}};
const std::size_t number_of_keys = std::size(of_keys);

}}  // namespace enginehost::failure_names
"""


def catalog(classes: dict) -> str:
    text = """// Generated by failures/generate.py.
#include "host/explain/explain.hpp"

namespace enginehost::explain {
namespace {

"""
    rows = ""
    for code, block in classes.items():
        proof = block["proof"].replace("from the file", "from_file") if code[3] in OF_FAILED_LOADS else "none"
        row = f"    {{.code = Code::{block['name']}, .proof = Proof::{proof}"
        for member in TEXTS:
            if block[member]:
                row += f",\n     .{member} = {quoted(block[member])}"
        for member in ("causes", "remedies"):
            if block[member]:
                variable = f"{member}_of_{code[3:]}"
                text += f"constexpr std::string_view {variable}[] = {{{', '.join(quoted(line) for line in block[member])}}};\n"
                row += f",\n     .{member} = {variable}"
        rows += row + f",\n     .exit_status = ExitStatus::{block['exit']}, .category = history::Category::{block['category']}}},\n"
    return text + f"""
constexpr Entry entries[] = {{
{rows}}};

}}  // namespace

std::span<const Entry> all() {{ return entries; }}

}}  // namespace enginehost::explain
"""


def write_if_changed(file: pathlib.Path, text: str) -> None:
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.write_text(text, encoding="utf-8")


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    try:
        classes, areas, keys, shown = load()
    except Mistake as mistake:
        print(f"generate.py: {mistake}", file=sys.stderr)
        return 1
    output = pathlib.Path(sys.argv[1]) / "failures"
    output.mkdir(parents=True, exist_ok=True)
    write_if_changed(output / "names.hpp", names_header(classes, areas, keys))
    write_if_changed(output / "names.cpp", names_source(classes, areas, keys, shown))
    write_if_changed(output / "catalog.cpp", catalog(classes))
    return 0


if __name__ == "__main__":
    sys.exit(main())

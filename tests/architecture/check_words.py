#!/usr/bin/env python3
"""Refuses the vocabulary that CONTRIBUTING.md lists as withdrawn, and pages that are hard to read.

check_words.py ROOT             checks code, comments and pages; one line a violation, exit status 1 if there is one
check_words.py ROOT --figures   also prints the sentence figures of each page
check_words.py ROOT FILE...     checks these files only (paths below ROOT)

Code: identifiers, comments and texts must not use a withdrawn word, and no comment begins with "Of", "Who" or "What". A
GoogleTest case is named in CamelCase, in at most 60 letters.
Pages: no withdrawn word, no sentence above 40 words, a mean of at most 18 words, no line past 120 columns outside tables
and code blocks. A code span counts as one word. Tables, headings and code blocks hold no sentences.
"""
import pathlib
import re
import shutil
import subprocess
import sys

LONGEST_SENTENCE = 40
LONGEST_MEAN = 18
LONGEST_LINE = 120
CODE = {".cpp", ".hpp", ".h", ".c", ".cu", ".mm", ".py", ".sh", ".cmake"}

# Withdrawn in code and pages alike, as whole words; an identifier is split at underscores and capitals before the search.
WORDS = {
    "ticket": "cached decision", "tickets": "cached decisions", "testimony": "dependency set", "testimonies": "dependency sets",
    "voucher": "covering directory", "witness": "dependency stamp, observer", "witnesses": "dependency stamps, observers",
    "foretold": "pending marker", "told": "reported, described", "tells": "prints, reports, shows",
    "telling": "reporting", "anew": "again, refresh", "overrule": "override", "overrules": "overrides",
    "overruled": "overridden", "mend": "repair", "mends": "repairs", "mended": "repaired", "mending": "repair",
    "heal": "repair", "heals": "repairs", "healed": "repaired", "healing": "repair",
    "vouch": "verify provenance", "vouches": "verifies", "vouched": "verified",
    "licence": "license", "licences": "licenses", "behaviour": "behavior", "colour": "color", "colours": "colors",
    "catalogue": "catalog", "catalogues": "catalogs", "neighbour": "neighbor", "neighbours": "neighbors",
    "recognise": "recognize", "recognised": "recognized", "recognises": "recognizes",
    "whoever": "a noun", "steering": "unsupported loader settings",
}
PHRASES = {
    r"set(?:s|ting)? aside": "quarantine", r"put(?:s|ting)? aside": "quarantine, move aside",
    r"words? of the dead": "stale marker", r"leave a word": "write a marker", r"by trying": "load check",
    r"walled in": "catch all", r"the house\b": "the structure", r"machine words": "machine key text",
    r"in vain": "without success",
}
IDENTIFIERS = (
    "key_turn", "loading_turn", "leave_word", "words_of_the_dead", "by_trying", "left_over", "told_of", "of_argument", "of_state",
    "put_back", "Weighing", "Deciding", "Gathering", "MachineLook", "machine_words", "passing_errors", "may_pass", "odd_places",
    "list_again", "through_program", "for_everybody", "walled_in", "Giver", "in_view_now", "TicketOffice", "FirstWork",
    "enginehost_room", "version_wish",
)
COMMENT_START = re.compile(r"^\s*(?://|#)\s+(Of|Who|Whoever|Whose|What|That) ")
GLOSSARY = "docs/CONTRIBUTING.md"  # its table lists the withdrawn words
TEST_NAME = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*\w+,\s*(\w+)\)", re.MULTILINE)
LONGEST_TEST_NAME = 60
# Files whose text is fixed elsewhere: published headers, inputs of tests, and the list itself.
LEFT_OUT = ("tests/abi/frozen/", "tests/fuzz/corpus/", "tests/architecture/check_words", "tests/profiles/", "LICENSE")


def words_of(text):
    """The text with identifiers split into words, lower case."""
    text = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text)
    return re.sub(r"[_\W]+", lambda gap: " " if set(gap.group(0)) <= {"_"} else gap.group(0), text).lower()


WORD_PATTERN = re.compile(r"(?<![a-z])(" + "|".join(sorted(WORDS, key=len, reverse=True)) + r")(?![a-z])")
PHRASE_PATTERNS = [(re.compile(r"\b" + phrase, re.IGNORECASE), better) for phrase, better in PHRASES.items()]
IDENTIFIER_PATTERN = re.compile(r"\b(" + "|".join(IDENTIFIERS) + r")\b")
# What a page or a line of code may contain although it holds a withdrawn word: names that are promised outside.
PROMISED = re.compile(r"\"(?:mend|mended|fetched_anew|layout_mended|witnesses|wishes|ticket)\\?\"|`(?:mend|mended|layout_mended|witnesses)`|\{[?!]mended\}|"
                      r"--[a-z-]*(?:licen[cs]es?|mend)[a-z-]*|\blicen[cs]es?\b(?=\.json)|\"licences?\"|'licences?'|"
                      r"ENGINEHOST_[A-Z_]*|ENGINE_[A-Z_]*|enginehost_[a-z_]*licen[a-z_]*|engine-cache licences?")


def vocabulary(name, text):
    for number, line in enumerate(text.splitlines(), 1):
        if name == GLOSSARY and line.startswith("|"):
            continue
        line = PROMISED.sub("", line)
        for found in WORD_PATTERN.finditer(words_of(line)):
            yield f"{name}:{number}: \"{found.group(1)}\": write {WORDS[found.group(1)]}"
        for pattern, better in PHRASE_PATTERNS:
            if found := pattern.search(line):
                yield f"{name}:{number}: \"{found.group(0)}\": write {better}"
        if not name.endswith(".md") and (found := IDENTIFIER_PATTERN.search(line)):
            yield f"{name}:{number}: {found.group(1)} is a withdrawn name"


def comment_starts(name, text):
    before_is_comment = False
    for number, line in enumerate(text.splitlines(), 1):
        is_comment = bool(re.match(r"^\s*(?://|#)", line))
        if is_comment and not before_is_comment and (found := COMMENT_START.match(line)):
            yield f"{name}:{number}: a comment begins with a noun or a verb, not with \"{found.group(1)}\""
        before_is_comment = is_comment


def test_names(name, text):
    for found in TEST_NAME.finditer(text):
        test = found.group(1).removeprefix("DISABLED_")
        if "_" in test or not test[0].isupper() or len(test) > LONGEST_TEST_NAME:
            line = text.count("\n", 0, found.start(1)) + 1
            yield f"{name}:{line}: {test}: a test is named in CamelCase, in at most {LONGEST_TEST_NAME} letters"


def paragraphs(text):
    """Runs of prose as one line each, with the number of their first line. Code blocks, tables and headings are left out."""
    run, first, fenced = [], 0, False
    for number, line in enumerate(text.splitlines() + [""], 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            line = ""
        elif fenced or line.startswith("    ") and not run:
            continue
        begins = re.match(r"\s*(?:[-*+]|\d+\.)\s+(.*)", line)
        if begins or not line.strip() or re.match(r"\s*[|#]", line):
            if run:
                yield first, " ".join(run)
            run = []
            line = begins.group(1) if begins else ""
        if line.strip():
            if not run:
                first = number
            run.append(line.strip().removeprefix("> "))


def sentences(text):
    """Every sentence of a page as (line of its paragraph, number of words, sentence)."""
    for first, paragraph in paragraphs(text):
        plain = re.sub(r"``?[^`]*``?", "code", paragraph)
        plain = re.sub(r"\]\([^)]*\)", "]", plain)
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+(?=[\"(*\[]?[A-Z0-9c])", plain):
            count = len([word for word in sentence.split() if re.search(r"\w", word)])
            if count:
                yield first, count, sentence


def page(name, text, figures):
    counts = []
    for line, count, sentence in sentences(text):
        counts.append(count)
        if count > LONGEST_SENTENCE:
            yield f"{name}:{line}: a sentence of {count} words: {sentence[:90]}…"
    mean = sum(counts) / len(counts) if counts else 0
    if mean > LONGEST_MEAN:
        yield f"{name}: sentences have {mean:.1f} words on average; at most {LONGEST_MEAN}"
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        if not fenced and len(line) > LONGEST_LINE and not line.lstrip().startswith("|"):
            yield f"{name}:{number}: {len(line)} columns"
    figures.append((name, len(counts), mean, max(counts, default=0)))


def files_of(root):
    """Names below the root, as git tracks them or, without git, as they lie there."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "-co", "--exclude-standard"], check=False,
                                capture_output=True, text=True)
        if listed.returncode == 0 and listed.stdout:
            return sorted(name for name in listed.stdout.split("\0") if name and (root / name).is_file())
    return sorted(path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file())


def check(root, names=None, figures=None):
    """All violations below the root, and how many files were read."""
    root, figures, violations, count = pathlib.Path(root), [] if figures is None else figures, [], 0
    for name in names or files_of(root):
        suffix = pathlib.PurePosixPath(name).suffix
        is_code = suffix in CODE or name.endswith("CMakeLists.txt")
        if name.startswith(LEFT_OUT) or not (is_code or suffix == ".md"):
            continue
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        count += 1
        violations += vocabulary(name, text)
        violations += [*comment_starts(name, text), *test_names(name, text)] if is_code else page(name, text, figures)
    return violations, count


def main():
    root, names, figures = sys.argv[1], [name for name in sys.argv[2:] if not name.startswith("--")], []
    violations, count = check(root, names, figures)
    for violation in violations:
        print(violation)
    if "--figures" in sys.argv:
        for name, number, mean, longest in figures:
            print(f"{name}: {number} sentences, mean {mean:.1f}, longest {longest}")
    print(f"{count} files read, {len(violations)} violations")
    return 1 if violations or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tests of failures/generate.py and of tests/architecture/check_codes.py, with copies of the catalog that have one mistake.

usage: generator_test.py SOURCE [unittest arguments]
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv.pop(1)).resolve()
CLASS = '''
[EH-L99]
name = "toy"
title = "a toy"
meaning = "It is broken."
causes = ["{library} is broken"]
remedies = []
'''


class Generator(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.scratch.name)
        shutil.copytree(SOURCE / "failures", self.root / "failures")
        self.addCleanup(self.scratch.cleanup)

    def generate(self):
        return subprocess.run([sys.executable, "-B", self.root / "failures/generate.py", self.root / "made"], capture_output=True,
                              text=True)

    def add(self, block: str, file: str = "linking.toml"):
        path = self.root / "failures" / file
        path.write_text(path.read_text() + block)

    def refused(self, *said: str):
        ran = self.generate()
        self.assertEqual(ran.returncode, 1, ran.stdout)
        for part in said:
            self.assertIn(part, ran.stderr)
        self.assertFalse((self.root / "made").exists(), "nothing is written of a catalog with a mistake")

    def test_makes_a_name_and_a_table_row_of_a_class(self):
        self.add(CLASS)
        self.assertEqual(self.generate().returncode, 0)
        self.assertIn("  toy,  // EH-L99: a toy\n", (self.root / "made/failures/names.hpp").read_text())
        self.assertIn('{"EH-L99", Area::linking}', (self.root / "made/failures/names.cpp").read_text())
        self.assertIn("Code::toy", (self.root / "made/failures/catalog.cpp").read_text())

    def test_refuses_mistakes(self):
        for block, said in ((CLASS.replace("{library}", "{libary}"), ("EH-L99", "'libary'", "facts.toml")),
                            (CLASS.replace("{library}", "{?libary}"), ("'libary'",)),
                            (CLASS.replace('"{library} is broken"', "'{\"file\": …} is broken'"), ("EH-L99", "facts.toml")),
                            (CLASS.replace('title = "a toy"\n', ""), ("EH-L99", "'title'")),
                            (CLASS.replace("remedies = []\n", ""), ("EH-L99", "'remedies'")),
                            (CLASS.replace("meaning", "meening"), ("EH-L99",)),
                            (CLASS.replace('"toy"', '"library_missing"'), ("'library_missing'", "EH-L01")),
                            (CLASS.replace('"toy"', '"class"'), ("'class'",)),
                            (CLASS.replace("L99", "L9"), ("EH-L9", "two digits")),
                            (CLASS.replace("remedies = []", 'remedies = ["@gone"]'), ("@gone", "shared.toml")),
                            (CLASS.replace("remedies = []", 'remedies = "EH-L98"'), ("EH-L98",)),
                            (CLASS + 'proof = "believed"\n', ("proof is one of",)),
                            (CLASS + "title\n", ("linking.toml", "line"))):
            with self.subTest(said=said):
                original = (self.root / "failures/linking.toml").read_text()
                self.add(block)
                self.refused(*said)
                (self.root / "failures/linking.toml").write_text(original)

    def test_refuses_a_fact_that_is_there_twice(self):
        path = self.root / "failures/facts.toml"
        path.write_text(path.read_text().replace("hidden = [", 'hidden = [\n  "file",', 1))
        self.refused("file is there twice")

    def test_writes_only_what_changed(self):
        self.assertEqual(self.generate().returncode, 0)
        before = {file.name: file.stat().st_mtime_ns for file in (self.root / "made/failures").iterdir()}
        path = self.root / "failures/linking.toml"
        path.write_text(path.read_text().replace("searches.", "looks into.", 1))
        self.assertEqual(self.generate().returncode, 0)
        changed = {file.name for file in (self.root / "made/failures").iterdir() if file.stat().st_mtime_ns != before[file.name]}
        self.assertEqual(changed, {"catalog.cpp"})

    def test_the_check_refuses_what_nothing_makes_and_text_in_sources(self):
        for folder in ("base", "cache", "plugin-api", "engines", "tools"):
            (self.root / folder).mkdir()
        shutil.copytree(SOURCE / "host/explain", self.root / "host/explain")
        (self.root / "tests/end-to-end").mkdir(parents=True)
        shutil.copy(SOURCE / "tests/end-to-end/released_codes.txt", self.root / "tests/end-to-end")
        self.add(CLASS)
        (self.root / "base/a.cpp").write_text('auto a = diagnose("EH-L01").with("library", "x");\n// "EH-L02"\n')
        checked = subprocess.run([sys.executable, "-B", SOURCE / "tests/architecture/check_codes.py", self.root], capture_output=True,
                                 text=True)
        self.assertEqual(checked.returncode, 1)
        for line in ("base/a.cpp: code as text", "base/a.cpp: fact as text", "EH-L99 is not made (Code::toy)", "EH-L99 is missing"):
            self.assertIn(line, checked.stdout)
        self.assertNotIn('"EH-L02"', checked.stdout)


if __name__ == "__main__":
    unittest.main()

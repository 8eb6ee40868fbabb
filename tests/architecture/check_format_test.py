#!/usr/bin/env python3
"""Tests of the format check: differing files are named, excluded ones are not."""
import pathlib
import sys
import tempfile
import unittest

import check_format


class Format(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            kept = {"base/kept.hpp": "", "host/load/audit/audit.c": "", "tests/abi/frozen/kept.h": ""}
            for name, text in {**kept, **files}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text)
            (root / ".clang-format").write_text("BasedOnStyle: Google\n")
            return check_format.check(root, check_format.program())[0]

    def test_a_file_that_differs_is_named(self):
        self.assertEqual(self.violations({"host/a.cpp": "int a = 1;\n", "host/b.hpp": "#pragma once\n"}), [])
        found = self.violations({"host/a.cpp": "int  a = 1;\n", "host/b.cpp": "int b = 1;\n", "tests/c.c": "int c=1;\n"})
        self.assertEqual([line.split(":")[0] for line in found], ["host/a.cpp", "tests/c.c"])

    def test_a_file_that_switches_it_off_may_look_as_it_likes(self):
        off = "/* clang-format off */ /* columns */\nint  a = 1;\n"
        self.assertEqual(self.violations({"host/a.h": off}), [])
        self.assertEqual(len(self.violations({"host/a.h": off.replace("off */ /*", "off:")})), 1)

    def test_what_is_left_out_is_not_read(self):
        self.assertEqual(self.violations({"base/x.hpp": "int  a;\n", "tests/abi/frozen/x.h": "int  a;\n"}), [])
        self.assertEqual(len(self.violations({"base/x.cpp": "int  a;\n"})), 1)


if __name__ == "__main__":
    if check_format.program() is None:
        print(f"skipped: clang-format {check_format.VERSION} is not installed")
        sys.exit(check_format.SKIPPED)
    unittest.main()

#!/usr/bin/env python3
"""Tests of check_includes.py with small trees."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("check_includes.py")


class Includes(unittest.TestCase):
    def said(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, "-B", CHECK, folder], capture_output=True, text=True, check=False)
            return done.returncode, done.stdout

    def assert_clean(self, files):
        self.assertEqual(self.said(files), (0, "every file includes what it uses\n"))

    def test_a_name_that_nothing_brings_is_reported_with_its_line(self):
        status, said = self.said({"base/a.cpp": "#include <string>\n\nstd::vector<int> x;\n"})
        self.assertEqual(status, 1)
        self.assertEqual(said, "base/a.cpp:3: std::vector is used, and nothing that is included brings <vector>\n")

    def test_what_a_precompiled_header_brings_along_is_looked_for_too(self):
        status, said = self.said({"cache/a.cpp": "#include <vector>\nstd::array<int, 2> x;\n"})
        self.assertEqual(status, 1)
        self.assertIn("brings <array>", said)

    def test_a_header_of_ours_brings_what_it_includes_however_deep(self):
        self.assert_clean({"base/a.hpp": "#include <vector>\n", "base/b.hpp": '#include "base/a.hpp"\n',
                           "host/open/a.cpp": '#include "base/b.hpp"\nstd::vector<int> x;\n'})

    def test_headers_of_ours_are_looked_for(self):
        status, said = self.said({"base/result.hpp": "", "base/a.cpp": "void f() { TRY(g()); }\n"})
        self.assertEqual(status, 1)
        self.assertIn('TRY( is used, and nothing that is included brings "base/result.hpp"', said)

    def test_comments_and_texts_use_nothing(self):
        self.assert_clean({"base/a.cpp": '// std::vector\nconst char* x = "std::vector";\n'})

    def test_tests_and_the_plugin_interface_are_left_alone(self):
        self.assert_clean({"tests/a.cpp": "std::vector<int> x;\n", "plugin-api/a.hpp": "std::vector<int> x;\n"})


if __name__ == "__main__":
    unittest.main()

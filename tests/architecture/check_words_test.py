#!/usr/bin/env python3
"""Tests of check_words.py on small trees."""
import pathlib
import tempfile
import unittest

import check_words


class Words(unittest.TestCase):
    def violations(self, files):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for name, text in files.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_text(text, encoding="utf-8")
            return check_words.check(root, sorted(files))[0]

    def assert_refused(self, name, text, part):
        found = self.violations({name: text})
        self.assertEqual(len(found), 1, found)
        self.assertIn(part, found[0])

    def test_withdrawn_words_are_refused_in_comments_identifiers_and_texts(self):
        self.assert_refused("base/a.cpp", "// The reason is told once.\n", 'base/a.cpp:1: "told"')
        self.assert_refused("base/a.cpp", "int told_once = 0;\n", '"told"')
        self.assert_refused("base/a.cpp", "int isTold = 0;\n", '"told"')
        self.assert_refused("base/a.cpp", 'auto text = "the file is mended";\n', '"mended"')
        self.assert_refused("scripts/a.sh", "# Builds it anew.\n", '"anew"')
        self.assert_refused("docs/a.md", "The build is set aside.\n", '"set aside"')
        self.assert_refused("host/a.cpp", "take_words(words_of_the_dead);\n", "words_of_the_dead")

    def test_plain_words_pass(self):
        self.assertEqual(self.violations({"base/a.cpp": "// Reports the reason once. Untold files stay.\nint retold;\n"}), [])

    def test_json_keys_flags_and_c_names_stay(self):
        self.assertEqual(self.violations({"host/a.cpp": 'json.set("mended", 1);\nint x = ENGINE_CANCELLED;\n'}), [])

    def test_a_comment_begins_with_a_noun_or_a_verb(self):
        self.assert_refused("base/a.hpp", "// Of files that are there.\nint x;\n", "begins with a noun")
        self.assert_refused("base/a.hpp", "int x;\n// What the loader does.\n", "begins with a noun")
        self.assertEqual(self.violations({"base/a.hpp": "// A loader prints\n// What it does.\n"}), [])

    def test_test_names_have_one_casing_and_a_limit(self):
        self.assert_refused("tests/a.cpp", "TEST(Suite, a_name) {}\n", "CamelCase")
        self.assert_refused("tests/a.cpp", "TEST_F(Suite,\n       " + "A" * 61 + ") {}\n", "60")
        self.assertEqual(self.violations({"tests/a.cpp": "TEST_P(Suite, RefusesAnEmptyFile) {}\n"}), [])

    def test_long_sentences_and_lines_of_pages_are_refused(self):
        self.assert_refused("docs/a.md", "Short one. " * 9 + "\nWord" + "\nword" * 40 + ".\n", "41 words")
        self.assert_refused("docs/a.md", "It " + "does\n" * 19 + "it.\n", "21.0 words on average")
        self.assert_refused("docs/a.md", "https://" + "x" * 120 + "\n", "128 columns")

    def test_tables_code_and_headings_hold_no_sentences(self):
        long = "word " * 45
        self.assertEqual(self.violations({"docs/a.md": f"# {long[:100]}\n\n| {long}{long} |\n\n```\n{long}{long}\n```\n"}), [])

    def test_a_code_span_is_one_word_and_items_are_sentences_of_their_own(self):
        items = "".join(f"- item {number} has `{'x ' * 45}` in it\n" for number in range(9))
        self.assertEqual(self.violations({"docs/a.md": items}), [])

    def test_the_glossary_may_list_withdrawn_words_in_its_table_only(self):
        self.assertEqual(self.violations({"docs/CONTRIBUTING.md": "| told | reported |\n"}), [])
        self.assert_refused("docs/CONTRIBUTING.md", "It is told.\n", '"told"')


if __name__ == "__main__":
    unittest.main()

"""Tests of the figures about the package index, with invented reports."""
import json
import pathlib
import unittest

import follow_figures as figures

PLANS = pathlib.Path(__file__).resolve().parents[2] / "manifests/plans"
PAGE = "# Figures\n\nText.\n\n## How it is measured\n\nMore.\n"


def measured(archives, seconds=5, states=("new",)):
    return figures.Measured({"rows": [{"name": "toy", "version": "1.0", "state": state} for state in states], "archives": archives}, seconds)


def archive(size, fetched, whole):
    return {"file": "toy.whl", "size": size, "fetched": fetched, "whole": whole}


class Sections(unittest.TestCase):
    def test_come_before_the_last_chapter_and_are_replaced(self):
        page = figures.with_section(PAGE, figures.HEADING + "\n\nold\n")
        self.assertEqual(page, "# Figures\n\nText.\n\n" + figures.HEADING + "\n\nold\n\n## How it is measured\n\nMore.\n")
        self.assertEqual(figures.section_in(page), figures.HEADING + "\n\nold\n")
        self.assertEqual(figures.with_section(page, figures.HEADING + "\n\nnew\n"), page.replace("old", "new"))
        self.assertEqual(figures.section_in(PAGE), "")


class Goals(unittest.TestCase):
    def lines(self, everything, own, adapter=figures.Adapter()):
        return list(figures.lines_of("onnxruntime", everything, own, adapter))

    def test_compare_whole_wheels_with_their_sizes(self):
        everything = measured([archive(100_000_000, 109_000_000, True), archive(500_000_000, 9_000_000, False)])
        own = measured([archive(40_000_000, 29_000_000, False)])
        lines = self.lines(everything, own)
        self.assertIn("| <= 1.1 x | 1.09 x | yes |", lines[0])
        self.assertIn("118 MB in all", lines[0])
        self.assertIn("| <= 30 MB | 29 MB | yes |", lines[1])
        self.assertIn("| <= 10 s | 5 s | yes |", lines[2])
        with_adapter = self.lines(everything, own, figures.Adapter(seconds=6, fetched=2_000_000))
        self.assertIn("| <= 30 MB | 31 MB | **no** |", with_adapter[1])
        self.assertIn("| <= 10 s | 11 s | **no** |", with_adapter[2])

    def test_that_are_missed_or_of_failed_rows_are_said(self):
        everything = measured([archive(100_000_000, 111_000_000, True)])
        own = measured([archive(40_000_000, 31_000_000, False)], seconds=11)
        self.assertTrue(all("**no**" in line for line in self.lines(everything, own)))
        self.assertIn("**no**", self.lines(measured([archive(1, 1, True)], states=("failed",)), own)[0])


class OwnRows(unittest.TestCase):
    def test_are_one_row_of_each_plan(self):
        for engine in figures.ENGINES:
            plan = json.loads((PLANS / f"{engine}.json").read_text(encoding="utf-8"))
            for system, arch in (("linux", "x86_64"), ("linux", "aarch64")):
                own = figures.own_row(plan, system, arch)
                self.assertEqual([len(track["rows"]) for track in own["tracks"]], [1])
                self.assertEqual(own["tracks"][0]["newest"], 1)


if __name__ == "__main__":
    unittest.main()

"""Tests of the page of figures, with invented figures."""
import importlib.util
import pathlib
import unittest

spec = importlib.util.spec_from_file_location("write_figures", pathlib.Path(__file__).with_name("write_figures.py"))
figures = importlib.util.module_from_spec(spec)
spec.loader.exec_module(figures)

STAT = {"store/find_285_files": [{"find_ns": 9e5, "stat_ns": 285 * 1000.0}]}


class GoalsInMilliseconds(unittest.TestCase):
    def notes(self, runs):
        return "\n".join(figures.what_a_stat_costs({**STAT, **runs}))

    def test_that_were_missed_are_listed_in_stats(self):
        notes = self.notes({"detect/first": [{"detect_ns": 2e6, "read_ns": 1e5}]})
        self.assertIn("A `stat` call takes 1 us on this machine.", notes)
        self.assertIn("detection without drivers, first: 2000 stats; the goal of 1 ms is 2000 stats", notes)
        self.assertIn("check that an installed build of 285 files is unchanged: 900 stats; the goal of 0.6 ms is 1200 stats",
                      notes)

    def test_that_were_met_are_not_listed(self):
        self.assertNotIn("detection", self.notes({"detect/first": [{"detect_ns": 9e5, "read_ns": 1e5}]}))

    def test_of_warm_opens_are_the_time_above_the_floor(self):
        run = {"open_ns": 1.9e6, "create_ns": 1.4e6, "dlopen_ns": 1e6, "look_ns": 8e4, "again_ns": 1.0}
        notes = self.notes({"open/reference": [run]})
        self.assertIn("warm open of an installed, proven build: reference: 500 stats; the goal of 0.15 ms is 300 stats",
                      notes)
        self.assertNotIn("which does not include create()", notes)
        self.assertIn("depends on takes 80 us.", notes)

    def verdict_of(self, above_ns):
        run = {"open_ns": 1e6 + above_ns, "create_ns": 1e6, "dlopen_ns": 1e6, "look_ns": 8e4, "again_ns": 1.0}
        row = next(line for line in figures.table({**STAT, "open/reference": [run]}, {}) if "warm open" in line)
        return row.split("|")[4].strip()

    def test_are_judged_by_time_and_then_by_stats(self):
        self.assertEqual(self.verdict_of(1.4e5), "yes")
        self.assertEqual(self.verdict_of(2.9e5), "in stats")
        self.assertEqual(self.verdict_of(3.1e5), "**no**")

    def test_every_goal_in_milliseconds_is_one(self):
        for row in figures.ROWS:
            self.assertEqual(row.time is not None, " ms" in row.goal, row.what)


if __name__ == "__main__":
    unittest.main()

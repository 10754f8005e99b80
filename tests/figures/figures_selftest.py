"""The comparison of figures with what is expected notices what it must: see figures_test.py."""

import dataclasses
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import figures_test as checks  # noqa: E402 (which finds the report's modules)
import expected  # noqa: E402
import reproduction  # noqa: E402
from figure import Data, Figure, Finding, Plot  # noqa: E402

RATES = [0.010, 0.011, 0.009, 0.0105]


def table(rows):
    """Data of [(x, repetition, y, panel, series)]."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("x,repetition,y,panel,series\n")
        file.writelines(",".join(map(str, row)) + "\n" for row in rows)
        file.flush()
        return Data(file.name)


def rates(factor=1.0, panel="", series="errors", xs=(1, 2)):
    return [(x, i, y * x * factor, panel, series) for x in xs for i, y in enumerate(RATES)]


def figure(plots=None, finding=lambda data: Finding("It holds.", True), **more):
    return Figure("kbf-99", "Figure 99", "Errors", claim="Few.", finding=finding,
                  plots=plots or [Plot("x", "rate")], **more)


class Comparison(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)

    def recorded(self, rows, what=None):
        lines, problems = expected.expect(what or figure(), table(rows))
        self.assertEqual(problems, [])
        expected.write_expected("kbf-99", lines, self.directory)
        return expected.read_expected("kbf-99", self.directory)

    def problems(self, before, after, what=None):
        what = what or figure()
        return list(expected.compare(what, table(after), self.recorded(before, what)))

    def test_same_run_passes(self):
        self.assertEqual(self.problems(rates(), rates()), [])

    def test_moved_by_two_is_refused(self):
        for factor in (2, 0.5):
            self.assertEqual(len(self.problems(rates(), rates(factor))), 2)

    def test_one_point_moved_by_two_is_refused(self):
        self.assertEqual(len(self.problems(rates(), rates(xs=[1]) + rates(2, xs=[2]))), 1)

    def test_recorded_tolerances_are_tight(self):
        self.assertEqual(list(checks.check_tight(figure(), self.recorded(rates()))), [])
        wide = {("", "errors", "1"): (0.01, 0.5)}
        self.assertEqual(len(list(checks.check_tight(figure(), wide))), 1)

    def test_an_engine_needs_one_tight_value(self):
        wide = {("", "errors p=0.1", "1"): (0.01, 0.5), ("", "errors p=0.01", "1"): (0.001, 2),
                ("", "none", "1"): (0, 0.1)}
        self.assertEqual(len(list(checks.check_engines(figure(), wide))), 1)
        wide["", "errors p=0.1", "1"] = (0.01, 0.4)
        self.assertEqual(list(checks.check_engines(figure(), wide)), [])

    def test_within_the_spread_passes(self):
        self.assertEqual(self.problems(rates(), rates(1.04)), [])

    def test_share_near_one_counts_as_error_rate(self):
        def shares(factor):
            return [(1, i, 1 - factor * y, "", "found") for i, y in enumerate(RATES)]
        self.assertEqual(self.problems(shares(1), shares(1.03)), [])
        self.assertEqual(len(self.problems(shares(1), shares(2))), 1)

    def test_size_above_one_is_no_share(self):
        sizes = [(1, 0, 0.99, "", "bytes"), (2, 0, 7, "", "bytes")]
        self.assertEqual(self.recorded(sizes)[("", "bytes", "1")], (0.99, 0.05))

    def test_zero_stays_zero(self):
        none = [(1, 0, 0, "", "errors"), (2, 0, 0, "", "errors")]
        one = [(1, 0, 0, "", "errors"), (2, 0, 1e-6, "", "errors")]
        self.assertEqual(self.problems(none, none), [])
        self.assertEqual(len(self.problems(none, one)), 1)

    def test_zero_beside_others_has_their_bound(self):
        def tail(last):
            return rates() + [(3, 0, last, "", "errors")]
        self.assertEqual(self.problems(tail(0), tail(0.01)), [])
        self.assertEqual(len(self.problems(tail(0), tail(0.02))), 1)

    def test_missing_and_extra_points_are_refused(self):
        more = rates() + rates(series="more")
        self.assertIn("has no expected value", self.problems(rates(), more)[0])
        self.assertIn("was not measured", self.problems(more, rates())[0])

    def test_times_are_not_compared(self):
        plots = [Plot("x", "rate"), Plot("x", "time", panel="time", timed=True)]
        before = rates() + rates(panel="time")
        self.assertEqual(self.problems(before, rates() + rates(9, "time"), figure(plots)), [])

    def test_too_wide_is_not_recorded(self):
        noise = [(1, i, y, "", "errors") for i, y in enumerate([0.01, 0.03, 0.02])]
        _, problems = expected.expect(figure(), table(noise))
        self.assertIn("varies too much", problems[0])
        loose = figure([Plot("x", "rate", loose=("errors",))])
        self.assertEqual(expected.expect(loose, table(noise))[1], [])

    def test_words_and_last_digits_of_x(self):
        bars = [("small", 0, 3, "", "bytes"), ("large", 0, 5, "", "bytes")]
        self.assertEqual(self.problems(bars, bars), [])
        self.assertEqual(self.problems([(0.1, 0, 3, "", "b")], [(0.100000001, 0, 3, "", "b")]), [])


class Descriptions(unittest.TestCase):
    def panel_problems(self, rows, **what):
        return list(expected.check_panels(figure(**what), table(rows)))

    def test_panels_are_those_of_the_plots(self):
        self.assertEqual(self.panel_problems(rates()), [])
        self.assertIn("no plot shows", self.panel_problems(rates() + rates(panel="b"))[0])
        two = [Plot("x", "rate"), Plot("x", "rate", panel="b")]
        self.assertIn("has no panel", self.panel_problems(rates(), plots=two)[0])

    def test_ours_exists(self):
        self.assertEqual(self.panel_problems(rates(), ours=("errors",)), [])
        self.assertIn("no panel has", self.panel_problems(rates(), ours=("compact",))[0])

    def test_numbers_are_finite(self):
        self.assertIn("finite", self.panel_problems([(1, 0, "nan", "", "errors")])[0])

    def test_lists_agree(self):
        live = figure(live="servers")
        self.assertEqual(list(checks.check_lists([], [live], "none")), [])
        self.assertEqual(list(checks.check_lists(["kbf-99"], [figure()], "none")), [])
        for listed, figures in ((["kbf-98", "kbf-99"], [figure()]), ([], [figure()]),
                                (["kbf-99"], [figure(), figure()])):
            self.assertEqual(len(list(checks.check_lists(listed, figures, "none"))), 1)

    def test_findings_that_raise_or_say_nothing(self):
        data = table(rates())
        self.assertEqual(list(checks.check_finding(figure(), data)), [])
        for finding in (lambda data: data.mean("compact", 1), lambda data: Finding(" ", True),
                        lambda data: None):
            self.assertEqual(len(list(checks.check_finding(figure(finding=finding), data))), 1)

    def test_a_table_or_expectation_that_is_missing(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "kbf-99.csv"
            self.assertIn("no table", list(checks.check_figure(figure(), path))[0])
            path.write_text("x,repetition,y,panel,series\n1,0,2,,errors\n")
            self.assertIn("no expected", list(checks.check_figure(figure(), path))[0])
            timed = figure([Plot("x", "time", timed=True)])
            self.assertEqual(list(checks.check_figure(timed, path)), [])

    def test_errata_and_live_parts_exist(self):
        self.assertEqual(list(checks.check_texts(figure(errata=("Codes.",)))), [])
        self.assertIn("no part", list(checks.check_texts(figure(live="no")))[0])
        self.assertIn("no paragraph", list(checks.check_texts(figure(errata=("Cods.",))))[0])


class Document(unittest.TestCase):
    def test_it_is_what_the_report_says(self):
        paper, differs = reproduction.PAPERS[0], Finding("It differs.", False)
        self.assertEqual(list(reproduction.check_document(paper)), [])
        for change in ({"claim": "None."}, {"title": "Bytes"}, {"setting": "No."}, {"name": "kbf-99"},
                       {"finding": lambda data: differs}):
            changed = [dataclasses.replace(paper.figures[0], **change), *paper.figures[1:]]
            changed = dataclasses.replace(paper, figures=changed)
            self.assertEqual(len(list(reproduction.check_document(changed))), 1, change)


unittest.main()

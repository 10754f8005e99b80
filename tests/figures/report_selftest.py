"""The report of the figures: axes, the page, and the checks of it notice what they must. Neither
gnuplot nor a browser is needed; `make figures` uses both."""

import contextlib
import io
import pathlib
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "figures" / "report"))

import axes  # noqa: E402
import browser  # noqa: E402
import build_report  # noqa: E402
import markdown  # noqa: E402
import measuring  # noqa: E402
import page  # noqa: E402
import papers  # noqa: E402
import plot  # noqa: E402
from figure import Data, Figure, Finding, Plot  # noqa: E402


def labels(axis):
    return [text for _, text in axis[2]]


class Axes(unittest.TestCase):
    def test_round_numbers(self):
        self.assertEqual(labels(axes.value_axis([0.3, 24], False)), ["0", "5", "10", "15", "20", "25"])
        self.assertEqual(labels(axes.value_axis([0, 1.2e6], False))[-1], "1.2M")
        self.assertEqual(labels(axes.value_axis([2e-5, 3e-2], True)),
                         ["10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹"])
        self.assertEqual(labels(axes.value_axis([3, 40], True)), ["2", "5", "10", "20", "50"])

    def test_all_values_are_inside(self):
        for values in ([7, 7], [0, 0], [-3, 5], [1e-12, 1e12], [0.98, 0.99], [1e-300, 1]):
            for log in (False, True):
                low, high, ticks = axes.value_axis(values, log)
                shown = [value for value in values if value > 0 or not log]
                self.assertLess(low, high)
                self.assertGreaterEqual(len(ticks), 1, values)
                self.assertTrue(all(low * (1 - 1e-3) <= value <= high * 1.001
                                    if log else low <= value <= high for value in shown), values)

    def test_few_places_are_ticks_themselves(self):
        self.assertEqual(labels(axes.place_axis([16, 32, 64, 128], True)), ["16", "32", "64", "128"])
        self.assertEqual(labels(axes.place_axis([1, 2, 3, 100], False)),
                         ["0", "20", "40", "60", "80", "100"])
        self.assertLess(axes.place_axis([5], False)[0], 5)


def small_figure(**more):
    return Figure("kbf-99", "Figure 99", "Errors & <rates>", claim="Few.", plots=[Plot("x", "rate")],
                  finding=lambda data: Finding("1 < 2.", False, "Better.", True), **more)


SVG = '<svg viewBox="0 0 1 1"><g><path d="M0,0"/></g></svg>'
SWATCH = '<svg class="swatch"><path d="M0,0"/></svg>'


def small_page(figure):
    """The page with this figure as if it had been measured, and with one that was not."""
    paper = papers.Paper("kBF", "Title", "Place", "the map", [figure])
    result = page.Result(figure, figure.finding(None), (SVG,), (([0], [(SWATCH, "a <b>")]),), ("A note.",),
                         "x,y\n1,2\n")
    before, page.PAPERS = page.PAPERS, [paper]
    try:
        return page.page_html([result], [("Machine", "a < b")])
    finally:
        page.PAPERS = before


class Markdown(unittest.TestCase):
    def test_blocks(self):
        self.assertEqual(markdown.to_html("# A *b*\n\nOne\ntwo `x < y`.\n\n- p\n- q\n  r", 2),
                         "<h2>A <em>b</em></h2>\n<p>One two <code>x &lt; y</code>.</p>\n"
                         "<ul><li>p</li><li>q r</li></ul>")
        self.assertEqual(markdown.to_html("`a * b` *c* `d * e`:\n\n```awk\na * b *\n\n- <c>\n```\nEnd.", 2),
                         "<p><code>a * b</code> <em>c</em> <code>d * e</code>:</p>\n"
                         '<pre class="wide" tabindex="0"><code>a * b *\n\n- &lt;c&gt;\n</code></pre>\n'
                         "<p>End.</p>")
        table = markdown.to_html("| a | n |\n|---|---:|\n| `awk '!x[$0]++'` | 1 |", 2)
        self.assertIn('<td class="number">1</td>', table)
        self.assertEqual(build_report.check_tags(table), [])

    def test_section(self):
        text = "# T\n\n## Results\n\nx\n\n## More\n\ny"
        self.assertEqual(markdown.section(text, "Results"), "x")
        self.assertEqual(markdown.section(text, "More"), "y")


class Page(unittest.TestCase):
    def test_it_is_well_formed_and_escaped(self):
        text = small_page(small_figure(errata=("Codes.",)))
        self.assertEqual(build_report.check_tags(text), [])
        for part in ("Errors &amp; &lt;rates&gt;", "1 &lt; 2.", "a &lt; b", 'aria-label="Errors',
                     "data:text/csv", "ours goes past", "a &lt;b&gt;</li>", '<span class="badge differs">'):
            self.assertIn(part, text)
        for outside in ("http://", "https://", "<script", "@import", "src="):
            self.assertNotIn(outside, text.replace("http://www.w3.org", ""))

    def test_elements_that_are_not_closed_are_noticed(self):
        self.assertEqual(len(build_report.check_tags("<p><b>x</p>")), 2)
        self.assertEqual(build_report.check_tags("<main><p>x</p>"), ["<main> is not closed"])

    def test_a_figure_without_a_table_says_why(self):
        with tempfile.TemporaryDirectory() as directory:
            result = page.read_result(small_figure(), pathlib.Path(directory), "no server")
        self.assertIn("Not measured: no server.", page.figure_html(result))

    def test_without_a_peer_there_is_no_verdict(self):
        result = page.Result(small_figure(), Finding("No peer.", None, "Better."))
        self.assertEqual(page.badges(result), [("none", "not measured")])

    def test_the_numbers_decide_whether_ours_goes_past(self):
        for past in (False, True):
            finding = Finding("Few errors.", True, "Ours has some too.", past)
            kinds = [kind for kind, _ in page.badges(page.Result(small_figure(), finding))]
            self.assertEqual(kinds, ["matches", "past"] if past else ["matches"])

    def test_colours_follow_the_mode(self):
        svg = plot.plain_colours("<g stroke='rgb(  0, 114, 178)' fill=\"black\"/>")
        self.assertEqual(svg, "<g stroke='#0072b2' fill=\"#1d2329\"/>")
        self.assertIn('.plot [stroke="#0072b2"]{stroke:#56b4e9}', plot.dark_rules(".plot "))

    def test_zeros_are_at_the_end_of_a_logarithmic_axis(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write('x,repetition,y,panel,series\n1,0,0.1,,a\n2,0,0,,a\n1,0,3,,ours\n')
            file.flush()
            figure = Figure("kbf-99", "", "", "", [Plot('x"\n', "y", log="xy")], None, ours=("ours",))
            drawing = plot.Drawing(figure, figure.plots[0], Data(file.name))
        commands = drawing.commands()
        self.assertTrue(drawing.has_zeros())
        self.assertNotIn("\n2 0 ", commands)
        self.assertIn('set ytics ("0" 0.0', commands)
        self.assertIn(plot.OURS[0][0], commands)


class Styles(unittest.TestCase):
    def test_a_series_looks_the_same_in_all_plots_and_legends_are_shared(self):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write("x,repetition,y,panel,series\n1,0,1,p,a\n1,0,1,p,b\n1,0,1,q,b\n1,0,1,r,c\n")
            file.flush()
            data = Data(file.name)
        figure = Figure("kbf-99", "", "", "", [Plot("", "", panel) for panel in "pqr"], None)
        first, second = (plot.Drawing(figure, one, data).styles["b"] for one in figure.plots[:2])
        self.assertEqual(first, second)

        self.assertEqual([(numbers, [name for _, name in names])
                          for numbers, names in plot.legends(figure, data)],
                         [([0, 1], ["a", "b"]), ([2], ["c"])])


def browser_page(**changes):
    """What the browser reports of a page without faults, with changes."""
    drawn = {"width": 360, "height": 250, "right": 380, "parts": 40, "label": "Errors"}
    figure = {"id": "kbf-99", "width": 390, "height": 700, "right": 390, "plots": [drawn], "faint": []}
    return {"width": 390, "scroll": 390, "closed": 900, "inSight": True, "gaps": [], "background": "rgb(255, 255, 255)",
            "figures": [figure], "wide": [], "twice": [], "dangling": [], "fetched": [], **changes}


class BrowserChecks(unittest.TestCase):
    def problems(self, scheme=browser.LIGHT, complaints=(), **changes):
        return list(browser.find_problems(browser_page(**changes), {"kbf-99": 1}, complaints, scheme))

    def test_a_good_page_passes(self):
        self.assertEqual(self.problems(), [])
        self.assertEqual(self.problems(browser.DARK, background="rgb(20, 24, 28)"), [])

    def test_each_fault_is_noticed(self):
        figure = browser_page()["figures"][0]
        flat = {**figure, "plots": [{**figure["plots"][0], "height": 0}]}
        empty = {**figure, "plots": [{**figure["plots"][0], "parts": 0}]}
        for changes in ({"scroll": 400}, {"wide": ["TABLE#"]}, {"figures": []}, {"twice": ["a"]},
                        {"dangling": ["#b"]}, {"fetched": ["https://elsewhere/"]},
                        {"figures": [flat]}, {"figures": [empty]}, {"complaints": ["TypeError"]},
                        {"closed": 66000}, {"inSight": False}, {"gaps": ["kbf-99"]},
                        {"figures": [{**figure, "plots": []}]}, {"scheme": browser.DARK},
                        {"figures": [{**figure, "faint": ["grey"]}]}):
            self.assertEqual(len(self.problems(**changes)), 1, changes)


class Measuring(unittest.TestCase):
    def run_tasks(self, *commands):
        tasks = [measuring.Task(f"t{i}", command, 1) for i, command in enumerate(commands)]
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            measuring.measure(tasks[:1], tasks[1:], 2)
        return tasks, out.getvalue()

    def test_failures_are_told_and_the_rest_runs(self):
        tasks, out = self.run_tasks(["sh", "-c", "echo broken >&2; exit 3"],
                                    ["sh", "-c", "echo left out >&2"], ["/no/such"])
        self.assertEqual([bool(task.error) for task in tasks], [True, False, True])
        self.assertIn("broken", out)
        self.assertIn("left out", out)
        self.assertIn("[3/3]", out)

    def test_an_interrupt_reaches_what_runs_once(self):
        runner = measuring.Runner()
        script = "import time\ntry:\n time.sleep(60)\nexcept KeyboardInterrupt:\n raise SystemExit(7)"
        task = measuring.Task("sleeper", [sys.executable, "-c", script], 1)
        thread = threading.Thread(target=runner.run, args=(task, measuring.Progress(1, 1)))
        thread.start()
        end = time.monotonic() + 60
        while not runner.children and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(0.5)  # until it has begun to sleep; if not, it ends with another code
        child = next(iter(runner.children))
        runner.stop()
        thread.join(60)
        self.assertIn(child.returncode, (7, -2, 1))
        self.assertIsNone(runner.start(["true"]))

    def test_other_scales_do_not_count(self):
        with tempfile.TemporaryDirectory() as directory:
            record = build_report.Record(pathlib.Path(directory))
            record.note(measuring.Task("kbf-02", [], 1, seconds=4), "small")
            record.write()
            record = build_report.Record(pathlib.Path(directory))
        self.assertTrue(record.is_from("kbf-02", "small"))
        self.assertFalse(record.is_from("kbf-02", "full"))
        self.assertEqual(record.seconds("kbf-02", "full", 600), 600)


unittest.main()

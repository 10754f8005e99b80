"""scripts/measure-once repeats a run that was void, and gives up if too many are."""

import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "measure-once"


def load_script(directory):
    """The script as a module; it reads its arguments when it is loaded."""
    with unittest.mock.patch.object(sys, "argv", [str(SCRIPT), "server", "module", directory, "small"]):
        loader = importlib.machinery.SourceFileLoader("measure_once", str(SCRIPT))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        loader.exec_module(module)
    return module


class VoidRuns(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = pathlib.Path(directory.name)
        self.script = load_script(directory.name)

    def measure(self, void):
        """What is printed if `void` is true for the seeds of void runs."""
        def run(repetition, seed):
            point = ("at the end", repetition, seed, "error", "plain")
            return ([], f"seed {seed}\nmore") if void(seed) else ([point], None)
        out, errors = io.StringIO(), io.StringIO()
        with unittest.mock.patch.object(self.script, "faulty_run", run), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            self.script.measure_time(3)
        return errors.getvalue()

    def test_a_void_run_is_told_and_repeated(self):
        self.assertEqual(self.measure(lambda seed: seed == 2), "fbf-6.7: run 2 is void: seed 2\n")
        rows = (self.directory / "fbf-6.7.csv").read_text().splitlines()[1:]
        self.assertEqual([row.split(",")[1:3] for row in rows], [["0", "1"], ["1", "3"], ["2", "4"]])
        self.assertEqual([path.name for path in self.directory.iterdir()], ["fbf-6.7.csv"])

    def test_void_runs_only(self):
        with self.assertRaisesRegex(RuntimeError, "void"):
            self.measure(lambda seed: True)
        self.assertEqual(list(self.directory.iterdir()), [])

    def faulty_run(self, schedule):
        """What a run gives with this schedule and no servers."""
        nothing = unittest.mock.MagicMock()
        nothing.return_value.__enter__.return_value.errors.return_value = {("plain", 1): (5, 1)}
        names = ("Proxies", "ProxiedCluster", "candidates", "Load", "Watch")
        with contextlib.ExitStack() as stack:
            for name in names:
                stack.enter_context(unittest.mock.patch.object(self.script, name, nothing))
            stack.enter_context(unittest.mock.patch.object(self.script, "Schedule",
                                                           lambda *_: schedule))
            return self.script.faulty_run(0, 1)

    def test_a_schedule_decides_whether_a_run_is_void(self):
        schedule = unittest.mock.MagicMock(void=None)
        self.assertEqual(self.faulty_run(schedule),
                         ([("with WAIT 1", 0, "5", "error", "plain")], None))
        schedule.void = "a role changed"
        self.assertEqual(self.faulty_run(schedule), ([], "a role changed"))
        schedule.run.side_effect = TimeoutError("no replica")
        self.assertIn("no replica", self.faulty_run(schedule)[1])


unittest.main()

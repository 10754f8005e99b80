"""Small runs of `bloomery-bench window`, `windows` and `seen`: complete, and correct within
statistical bands. Times are not checked."""

import math
import os
import tempfile

from bench_runner import BenchCase, main, run, times

ELEMENTS = 20000
SMALL = ["--capacity", "20k", "--rounds", "1"]
SETTINGS = ["engine", "mode", "elements", "generations", "error", "isa", "window_ms", "batch",
            "rounds"]
FACTS = ["bytes", "bits_per_element", "false_positive", "predicted", "absent_asked",
         "promised_asked", "forgotten_early"]
PHASES = ["add", "hit", "miss", "hit_batch", "miss_batch"]


def band(expected, asked):
    """The upper end of the band: five standard deviations."""
    return expected + (5 * math.sqrt(expected * asked) + 1) / asked


class WindowCase(BenchCase):
    def check_row(self, row, batches=True):
        self.assertEqual(list(row), [*SETTINGS, *FACTS, *times(PHASES)])
        self.assertAlmostEqual(row["bits_per_element"], row["bytes"] * 8 / row["elements"])
        self.assertEqual(row["window_ms"] % row["generations"], 0)
        self.check_times(row, PHASES, missing=() if batches else PHASES[3:])


class Window(WindowCase):
    def check(self, *arguments, **expected):
        answer = self.read_json("window", *SMALL, "--json", *arguments)
        self.assertEqual(list(answer)[:2], ["bench", "machine"])
        self.assertEqual(answer.pop("bench"), "window")
        expected = {"engine": "compact", "mode": None, "elements": ELEMENTS, "generations": 13,
                    "error": 0.001, "isa": answer.pop("machine")["isa"], "batch": 1024,
                    "rounds": 1, "forgotten_early": 0, **expected}
        self.check_row(answer)
        self.assertEqual({name: answer[name] for name in expected}, expected)
        generations = answer["generations"]
        # At the end of each generation: all elements of a window, and some absent ones.
        self.assertEqual(answer["absent_asked"], generations * (4 * ELEMENTS // generations + 1))
        self.assertTrue(generations * ELEMENTS * (1 - 2 * answer["error"]) - 50 <=
                        answer["promised_asked"] <= generations * (ELEMENTS + 1))
        self.assertLessEqual(answer["false_positive"],
                             band(answer["error"], answer["absent_asked"]))
        return answer

    def test_compact(self):
        """The fixed part is one bit per element at this size."""
        first = self.check()
        self.assertLessEqual(first["bits_per_element"], 19 + 1)
        self.assertLessEqual(first["predicted"], 0.001)
        eight = self.check("--generations", "8", generations=8)
        self.assertLessEqual(eight["bits_per_element"], 21.5)
        other = self.check("--batch", "7", "--isa", "scalar", batch=7, isa="scalar")
        self.assertEqual([other[name] for name in FACTS], [first[name] for name in FACTS])

    def test_fbf(self):
        improved = self.check("--engine", "fbf", engine="fbf", mode="improved", generations=8)
        self.assertTrue(20 < improved["bits_per_element"] <= 27.5)  # compact is below
        paper = self.check("--engine", "fbf", "--mode", "paper", engine="fbf", mode="paper",
                           generations=8)
        simple = self.check("--engine", "fbf", "--mode", "simple", engine="fbf", mode="simple",
                            generations=8)
        self.assertTrue(32 <= paper["bits_per_element"] <= 36, paper["bits_per_element"])
        self.assertGreater(simple["bits_per_element"], paper["bits_per_element"])
        self.assertLessEqual(improved["predicted"], 0.001)

    def test_errors(self):
        for engine in ("compact", "fbf"):
            mode = "improved" if engine == "fbf" else None
            last = 0
            for error in ("1e-2", "1e-4"):
                row = self.check("--engine", engine, "--error", error, "--generations", "5",
                                 engine=engine, mode=mode, generations=5, error=float(error))
                self.assertGreater(row["bits_per_element"], last + 5)
                last = row["bits_per_element"]

    def test_many_generations(self):
        elements = 4000
        answer = self.read_json("window", "--capacity", str(elements), "--rounds", "1",
                                "--generations", "200", "--json")
        self.assertEqual(answer["forgotten_early"], 0)
        self.assertAlmostEqual(answer["promised_asked"], 200 * elements / 13, delta=2 * elements)
        self.assertEqual(answer["absent_asked"], 200 * (4 * elements // 200 + 1))


class Windows(WindowCase):
    def test_side_by_side(self):
        answer = self.read_json("windows", "--capacity", "2k", "--rounds", "1", "--json")
        self.assertEqual(list(answer), ["bench", "machine", "windows", "burst", "retries"])
        rows = answer["windows"]
        self.assertEqual([(row["engine"], row["mode"]) for row in rows],
                         [("compact", None), ("fbf", "improved"), ("fbf", "paper"), ("ring", None),
                          ("rbf", None), ("exact", None)])
        compact, improved, paper, ring, rbf, exact = rows
        for row in rows:
            self.check_row(row, row in (compact, improved, paper))
            if row is not rbf:
                self.assertEqual(row["forgotten_early"], 0, row["engine"])
            self.assertLessEqual(row["false_positive"], band(0.001, row["absent_asked"]))
        self.assertGreater(rbf["forgotten_early"], rbf["promised_asked"] * 0.2)
        self.assertEqual(exact["false_positive"], 0)
        self.assertLess(improved["bits_per_element"], paper["bits_per_element"])
        self.assertLess(paper["bits_per_element"], exact["bits_per_element"])

        burst = answer["burst"]
        self.assertEqual((burst["elements"], burst["times"]), (2000, 100))
        for row in burst["windows"]:
            self.assertEqual(list(row), [
                "engine", "mode", "worst_error", "false_positive", "asked", "elements_before",
                "elements_peak", "bytes_before", "bytes_peak", "bytes_after", "ended_early",
                "resizes"])
        for row in burst["windows"][:2]:
            self.assertLessEqual(row["worst_error"], band(0.001, row["asked"]))
            self.assertGreater(row["bytes_peak"], 40 * row["bytes_before"])
            self.assertLess(row["bytes_after"], 1.1 * row["bytes_before"])
            self.assertGreater(row["elements_peak"], 70 * row["elements_before"])
        self.assertGreater(burst["windows"][2]["worst_error"], 0.5)

        retries = answer["retries"]
        rates = retries["counter_error"]
        self.assertEqual([row["retried"] for row in rates], [0.05, 0.1, 0.2, 0.4, 0.8])
        for row in rates:
            self.assertEqual(list(row)[1:], ["rbf", "ring", "fbf_paper", "fbf_improved", "compact"])
            self.assertLess(row["fbf_paper"], 0.005)
            self.assertLessEqual(row["fbf_improved"], row["fbf_paper"])
            self.assertLessEqual(row["compact"], row["fbf_improved"])
        # Level here, and growing with the retries there.
        self.assertLess(abs(rates[4]["fbf_paper"] - rates[0]["fbf_paper"]), 0.002)
        self.assertGreater(rates[4]["rbf"], 10 * rates[4]["fbf_paper"])
        self.assertTrue(all(a["rbf"] < b["rbf"] for a, b in zip(rates, rates[1:])))


class Seen(BenchCase):
    NAMES = ["bench", "machine", "lines", "bytes", "distinct", "error", "rounds", "awk_is",
             "false_drops", "expected_false_drops", "bloomery", "awk", "sort"]

    def test_beside_others(self):
        answer = self.read_json("seen", "--capacity", "30k", "--rounds", "2", "--json")
        self.assertEqual(list(answer), self.NAMES)
        self.assertEqual([answer[name] for name in ("lines", "bytes", "distinct", "error",
                                                    "rounds")],
                         [30000, 30000 * 17, 28500, 1e-6, 2])
        self.assertLessEqual(answer["false_drops"], 1)
        self.assertAlmostEqual(answer["expected_false_drops"], 0.0285)
        for name in ("bloomery", "awk", "sort"):
            one = answer[name]
            self.assertEqual(list(one), ["seconds", "seconds_min", "processor_seconds",
                                         "peak_bytes", "times_as_long"])
            self.assertGreater(one["seconds_min"], 0)
            self.assertGreater(one["peak_bytes"], 100000)
        self.assertEqual(answer["bloomery"]["times_as_long"], 1)

    def test_without_the_others(self):
        with tempfile.TemporaryDirectory() as empty:
            environment = {**os.environ, "PATH": empty}
            answer = self.read_json("seen", "--capacity", "5k", "--rounds", "1", "--json",
                                    env=environment)
            self.assertEqual((answer["awk"], answer["sort"]), (None, None))

    def test_a_liar(self):
        """A program with wrong output ends the run."""
        for script in ("cat", "head -n 100", "cat /dev/null; exit 1"):
            with tempfile.TemporaryDirectory() as directory:
                liar = os.path.join(directory, "awk")
                with open(liar, "w") as file:
                    file.write(f"#!/bin/sh\n{script}\n")
                os.chmod(liar, 0o755)
                done = run("seen", "--capacity", "5k", "--rounds", "1",
                           env={**os.environ, "PATH": directory + ":" + os.environ["PATH"]})
                self.assertEqual((done.returncode, done.stdout), (3, ""), script)
                self.assertIn("bloomery-bench: awk", done.stderr)

    def test_no_room_for_the_lines(self):
        done = run("seen", "--capacity", "5k", env={**os.environ, "TMPDIR": "/nowhere"})
        self.assertEqual((done.returncode, done.stderr),
                         (3, "bloomery-bench: a temporary file: No such file or directory\n"))


main()

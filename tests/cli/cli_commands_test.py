"""Help, version, plan, wrong arguments, and output that cannot be written."""

import json
import os
import pathlib
import subprocess

from cli_runner import Case, NAME, ORACLE, main, run

PLAN_TABLE = """\
10000000 items, error 0.01

job               engine                        size  empty  bits/item  hashes  expected error  grows to
filter            bloom                     11.8 MiB  144 B       9.92       6            0.01         -
(for comparison)  standard Bloom, textbook  11.4 MiB      -       9.59       7         0.01004         -
"""

COUNT = "is not a count such as 5000, 64k, 10M, 1e6 or 2^20"
SHARE = "is not a fraction such as 0.001, 0.1% or 1e-3"


class Program(Case):
    def test_help(self):
        """Every way to ask for it; cli_help_test.py tests the texts."""
        text, plan, build = (run(*words, "--help").stdout for words in ([], ["plan"], ["map", "build"]))
        self.assertEqual(text[:31], "Usage: bloomery COMMAND [option")
        self.assertEqual(plan[:29], "Usage: bloomery plan --capaci")
        for words in (["-h"], ["--help"], ["help"], ["help", "help"], ["help", "--help"], ["help", "-h"]):
            self.expect(words, 0, text)
        for words in (["plan", "-h"], ["plan", "--help"], ["help", "plan"], ["help", "plan", "--help"]):
            self.expect(words, 0, plan)
        for words in (["help", "map", "build"], ["map", "build", "--capacity", "1M", "--help"]):
            self.expect(words, 0, build)

    def test_bench_is_a_program(self):
        for arguments in (["bench"], ["bench", "filter", "--json"]):
            self.expect_misuse(arguments, 'unknown command "bench": run the program '
                                          "bloomery-bench")

    def test_version(self):
        done = run("--version")
        self.expect(["-V"], 0, done.stdout)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertRegex(done.stdout, r"^bloomery \d+\.\d+\.\d+(-dev)? "
                                      r"\((scalar|avx2|avx512|neon), (gcc|clang) \d+\.[^)\n]*\)\n$")

    def test_version_names_the_forced_isa(self):
        done = run("--version", env={**os.environ, "BLOOMERY_ISA": "scalar"})
        self.assertIn("(scalar, ", done.stdout)

    def test_misuse(self):
        self.expect_misuse([], "missing command")
        self.expect_misuse([""], 'unknown command ""')
        self.expect_misuse(["frobnicate"], 'unknown command "frobnicate"')
        self.expect_misuse(["--frobnicate"], 'unknown option "--frobnicate"')
        self.expect_misuse(["--version", "x"], 'unexpected argument "x"')
        self.expect_misuse(["-V", "x"], 'unexpected argument "x"')
        self.expect_misuse(["--help", "plan"], 'unexpected argument "plan"')
        self.expect_misuse(["help", "--json"], 'unknown command "--json"')
        self.expect_misuse(["help", "frobnicate"], 'unknown command "frobnicate"')
        self.expect_misuse(["help", "map", "get", "x"], 'unexpected argument "x"')

    def test_words_of_the_user_are_quoted(self):
        self.expect_misuse(["a\x1b[31m\n"], r'unknown command "a\x1b[31m\x0a"')
        self.expect_misuse(["\u00e9"], 'unknown command "\u00e9"')
        self.expect_misuse(["y" * 5000], 'unknown command "' + "y" * 86 + '..."')


class Suggestions(Case):
    def suggests(self, arguments, problem, suggestion):
        done = run(*arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
        said = f'; did you mean "{suggestion}"?' if suggestion else ""
        self.assertEqual(done.stderr.splitlines()[0], f"{NAME}: unknown {problem}{said}")

    def test_commands(self):
        for word, meant in (("mpa", "map"), ("sene", "seen"), ("pln", "plan"), ("clutser", "cluster"),
                            ("dedupe", "dedup"), ("MAP", "map"), ("frobnicate", ""), ("x", ""), ("", "")):
            self.suggests([word], f'command "{word}"', meant)
        # Commands of a group, without the name of the group.
        for word, meant in (("balance", "cluster balance"), ("locate", "index locate"),
                            ("compres", "map compress")):
            self.suggests([word], f'command "{word}"', meant)
        self.suggests(["map", "biuld"], 'command "biuld"', "build")
        self.suggests(["help", "map", "biuld"], 'command "biuld"', "build")
        self.suggests(["dedup", "rebuild-idnex"], 'command "rebuild-idnex"', "rebuild-index")
        self.suggests(["m" * 5000], 'command "' + "m" * 86 + '..."', "")

    def test_options(self):
        plan = ["plan", "--error", "1%"]
        for word, meant in (("--capactiy", "--capacity"), ("--capactiy=5", "--capacity"),
                            ("--hlep", "--help"), ("--jsno", "--json"), ("--items", ""), ("-x", ""),
                            ("--maxmemory", "")):
            self.suggests([*plan, word], f'option "{word}"', meant)
        self.suggests(["seen", "--maxmemory", "1G"], 'option "--maxmemory"', "--max-memory")
        self.suggests(["--vresion"], 'option "--vresion"', "--version")
        self.suggests(["map", "--hepl"], 'option "--hepl"', "--help")


class Plan(Case):
    def test_table(self):
        self.expect(["plan", "--engine=bloom", "--error=0.01", "--capacity=1e7"], 0, PLAN_TABLE)
        self.expect(["plan", "--engine", "bloom", "--error", "1e-2", "--capacity", "5", "--capacity",
                     "10000k"], 0, PLAN_TABLE)

    def test_table_of_all_engines(self):
        done = run("plan", "--capacity", "10M", "--error", "1%")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(done.stdout, run("plan", "--engine", "auto", "--capacity", "10M", "--error",
                                          "1%").stdout)
        lines = done.stdout.splitlines()
        for line in PLAN_TABLE.splitlines():
            if line != "10000000 items, error 0.01" and "engine" not in line:
                self.assertIn(line.split(), [row.split() for row in lines])
        self.assertEqual([line[:32].split() for line in lines[3:-4]],
                         [["filter", "bloom"], ["filter", "compact"], ["map", "compact"],
                          ["map", "kbf,", "tuned"], ["map", "kbf,", "paper"],
                          ["window", "compact"], ["window", "fbf"], ["counter", "compact"],
                          ["counter", "fbf"], ["index", "compact"], ["index", "dba"]])

    def test_integers(self):
        """A map of integers has no table of values."""
        def plan(*more):
            done = run("plan", "--job", "map", "--engine", "compact", "--capacity", "1000",
                       "--error", "0.01", "--json", *more)
            return json.loads(done.stdout)["plans"][0]
        self.assertEqual(plan("--raw", "10")["value_bits"], 10)
        self.assertLess(plan("--raw", "10")["bytes"], plan("--raw", "20")["bytes"])
        self.expect_misuse(["plan", "--capacity", "9", "--error", "0.1", "--raw", "33"],
                           "--raw: values have 1 to 32 bits")

    def planned(self, job, *words, options=()):
        """The plans of a job, and what the library plans: its name, and numbers."""
        items, error = words[:2]
        plans = self.read_json("plan", "--capacity", items, "--error", error, *options, "--json")["plans"]
        oracle = subprocess.run([ORACLE, *words], check=True, capture_output=True, text=True).stdout
        plans = [plan for plan in plans if plan["job"] == job]
        for plan in plans:
            self.assertEqual((plan["capacity"], plan["error"]), (int(items), float(error)))
            self.assertEqual(plan["bits_per_item"], plan["bytes"] * 8 / int(items))
            self.assertLessEqual(plan["expected_error"], float(error))
        return plans, [line.split() for line in oracle.splitlines()]

    def assert_planned(self, plan, names, numbers, more=()):
        """With these numbers, and with members in this order: those of all jobs and some more."""
        self.assertEqual([plan[name] for name in names], [float(number) for number in numbers])
        self.assertEqual(list(plan), [
            "job", "engine", *(["layout"] if plan["engine"] == "kbf" else []), "capacity", "error", "bytes",
            "bytes_empty", "bits_per_item", "hashes", "expected_error", "grows_to", *more])

    def test_json_says_what_the_library_plans_and_makes(self):
        names = ["bytes", "bytes_empty", "hashes", "expected_error"]
        for items, error in (("1", "0.5"), ("1000", "0.01"), ("20000", "1e-6"), ("300000", "0.001"),
                             ("4000000", "0.01")):
            with self.subTest(items=items, error=error):
                (bloom, compact), oracle = self.planned("filter", items, error)
                oracle = dict(oracle)
                self.assertEqual((bloom["engine"], bloom["grows_to"]), ("bloom", int(items)))
                if float(error) >= 0.001:
                    self.assertEqual(compact["grows_to"], 2**40)
                self.assert_planned(bloom, names, [oracle[name] for name in names])
                self.assertEqual(bloom["bytes_empty"], int(oracle["made_empty"]))
                # One key uses one piece of the table; four million use all of them.
                self.assertEqual(bloom["bytes"], int(oracle["made_full"]))

    def test_json_of_maps_says_what_the_library_plans(self):
        names = ["bytes", "bytes_empty", "hashes", "false_positive", "false_negative", "incorrect",
                 "values", "value_bits"]
        for items, error, values in (("1000", "0.01", "10"), ("20000", "1e-6", "3000"),
                                     ("300000", "0.001", "16383"), ("5000", "0.5", "60000")):
            with self.subTest(items=items, error=error, values=values):
                plans, oracle = self.planned("map", items, error, values, options=["--values", values])
                self.assertEqual(len(plans), 1 if values == "60000" else 3)
                for plan, (engine, layout, *numbers) in zip(plans, oracle, strict=True):
                    self.assertEqual((plan["engine"], plan.get("layout", "tuned")), (engine, layout))
                    self.assert_planned(plan, names, numbers, names[3:])
                    self.assertEqual(plan["expected_error"], max(
                        plan["false_positive"], plan["false_negative"] + plan["incorrect"]))

    def test_json_of_indexes_says_what_the_library_plans(self):
        for items, error, units in (("1000", "0.01", "1"), ("20000", "1e-6", "64"),
                                    ("10000000", "0.001", "1000"), ("5", "0.5", "1048576")):
            with self.subTest(items=items, error=error, units=units):
                plans, oracle = self.planned("index", items, error, "in", units, options=["--units", units])
                self.assertEqual([plan["engine"] for plan in plans], ["compact", "dba"])
                for plan, (engine, *numbers) in zip(plans, oracle, strict=True):
                    self.assertEqual((plan["engine"], plan["units"]), (engine, int(units)))
                    self.assert_planned(plan, ["bytes", "bytes_empty", "hashes", "expected_error", "group"],
                                        numbers, ["units", "group"])

    def test_json_of_windows_says_what_the_library_plans(self):
        for items, error, window in (("1000", "0.01", "60000"), ("20000", "1e-6", "999"),
                                     ("10000000", "0.001", "604800000"), ("5", "1e-12", "1")):
            for job, last in (("window", "generations"), ("counter", "bytes_per_counter")):
                with self.subTest(items=items, error=error, window=window, job=job):
                    plans, oracle = self.planned(job, items, error, "within", window,
                                                 options=["--window", window + "ms"])
                    self.assertEqual([plan["engine"] for plan in plans], ["compact", "fbf"])
                    more = ["window_ms", "longest_ms", last]
                    for plan, (_, *numbers) in zip(plans, [row for row in oracle if row[0] == job],
                                                   strict=True):
                        self.assert_planned(plan, ["bytes", "bytes_empty", "hashes", "expected_error",
                                                   *more], numbers, more)

    def test_jobs(self):
        answer = self.read_json("plan", "--capacity", "1000", "--error", "0.01", "--json")
        self.assertEqual(list(answer), ["plans", "for_comparison", "server_key_limit"])
        self.assertEqual([plan["job"] for plan in answer["plans"]], ["filter"] * 2 + ["map"] * 3 + [
            "window"] * 2 + ["counter"] * 2 + ["index"] * 2)

    def test_job(self):
        plans = self.read_json("plan", "--capacity", "1k", "--error", "1%", "--json")["plans"]
        for job in ("filter", "map", "window", "counter", "index"):
            arguments = ["plan", "--capacity", "1k", "--error", "1%", "--json", "--job", job]
            self.assertEqual(self.read_json(*arguments)["plans"],
                             [plan for plan in plans if plan["job"] == job])
            self.assertEqual(self.read_json(*arguments, "--engine", "compact")["plans"],
                             [plan for plan in plans if plan["job"] == job and
                              plan["engine"] == "compact"])
        complete = ["plan", "--capacity", "5", "--error", "1%"]
        self.expect_misuse([*complete, "--job", "set"],
                           '--job: "set" is not one of filter, map, window, counter and index')
        self.expect_misuse([*complete, "--job", "map", "--engine", "fbf"],
                           "--engine: job map has no engine fbf")

    def test_limit_of_a_key(self):
        """Sizes above the server's default limit are marked."""
        root = pathlib.Path(__file__).resolve().parents[2]
        settings = (root / "module/core/settings.c").read_text()
        self.assertIn("static long long max_key_bytes = 256LL << 20;\n", settings)
        answer = self.read_json("plan", "--capacity", "10M", "--error", "1%", "--json")
        self.assertEqual(answer["server_key_limit"], 256 << 20)
        lines = run("plan", "--capacity", "10M", "--error", "1%").stdout.splitlines()
        for plan, line in zip(answer["plans"], lines[3:]):
            self.assertEqual(" * " in line, plan["bytes"] > 256 << 20, line)
        self.assertEqual(lines[-2:], [
            "* larger than a key of a server may be by default (bloomery.max-key-bytes, 256 MiB):",
            "  raise that setting, or spread the items over several keys"])
        self.assertNotIn("*", run("plan", "--capacity", "1M", "--error", "1%").stdout)

    def test_rate(self):
        self.assertEqual(
            self.read_json("plan", "--rate", "5k", "--window", "10m", "--error", "1%", "--json"),
            self.read_json("plan", "--capacity", "3M", "--window", "10m", "--error", "1%", "--json"))
        answer = self.read_json("plan", "--rate", "1", "--window", "1ms", "--error", "1%", "--json")
        self.assertEqual(answer["plans"][0]["capacity"], 1)

    def test_comparison(self):
        answer = self.read_json("plan", "--capacity", "1M", "--error", "0.001", "--json")
        standard = answer["for_comparison"]
        self.assertEqual(list(standard), ["job", "engine", "capacity", "error", "bytes",
                                          "bits_per_item", "hashes", "expected_error"])
        self.assertEqual((standard["bytes"], standard["hashes"]), (1797199, 10))
        self.assertAlmostEqual(standard["bits_per_item"], 14.378, 3)

    def test_numbers(self):
        """What numbers may look like, test_text_numbers.c tests."""
        answer = self.read_json("plan", "--capacity", "1.5Ki", "--error", "0.1%", "--json")
        self.assertEqual((answer["plans"][0]["capacity"], answer["plans"][0]["error"]), (1536, 0.001))
        for text, problem in (("", COUNT), ("10MB", COUNT), ("--json", COUNT), ("-5", "is below zero"),
                              ("1.5", "is not a whole number"), ("2^64", "is too large"),
                              ("0." + "9" * 41, "has too many digits"), ("0e9", "is not above 0")):
            for arguments in (["--capacity", text], [f"--capacity={text}"]):
                self.expect_misuse(["plan", "--error", "1%", *arguments], f'--capacity: "{text}" {problem}')
        for text, problem in (("", SHARE), ("0,01", SHARE), ("-1%", "is below zero"),
                              ("100%", "is not above 0 and below 1")):
            self.expect_misuse(["plan", "--capacity", "1k", "--error", text], f'--error: "{text}" {problem}')

    def test_beyond_the_library(self):
        limits = "filter bloom takes capacity 1 to 2^40, error 1e-9 to 0.5"
        self.expect_misuse(["plan", "--capacity", "1k", "--error", "0.7"], limits)
        self.expect_misuse(["plan", "--capacity", "1k", "--error", "1e-13"], limits)
        self.expect_misuse(["plan", "--capacity", "2T", "--error", "1%"], limits)
        done = run("plan", "--capacity", "2^40", "--error", "1e-9")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_misuse(self):
        self.expect_misuse(["plan"], "missing --capacity")
        self.expect_misuse(["plan", "--error", "1%"], "missing --capacity")
        self.expect_misuse(["plan", "--capacity", "5"], "missing --error")
        self.expect_misuse(["plan", "--capacity"], "--capacity needs a value")
        self.expect_misuse(["plan", "--json=yes"], "--json takes no value")
        self.expect_misuse(["plan", "--item", "5"], 'unknown option "--item"')
        self.expect_misuse(["plan", "--itemsx=5"], 'unknown option "--itemsx=5"')
        self.expect_misuse(["plan", "-n", "5"], 'unknown option "-n"')
        self.expect_misuse(["plan", "10M"], 'unexpected argument "10M"')
        self.expect_misuse(["plan", "--", "--help"], 'unexpected argument "--help"')
        self.expect_misuse(["plan", "-"], 'unexpected argument "-"')
        complete = ["plan", "--capacity", "5", "--error", "1%"]
        self.expect_misuse([*complete, "--engine", "cuckoo"],
                           '--engine: there is no engine "cuckoo"')
        self.expect_misuse([*complete, "--engine", "Bloom"], '--engine: there is no engine "Bloom"')
        self.expect_misuse([*complete, "--engine="], '--engine: "" is empty')
        self.expect_misuse([*complete, "--engine", "fbf", "--window", "2^53ms"],
                           '--window: "2^53ms" is not a time such as 100ms, 60s, 5m, 1h or 7d')
        self.expect_misuse([*complete, "--engine", "fbf", "--window", "1e9d"],
                           "window fbf takes capacity 1 to 2^40, error 1e-12 to 0.5, windows up to "
                           "2^52 ms; some combinations are not possible")
        self.expect_misuse([*complete, "--rate", "5"], "--rate cannot be combined with --capacity")
        self.expect_misuse(["plan", "--rate", "1e15", "--window", "100d", "--error", "1%"],
                           "--rate: too many keys within --window")
        self.expect_misuse(["plan", "--rate", "5"], "missing --error")
        self.expect_misuse([*complete, "--engine", "dba", "--units", "2000000"],
                           "index dba takes capacity 1 to 2^40, error 1e-9 to 0.5, units 1 to "
                           "2^20; some combinations are not possible")
        self.expect_misuse([*complete, "--engine", "kbf", "--values", "16384"],
                           "map kbf takes capacity 1 to 2^40, error 1e-9 to 0.5, values 1 to "
                           "16383; some combinations are not possible")


class Output(Case):
    def test_an_error_stays_an_error(self):
        with open("/dev/full", "w") as full:
            done = run("frobnicate", capture_output=False, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)


main()

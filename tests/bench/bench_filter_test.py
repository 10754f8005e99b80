"""Small bench runs: reports must be complete and correct. Times are not checked."""

import math
import os
import subprocess

from bench_runner import BLOOMERY, BenchCase, load, main, run, times

SMALL = ["--capacity", "20k", "--rounds", "1"]
PHASES = ["add", "hit", "miss", "hit_ready", "miss_ready"]


ALL_PHASES = PHASES + [f"{phase}_batch" for phase in PHASES]


class Bench(BenchCase):
    def check_machine(self, answer):
        machine = answer["machine"]
        self.assertEqual(list(machine), ["cpu", "cores", "isa", "compiler", "build", "version"])
        self.assertGreaterEqual(machine["cores"], 1)
        self.assertTrue(machine["cpu"] and machine["compiler"] and machine["build"])

    def check_error(self, values, items):
        p = values["predicted_error"]
        sigma = math.sqrt(p * (1 - p) / items)
        self.assertLessEqual(abs(values["false_positive"] - p), 5 * sigma)
        self.assertGreater(p, 5 * sigma)  # so that the band excludes zero

    def check_filter(self, *arguments, items, error, batch=1024, env=None, engine="bloom"):
        answer = self.read_json("filter", "--json", *arguments, env=env)
        self.assertEqual(list(answer), [
            "bench", "machine", "engine", "items", "error", "key_bytes", "batch", "rounds",
            "bytes", "bits_per_item", "predicted_error", "false_positive", *times(ALL_PHASES)])
        self.check_machine(answer)
        self.assertEqual([answer[name] for name in ("bench", "engine", "items", "error", "batch")],
                         ["filter", engine, items, error, batch])
        self.check_times(answer, ALL_PHASES)
        self.check_error(answer, items)
        plan = load(subprocess.run(
            [BLOOMERY, "plan", "--capacity", str(items), "--error", repr(error), "--json"],
            check=True, capture_output=True, text=True).stdout)
        plan = [one for one in plan["plans"] if one["job"] == "filter"][engine == "compact"]
        if engine == "bloom":
            self.assertEqual(answer["bytes"], plan["bytes"])
            self.assertEqual(answer["predicted_error"], plan["expected_error"])
        else:  # here it is fixed: twice the error, one bit less
            self.assertAlmostEqual(answer["bits_per_item"], plan["bits_per_item"] - 1, delta=0.6)
            self.assertAlmostEqual(answer["predicted_error"], -math.expm1(-error),
                                   delta=error / 1000)
        return answer

    def test_filter(self):
        first = self.check_filter("--engine", "bloom", *SMALL, items=20000, error=0.01)
        # Another batch size, one that does not divide the number of keys, changes no answer.
        other = self.check_filter(*SMALL, "--batch", "7", items=20000, error=0.01, batch=7)
        self.assertEqual(first["false_positive"], other["false_positive"])
        self.check_filter("--capacity", "30001", "--error", "5%", "--rounds", "2", "--batch", "65536",
                          items=30001, error=0.05, batch=65536)

    def test_compact(self):
        first = self.check_filter("--engine", "compact", *SMALL, items=20000, error=0.01,
                                  engine="compact")
        other = self.check_filter("--engine", "compact", *SMALL, "--batch", "7", items=20000,
                                  error=0.01, batch=7, engine="compact")
        self.assertEqual(first["false_positive"], other["false_positive"])
        self.check_filter("--engine", "compact", *SMALL, "--error", "20%", items=20000, error=0.2,
                          engine="compact")

    def test_isa(self):
        asked = self.check_filter(*SMALL, "--isa", "scalar", items=20000, error=0.01)
        forced = self.check_filter(*SMALL, items=20000, error=0.01,
                                   env={**os.environ, "BLOOMERY_ISA": "scalar"})
        best = self.check_filter(*SMALL, items=20000, error=0.01)
        self.assertEqual(asked["machine"]["isa"], "scalar")
        self.assertEqual(forced["machine"]["isa"], "scalar")
        self.assertEqual(asked["false_positive"], best["false_positive"])
        self.assertEqual(forced["false_positive"], best["false_positive"])

    def check_filters(self, answer, items):
        names = [one["name"] for one in answer["filters"]]
        expected = ["blocked", "blocked_batch", "compact", "compact_batch", "standard",
                    "standard_batch"]
        if answer["libbloom"] is not None:
            expected.append("libbloom")
        self.assertEqual(names, expected)
        for one in answer["filters"]:
            self.assertEqual(list(one), [
                "name", "batched", "bytes", "bits_per_item", "predicted_error", "false_positive",
                *times(PHASES), "add_vs_libbloom", "hit_vs_libbloom", "miss_vs_libbloom"])
            self.assertEqual(one["batched"], one["name"].endswith("_batch"))
            self.assertEqual(one["hit_vs_libbloom"] is None, answer["libbloom"] is None)
            if one["name"] == "libbloom":
                self.check_times(one, PHASES[:3])
                self.assertIsNone(one["ns_hit_ready"])
            else:
                self.check_times(one, PHASES)
                self.check_error(one, items)

    def test_filters(self):
        answer = self.read_json("filters", *SMALL, "--json")
        self.check_machine(answer)
        self.check_filters(answer, 20000)

    def check_hash(self, answer):
        self.assertEqual([one["bytes"] for one in answer["keys"]], [8, 16, 32, 64, 256])
        for one in answer["keys"]:
            self.assertEqual(list(one), ["bytes", "ns", "ns_min", "ns_batch", "ns_batch_min"])
            self.assertTrue(0 < one["ns_min"] <= one["ns"] and 0 < one["ns_batch_min"] <= one["ns_batch"])

    def test_hash(self):
        answer = self.read_json("hash", "--rounds", "1", "--json")
        self.assertEqual(list(answer), ["bench", "machine", "rounds", "keys"])
        self.check_machine(answer)
        self.check_hash(answer)

    def test_table(self):
        """Without --json: a row for each member, with the elements of an array side by side."""
        def flat(value, name=""):
            for key, member in value.items():
                members = member if isinstance(member, list) else [member]
                for one in members:
                    if isinstance(one, dict):
                        yield from flat(one, f"{name}{key}.")
                    else:
                        yield name + key, one

        for arguments in (["filters", *SMALL], ["windows", "--capacity", "1k", "--rounds", "1"],
                          ["seen", "--capacity", "5k", "--rounds", "1"]):
            answer = {}
            for name, value in flat(self.read_json(*arguments, "--json")):
                answer.setdefault(name, []).append(value)
            done = run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            rows = {row[0]: row[1:] for line in done.stdout.splitlines() if (row := line.split())}
            self.assertEqual(list(rows), list(answer))
            for name, values in answer.items():
                if not name.startswith("machine."):
                    self.assertEqual(len(rows[name]), len(values), name)
                if name.endswith(("engine", ".name", ".bytes", "lements", "error", "awk_is")):
                    self.assertEqual(rows[name], [
                        f"{value:.4g}" if isinstance(value, float) else str(value)
                        for value in values])

    def test_misuse(self):
        groups = "is not one of 1, 8, 16, 32, 64, 128, 256 and 512"
        for words, problem in (
                ("", "missing case: hash, filter, filters, maplet, map, maps, memcached, index, indexes, "
                     "window, windows, seen or flows"),
                ("frobnicate", 'there is no case "frobnicate"'),
                ("hash filter", 'unexpected argument "filter"'),
                ("hash --capacity 5k", "hash does not use --capacity"),
                ("filters --engine bloom", "filters does not use --engine"),
                ("filter --capacity 999", "--capacity: 999 is not between 1000 and 4294967296"),
                ("filter --capacity 1T", "--capacity: 1000000000000 is not between 1000 and 4294967296"),
                ("filter --capacity 0", '--capacity: "0" is not above 0'),
                ("filter --batch 65537", "--batch: 65537 is not between 1 and 65536"),
                ("filter --rounds 100", "--rounds: 100 is not between 1 and 99"),
                ("filter --engine cuckoo", '--engine: there is no engine "cuckoo"'),
                ("filter --engine kbf", "--engine: filters have no engine kbf"),
                ("filter --isa mmx", '--isa: there is no instruction set "mmx"'),
                ("filter --error 0.9", "--error: 0.9 is not between 1e-09 and 0.5"),
                ("filter --raw 8", "filter does not use --raw"),
                ("filter --grow", "filter does not use --grow"),
                ("filter --compare", "filter does not use --compare"),
                ("filter --units 8", "filter does not use --units"),
                ("index --engine kbf", "--engine: indexes have no engine kbf"),
                ("index --group 8", "--group: engine compact does not have it"),
                ("index --segmented", "--segmented: engine compact does not have it"),
                ("index --engine dba --group 7", f"--group: 7 {groups}"),
                ("index --units 2^20 --unit-capacity 2^20",
                 "--units times --unit-capacity: 1099511627776 is not between 1000 and 4294967296"),
                ("index --units 2^21", "--units: 2097152 is not between 1 and 1048576"),
                ("index --capacity 5k", "index does not use --capacity"),
                ("index --values 5", "index does not use --values"),
                ("indexes --group 8", "indexes does not use --group"),
                ("maplet --raw 33", "--raw: 33 is not between 0 and 32"),
                ("maplet --raw=", '--raw: "" is empty'),
                ("maplet --raw x", '--raw: "x" is not a count such as 5000, 64k, 10M, 1e6 or 2^20'),
                ("maplet --grow=yes", "--grow takes no value"),
                ("maplet --engine bloom", "maplet does not use --engine"),
                ("map --engine bloom", "--engine: maps have no engine bloom"),
                ("map --layout paper", "--layout: engine compact does not have it"),
                ("map --decode 2", "--decode: engine compact does not have it"),
                ("map --unmasked", "--unmasked: engine compact does not have it"),
                ("map --size 2", "--size: engine compact does not have it"),
                ("map --engine kbf --layout round", '--layout: there is no layout "round"'),
                ("map --engine kbf --decode 5", '--decode: there is no decode "5"'),
                ("map --engine kbf --encoder x", '--encoder: there is no encoder "x"'),
                ("map --engine kbf --encoder greedy --decode 4",
                 "--decode: the greedy encoder has levels 1 to 3 and sets"),
                ("map --engine kbf --size x", '--size: "x" is not a number'),
                ("map --engine kbf --size 0", "--size: 0 is not between 0.01 and 100"),
                ("map --zipf -1", "--zipf: -1 is not between 0 and 10"),
                ("map --zipf nan", '--zipf: "nan" is not a number'),
                ("map --engine kbf --values 16384", "--values: 16384 is not between 1 and 16383"),
                ("map --engine kbf --integers --values 8193", "--values: 8193 is not between 1 and 8192"),
                ("map --values 1 --top-share 0.5", "--top-share: a single value has all"),
                ("map --raw 3", "map does not use --raw"),
                ("maps --values 16384", "--values: 16384 is not between 1 and 16383"),
                ("maps --engine kbf", "maps does not use --engine"),
                ("memcached --batch 7", "memcached does not use --batch"),
                ("window --engine kbf", "--engine: windows have no engine kbf"),
                ("window --mode paper", "--mode: engine compact does not have it"),
                ("window --engine fbf --mode x", '--mode: there is no mode "x"'),
                ("window --generations 1025", "--generations: 1025 is not between 1 and 1024"),
                ("window --packets 5k", "window does not use --packets"),
                ("windows --engine fbf", "windows does not use --engine"),
                ("seen --generations 5", "seen does not use --generations")):
            self.expect_misuse(words.split(), problem)

    def test_an_isa_of_another_machine(self):
        other = "avx2" if os.uname().machine == "aarch64" else "neon"
        self.expect(["hash", "--isa", other], 3, "",
                    f"bloomery-bench: --isa: this machine does not run {other}\n")

    def test_full_disk(self):
        with open("/dev/full", "w") as full:
            done = run("filter", *SMALL, "--json", capture_output=False, stdout=full,
                       stderr=subprocess.PIPE)
        self.assertEqual((done.returncode, done.stderr),
                         (3, "bloomery-bench: standard output: No space left on device\n"))


main()

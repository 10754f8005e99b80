"""Small runs of `bloomery-bench index` and `indexes`: complete, correct, and the same on every
instruction set."""

import math

from bench_runner import BenchCase, main, times

SMALL = ["--units", "20", "--unit-capacity", "1000", "--rounds", "1"]
PHASES = ["add", "hit", "miss", "hit_batch", "miss_batch", "reinsert"]
ROW = ["engine", "units", "unit_capacity", "group", "segmented", "hashes", "bytes",
       "bits_per_element", "planned_error", "estimated_error", "false_positive", "locate_exact",
       *times(PHASES)]
FACTS = ["group", "hashes", "bytes", "planned_error", "estimated_error", "false_positive",
         "locate_exact"]


class Index(BenchCase):
    def check_row(self, row, asked, error, engine, reinsert):
        """Checks sizes and errors, and that times exist."""
        self.assertEqual(row["engine"], engine)
        self.check_times(row, PHASES, missing=() if reinsert else ("reinsert",))
        elements = row["units"] * row["unit_capacity"]
        self.assertEqual(row["bits_per_element"], row["bytes"] * 8 / elements)
        self.assertLessEqual(row["planned_error"], error * 1.000001)
        p = row["estimated_error"]
        self.assertLessEqual(p, error * 1.05)
        band = 5 * math.sqrt(p * asked) + 1
        self.assertLessEqual(row["false_positive"] * asked, p * asked + band)
        # Present elements have false candidates nearly as often as absent ones.
        self.assertLessEqual((1 - row["locate_exact"]) * asked, p * asked + band)
        # The lower bound for fingerprints or filters.
        if engine == "compact":
            least = math.log2(1 / error) + math.log2(row["units"])
            # At this size the directory counts.
            self.assertTrue(least < row["bits_per_element"] < least + 9, row["bits_per_element"])
        else:
            # The share of one unit in the error, and a Bloom filter's bits for that.
            one = -math.expm1(math.log1p(-error) / row["units"])
            self.assertGreater(row["bits_per_element"], -math.log2(one) / math.log(2))
            self.assertEqual(row["hashes"], math.ceil(-math.log2(one)))

    def check(self, *arguments, engine="compact", units=20, unit_capacity=1000, error=0.001,
              grow=False, segmented=False, batch=1024, rounds=1):
        answer = self.read_json("index", "--json", *arguments)
        self.assertEqual(list(answer), ["bench", "machine", "elements", "asked", "error", "grow",
                                        "batch", "rounds", "reinserted", *ROW])
        elements = units * unit_capacity
        self.assertEqual(
            [answer[name] for name in ("bench", "elements", "asked", "error", "grow", "batch",
                                       "rounds", "engine", "units", "unit_capacity", "segmented")],
            ["index", elements, min(elements, 10**6), error, grow, batch, rounds, engine, units,
             unit_capacity, segmented])
        dba = engine == "dba"
        self.assertEqual(answer["reinserted"] > 0, dba)
        self.check_row(answer, answer["asked"], error * 0.75 if grow else error, engine, dba)
        return answer

    def test_compact(self):
        first = self.check(*SMALL)
        self.assertEqual((first["group"], first["hashes"]), (0, 0))
        self.check(*SMALL, "--engine", "auto", "--batch", "7", batch=7)
        scalar = self.check(*SMALL, "--engine", "compact", "--isa", "scalar")
        self.assertEqual([first[name] for name in FACTS], [scalar[name] for name in FACTS])
        self.check(*SMALL, "--grow", grow=True)
        self.check(*SMALL, "--error", "20%", "--rounds", "2", error=0.2, rounds=2)

    def test_dba(self):
        # All widths and all instruction sets give the same answers.
        seen = set()
        for options in ([], ["--group", "1"], ["--group", "8"], ["--group", "64"],
                        ["--group", "512"], ["--group", "64", "--isa", "scalar"],
                        ["--batch", "3"]):
            answer = self.check(*SMALL, "--engine", "dba", *options, engine="dba",
                                batch=3 if "--batch" in options else 1024)
            seen.add((answer["false_positive"], answer["locate_exact"], answer["estimated_error"]))
            if options[:1] == ["--group"]:
                self.assertEqual(answer["group"], int(options[1]))
        self.assertEqual(len(seen), 1)
        self.check(*SMALL, "--engine", "dba", "--segmented", engine="dba", segmented=True)
        self.check("--units", "1", "--unit-capacity", "1000", "--rounds", "1", "--engine", "dba",
                   engine="dba", units=1)

    def test_indexes(self):
        answer = self.read_json("indexes", "--unit-capacity", "200", "--rounds", "1",
                                "--json")
        error = 2**-14
        self.assertEqual(list(answer), ["bench", "machine", "units", "unit_capacity", "error",
                                        "asked", "batch", "rounds", "indexes", "engines", "control",
                                        "ratios"])
        self.assertEqual([answer[name] for name in ("units", "unit_capacity", "error", "asked")],
                         [160, 200, error, 32000])
        rows = answer["indexes"]
        self.assertEqual([row["engine"] for row in rows], ["dba"] * 5 + ["compact", "exact"])
        self.assertEqual([row["group"] for row in rows], [1, 8, 64, 256, 512, 0, 0])
        exact = rows.pop()
        self.assertEqual(list(exact), ROW)
        self.assertEqual((exact["false_positive"], exact["locate_exact"]), (0, 1))
        self.assertGreaterEqual(exact["bits_per_element"], 96 / 0.7)
        for row in rows:
            self.assertEqual(list(row), ROW)
            self.check_row(row, 32000, error, row["engine"], False)
        self.assertEqual(len({row["false_positive"] for row in rows[:5]}), 1)

        engines = answer["engines"]["indexes"]
        self.assertEqual(answer["engines"]["error"], 0.001)
        self.assertEqual([(row["engine"], row["units"], row["unit_capacity"], row["group"])
                          for row in engines], [("dba", 64, 500, 512), ("compact", 64, 500, 0)])
        for row in engines:
            self.check_row(row, 32000, 0.001, row["engine"], False)

        control = answer["control"]
        self.assertEqual((control["planned_units"], control["grown_units"]), (64, 160))
        runs = control["runs"]
        self.assertEqual([one["control"] for one in runs],
                         ["uncontrolled", "larger", "tighter", "tighter_segmented"])
        for one in runs:
            self.assertEqual(list(one), ["control", "units", "bytes", "rebuilds", "reinserted",
                                         "full_error", "estimated_error", "false_positive",
                                         "by_target", "ns_reinsert"])
            self.assertAlmostEqual(one["by_target"], one["false_positive"] / error)
            controlled = one["control"] != "uncontrolled"
            self.assertEqual(one["reinserted"] > 0, controlled)
            self.assertEqual(one["ns_reinsert"] is not None, controlled)
            if controlled:
                self.assertLessEqual(one["full_error"], error * 1.000001)
            else:
                self.assertTrue(2.3 * error < one["full_error"] < 2.7 * error)
        self.assertLessEqual(runs[1]["units"], 64)

        ratios = answer["ratios"]
        self.assertEqual(list(ratios), [
            f"{phase}_{g}_{what}" for g in (8, 64, 256, 512) for what in ("by_1", "batched")
            for phase in ("miss", "hit")] + ["compact_miss_by_dba", "compact_hit_by_dba",
                                             "segmented_reinsert"])
        for g, row in zip((8, 64, 256, 512), rows[1:]):
            for phase in ("miss", "hit"):
                self.assertAlmostEqual(ratios[f"{phase}_{g}_by_1"],
                                       rows[0][f"ns_{phase}"] / row[f"ns_{phase}"])
                self.assertAlmostEqual(ratios[f"{phase}_{g}_batched"],
                                       row[f"ns_{phase}"] / row[f"ns_{phase}_batch"])
        self.assertAlmostEqual(ratios["compact_miss_by_dba"],
                               engines[1]["ns_miss_batch"] / engines[0]["ns_miss_batch"])
        self.assertAlmostEqual(ratios["segmented_reinsert"],
                               runs[2]["ns_reinsert"] / runs[3]["ns_reinsert"])


main()

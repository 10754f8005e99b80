"""Small runs of `bloomery-bench maplet`: complete, correct, and the same on every instruction
set."""

import math

from bench_runner import BenchCase, main, times

SMALL = ["--capacity", "20k", "--rounds", "1"]
PHASES = ["insert", "insert_full", "upsert", "delete", "hit", "miss", "hit_batch", "miss_batch"]
TIMES = times(PHASES)
FACTS = ["bytes", "bits_per_entry", "load", "predicted_error", "false_positive", "collided",
         "max_step"]
GROWTH = ["bits_per_entry_mean", "bits_per_entry_max", "relative_max"]


class Maplet(BenchCase):
    def check_errors(self, answer, share):
        """Keys that find, or share, one of n fingerprints out of n / share."""
        items, p = answer["items"], -math.expm1(-share)
        sigma = math.sqrt(p * (1 - p) / items)
        self.assertAlmostEqual(answer["predicted_error"], share, delta=share / 1000)
        self.assertLessEqual(abs(answer["false_positive"] - p), 5 * sigma)
        self.assertLessEqual(abs(answer["collided"] - p), 5 * math.sqrt(2) * sigma)

    def check(self, *arguments, items=20000, value_bits=12, error=0.001, grow=False, batch=1024,
              rounds=1, compare=False):
        answer = self.read_json("maplet", "--json", *arguments)
        self.assertEqual(list(answer), [
            "bench", "machine", "items", "value_bits", "error", "isa", "grow", "batch", "rounds",
            *FACTS, *(GROWTH if grow else []), *TIMES, *(["exact", "ratios"] if compare else [])])
        self.assertEqual([answer[name] for name in (
            "bench", "items", "value_bits", "error", "isa", "grow", "batch", "rounds")], [
            "maplet", items, value_bits, error, answer["machine"]["isa"], grow, batch, rounds])
        share = error * 0.75 if grow else error
        self.check_errors(answer, share)
        self.assertEqual(answer["bits_per_entry"], answer["bytes"] * 8 / items)
        # The lower bound for n fingerprints and values, plus a few bits; the directory's first
        # group counts at this size.
        least = math.log2(1 / share) + value_bits
        self.assertTrue(least < answer["bits_per_entry"] < least + 6, answer["bits_per_entry"])
        self.assertTrue(0.5 < answer["load"] < 1, answer["load"])
        self.assertTrue(0 < answer["max_step"] <= 8192)
        self.check_times(answer, PHASES)
        if grow:
            self.assertGreaterEqual(answer["bits_per_entry_max"], answer["bits_per_entry"])
            self.assertTrue(
                least < answer["bits_per_entry_mean"] <= answer["bits_per_entry_max"] < least + 8)
        if compare:
            exact = answer["exact"]
            self.assertEqual(list(exact), ["bytes_per_entry", *TIMES])
            self.check_times(exact, PHASES)
            # 12 bytes per slot, 7 of 10 in use; after doubling, more than half of that.
            full = 12 / 0.7
            self.assertTrue(full < exact["bytes_per_entry"] < full * (2.01 if grow else 1.01))
            self.assertEqual(list(answer["ratios"]), ["bytes", *PHASES])
            for name, ratio in answer["ratios"].items():
                self.assertAlmostEqual(ratio, exact["bytes_per_entry"] * items / answer["bytes"]
                                       if name == "bytes" else
                                       exact[f"ns_{name}"] / answer[f"ns_{name}"], places=6)
        return answer

    def test_fixed(self):
        first = self.check(*SMALL)
        # Neither the size of a batch nor the instruction set changes what is found or held.
        batch = self.check(*SMALL, "--batch", "7", batch=7)
        scalar = self.check(*SMALL, "--isa", "scalar")
        self.assertEqual(scalar["isa"], "scalar")
        for other in (batch, scalar):
            self.assertEqual([other[name] for name in FACTS], [first[name] for name in FACTS])

    def test_value_bits(self):
        self.check(*SMALL, "--raw", "0", value_bits=0)
        self.check(*SMALL, "--raw", "32", value_bits=32)

    def test_errors(self):
        # At these, thousands of entries share a fingerprint; or none.
        self.check(*SMALL, "--error", "20%", "--raw", "8", error=0.2, value_bits=8)
        self.check(*SMALL, "--error", "1e-9", error=1e-9)

    def test_grow(self):
        answer = self.check(*SMALL, "--grow", grow=True)
        self.assertIsNone(answer["relative_max"])  # it begins at 100,000 entries
        answer = self.check("--capacity", "200001", "--rounds", "2", "--grow", "--raw", "16",
                            items=200001, rounds=2, grow=True, value_bits=16)
        self.assertTrue(0.9 < answer["relative_max"] <= 1.25, answer["relative_max"])

    def test_compare(self):
        alone = self.check(*SMALL, "--error", "1%", error=0.01)
        beside = self.check(*SMALL, "--error", "1%", "--compare", error=0.01, compare=True)
        self.assertEqual([alone[name] for name in FACTS], [beside[name] for name in FACTS])
        self.check(*SMALL, "--compare", "--grow", compare=True, grow=True)

    def test_more_than_fingerprints_tell(self):
        self.expect(["maplet", "--capacity", "2^32", "--error", "1e-9", "--grow"], 3, "",
                    "bloomery-bench: no maplet can be made at this size and error\n")


main()

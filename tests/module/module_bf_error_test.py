"""The rate of false positives of filters is at most the requested one, at full capacity and however
often they have grown, with a few bits per item; and deletions free memory.

    PROGRAM SERVER MODULE [PRELOAD]      20,000 items; more with BLOOMERY_BF_ITEMS=n
"""

import math
import os

import server_runner
from server_runner import Case

ITEMS = int(os.environ.get("BLOOMERY_BF_ITEMS", "20000"))
BATCH = 500
ASKED = max(ITEMS, 100_000)


class Errors(Case):
    def all(self, command, key, name, n):
        """Runs the command on n items with that name prefix, in large batches; returns the sum of
        its answers."""
        total = 0
        for start in range(0, n, 100 * BATCH):
            replies = self.client.pipeline(
                [[command, key, *(f"{name} {i}" for i in range(at, min(at + BATCH, n)))]
                 for at in range(start, min(start + 100 * BATCH, n), BATCH)])
            total += sum(map(sum, replies))
        return total

    def check(self, key, n, error):
        """All stored items are present; of the absent items, at most the error rate plus five
        standard deviations are reported."""
        stored = self.all("BF.MADD", key, "in", n)
        self.assertEqual(self.client("BF.CARD", key), stored)
        # Items that seemed to be present were not stored: at most a fraction equal to the error.
        self.assertGreater(stored, n * (1 - error) - 5 * math.sqrt(n * error))
        self.assertEqual(self.all("BF.MEXISTS", key, "in", n), n)
        wrong = self.all("BF.MEXISTS", key, "none", ASKED)
        self.assertLessEqual(wrong, ASKED * error + 5 * math.sqrt(ASKED * error * (1 - error)))
        return stored, wrong

    def test_from_the_default_capacity(self):
        self.client("BF.ADD", "k", "first")
        little = self.client("MEMORY", "USAGE", "k")
        self.client("BF.DEL", "k", "first")
        stored, _ = self.check("k", ITEMS, 0.01)
        self.assertGreater(self.client("BF.INFO", "k", "FILTERS")[0], math.log2(ITEMS / 100))
        per_item = self.client("MEMORY", "USAGE", "k") / stored
        self.assertLess(per_item, 2 if ITEMS >= 10**6 else 2.8)
        self.assertEqual(self.all("BF.DEL", "k", "in", ITEMS), stored)
        self.assertEqual(self.client("BF.CARD", "k"), 0)
        self.assertLess(self.client("MEMORY", "USAGE", "k"), little + 4096)
        self.assertEqual(self.all("BF.MEXISTS", "k", "in", 1000), 0)

    def test_full_and_fixed(self):
        """At capacity the error rate is fully used, which shows that the test can measure it."""
        for error in (0.1, 0.01, 0.001):
            key = f"fixed {error}"
            self.client("BF.RESERVE", key, error, ITEMS * 2, "NONSCALING", "SEED", 4)
            before = self.all("BF.MADD", key, "in", ITEMS)
            added = 0
            while self.client("BF.CARD", key) < ITEMS * 2:
                self.client.ask("BF.MADD", key, *(f"more {added + i}" for i in range(BATCH)))
                added += BATCH
            self.assertGreater(before, 0)
            wrong = self.all("BF.MEXISTS", key, "none", ASKED)
            spread = 5 * math.sqrt(ASKED * error)
            self.assertLessEqual(wrong, ASKED * error + spread)
            self.assertGreater(wrong, ASKED * error * 0.8 - spread)
            bits = 8 * self.client("MEMORY", "USAGE", key) / (ITEMS * 2)
            self.assertLess(bits, math.log2(1 / error) + (4.5 if ITEMS >= 10**6 else 6))

    def test_expansions_of_other_steps(self):
        for expansion in (1, 4):
            self.client("BF.RESERVE", f"k{expansion}", 0.02, 10, "EXPANSION", expansion)
            self.check(f"k{expansion}", ITEMS, 0.02)

    def test_in_chunks(self):
        """In the long run, several chunks of the real size."""
        n = 4 * ITEMS
        self.client("BF.RESERVE", "k", "1e-9", 100)
        self.assertEqual(self.all("BF.MADD", "k", "in", n), n)
        iterator, chunks = 0, 0
        while True:
            iterator, data = self.client("BF.SCANDUMP", "k", iterator)
            if iterator == 0:
                break
            self.assertLessEqual(len(data), 16 << 20)
            self.client("BF.LOADCHUNK", "t", iterator, data)
            chunks += 1
        self.assertEqual(chunks > 1, ITEMS >= 10**6)
        self.assertEqual(*self.client("DEBUG", "DIGEST-VALUE", "k", "t"))
        self.assertEqual(self.all("BF.MEXISTS", "t", "in", n), n)


server_runner.main()

"""What the server sees of the module, whatever the family: access control, memory and its limits."""

import sys

import server_runner
from server_runner import Case, Client, Error, pairs


class Access(Case):
    def commands(self):
        names = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        self.assertGreater(len(names), 20)
        return {info[0].lower(): info for info in self.client("COMMAND", "INFO", *names)}

    def test_categories(self):
        """Where a server knows categories of modules, every command is in ours and in those that
        its flags stand for, and rules with them work. (ACL CAT leaves modules out.)"""
        if b"bloomery" not in self.client("ACL", "CAT"):
            self.assertEqual({tuple(info[6]) for info in self.commands().values()}, {()})
            self.skipTest("this server has no categories for modules")
        for name, info in self.commands().items():
            flags, categories = set(info[2]), set(info[6])
            self.assertIn(b"@bloomery", categories, name)
            self.assertEqual(b"@write" in categories, b"write" in flags, name)
            self.assertEqual(b"@read" in categories, b"readonly" in flags, name)
            self.assertEqual(b"@fast" in categories, b"fast" in flags, name)
        listed = self.client("COMMAND", "LIST", "FILTERBY", "ACLCAT", "bloomery")
        self.assertEqual({name.lower() for name in listed}, set(self.commands()))
        self.client("ACL", "SETUSER", "reader", "on", ">x", "~*", "-@all", "+@bloomery", "-@write")
        self.addCleanup(self.client, "ACL", "DELUSER", "reader")
        self.client("MAP.SET", "m", "a", "1")
        user = Client(self.server.port)
        user("AUTH", "reader", "x")
        self.assertEqual(user("MAP.GET", "m", "a"), [b"1"])
        for command in (["MAP.SET", "m", "a", "2"], ["GET", "m"], ["DEL", "m"]):
            self.assertEqual(user.ask(*command).word, "NOPERM", command)
        user.close()


class Errors(Case):
    """INFO's estimate against what happens. The promise is 1 %; half of it is used."""

    N = 100_000

    def figures(self, family):
        info = self.client.info("bloomery")
        return [float(info[f"bloomery_{family}_{what}_error"]) for what in ("promised", "estimated")]

    def assertNear(self, seen, asked, share):
        """Within five standard deviations, and a last digit's half, of what was to be expected."""
        expected = asked * share
        self.assertLess(abs(seen - expected), 5 * expected**0.5 + expected * 0.005, (seen, expected))

    def loaded_anew(self):
        """The same data, and totals that begin at nothing."""
        self.addCleanup(lambda: (self.client("FLUSHALL"), self.save()))
        self.save()
        self.server.restart()

    def test_maps(self):
        for capacity, n in ((1000, 30_000), (50_000, 20_000)):
            self.client("FLUSHALL")
            self.loaded_anew()
            self.client("MAP.CREATE", "m", "CAPACITY", capacity, "ERROR", "1%", "SEED", 5)
            self.client.pipeline(["MAP.SET", "m", i, "v"] for i in range(n))
            promised, mean = self.figures("map")  # of all moments from empty on
            now = float(pairs(self.client("MAP.INFO", "m"))[b"estimated_false_positive"])
            self.assertEqual(promised, 0.01)
            self.assertTrue(0 < mean < now <= promised, (mean, now))
            self.loaded_anew()
            seen = 0
            for start in range(0, self.N, 1000):
                seen += sum(self.client("MAP.EXISTS", "m",
                                        *(f"none {i}" for i in range(start, start + 1000))))
            promised, mean = self.figures("map")
            self.assertEqual(promised, 0.01)
            self.assertNear(seen, self.N, mean)
            self.assertGreater(seen, 100)

    def test_maps_of_engine_kbf(self):
        """Here it is fields that are there which are not found: UNSURE."""
        n = 20_000
        self.client("MAP.CREATE", "m", "ENGINE", "kbf", "CAPACITY", n, "ERROR", "5%", "SEED", 5)
        self.client.pipeline(["MAP.SET", "m", i, i % 9] for i in range(n))
        self.loaded_anew()
        unsure = 0
        for start in range(0, n, 1000):
            unsure += sum(isinstance(value, Error) for value in
                          self.client("MAP.GET", "m", *range(start, start + 1000)))
        promised, mean = self.figures("map")
        self.assertEqual(promised, 0.05)
        self.assertNear(unsure, n, mean)
        self.assertGreater(unsure, 100)
        self.assertEqual(self.client.info("bloomery")["bloomery_map_unsure"], unsure)

    def test_counters(self):
        """Operations lost because another id is taken for theirs."""
        self.loaded_anew()
        self.client("COUNTER.CREATE", "t", "WINDOW", "1h", "CAPACITY", 200_000, "ERROR", "1%",
                    "SEED", 5)
        applied = 0
        for start in range(0, self.N, 500):
            applied += sum(new for _, new in self.client(
                "COUNTER.MINCRBY", "t", *(x for i in range(start, start + 500) for x in ("c", 1, i))))
        promised, mean = self.figures("counter")
        self.assertEqual(promised, 0.01)
        self.assertNear(self.N - applied, self.N, mean)
        self.assertLess(mean, promised)
        self.assertEqual(self.client.info("bloomery")["bloomery_counter_operations"], self.N)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()

"""The module as the server sees it, for all families: access control, memory and its limits."""

import re

import server_runner
from server_runner import Case, Error, Server, encode, pairs


class Access(Case):
    def commands(self):
        names = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        self.assertGreater(len(names), 20)
        return {info[0].lower(): info for info in self.client("COMMAND", "INFO", *names)}

    def test_categories(self):
        """If the server supports categories of modules, every command is in ours and in those of
        its flags, and rules with them work. (ACL CAT omits modules.)"""
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
        user = self.connect()
        user("AUTH", "reader", "x")
        self.assertEqual(user("MAP.GET", "m", "a"), [b"1"])
        for command in (["MAP.SET", "m", "a", "2"], ["GET", "m"], ["DEL", "m"]):
            self.assertEqual(user.ask(*command).word, "NOPERM", command)


class Descriptions(Case):
    def undescribed(self, arguments):
        """The names of arguments without a description; those with parts need none unless they
        begin with a token."""
        for argument in map(pairs, arguments):
            parts = argument.get(b"arguments", [])
            summary = argument.get(b"summary", b"." if parts and b"token" not in argument else b"")
            if not summary.endswith(b"."):
                yield argument[b"name"]
            yield from self.undescribed(parts)

    def test_every_argument(self):
        """For every command that is not internal."""
        names = self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")
        docs = pairs(self.client("COMMAND", "DOCS", *names))
        arguments = {name: pairs(about).get(b"arguments") for name, about in docs.items()}
        for_people = {name: given for name, given in arguments.items() if given}
        self.assertGreater(len(for_people), 40)
        for name, given in for_people.items():
            self.assertEqual(list(self.undescribed(given)), [], name)


class Numbers(Case):
    """Numbers with a fraction, as clients and people read them."""

    def raw(self, version, *command, until=b"bytes_values"):
        client = self.connect()
        client("HELLO", version)
        client.socket.sendall(encode(command))
        client.socket.settimeout(1)
        received = b""
        while until not in received:  # the last pair
            more = client.socket.recv(65536)
            self.assertNotEqual(more, b"", received)
            received += more
        return received

    def test_as_short_as_can_be(self):
        for error, decimals in (("0.0005", b"0.0005"), ("0.1", b"0.1"), ("0.3", b"0.3"),
                                ("0.00012345678901", b"0.00012345678901")):
            self.client("FLUSHALL")
            self.client("MAP.CREATE", "m", "ERROR", error)
            self.assertIn(b"error\r\n$%d\r\n%s\r\n" % (len(decimals), decimals),
                          self.raw(2, "MAP.INFO", "m"))
            self.assertIn(b"error\r\n,%s\r\n" % decimals, self.raw(3, "MAP.INFO", "m"))
        # Numbers with more than 17 decimals have the same value, in the server's notation.
        self.client("FLUSHALL")
        self.client("MAP.CREATE", "m", "ERROR", "1.23456789012345e-08")
        self.assertIn(b"$20\r\n1.23456789012345e-08\r\n", self.raw(2, "MAP.INFO", "m"))
        self.assertIn(1.23456789012345e-08,
                      [float(x) for x in re.findall(rb",(\S+)", self.raw(3, "MAP.INFO", "m"))])

    def test_the_same_after_replication(self):
        with Server(appendonly="yes") as server:
            for error in ("0.0005", "0.1", "1e-9", "0.00012345678901", "0.3333333333333333"):
                server.client("MAP.CREATE", error, "ERROR", error)
                server.client("WINDOW.CREATE", f"w{error}", "ERROR", error, "WINDOW", 5)
            self.restarts_as_it_is(server)

    def test_info_has_points(self):
        """Otherwise clients take the number for text or an integer."""
        self.client("MAP.CREATE", "m", "ERROR", "1e-6", "SEED", 1)
        self.client("MAP.SET", "m", *range(100))
        self.client("BF.ADD", "k", "a")
        shown = {name: value for name, value in self.client.info("bloomery").items()
                 if name.endswith("_error")}
        self.assertGreaterEqual(len(shown), 4)
        for name, value in shown.items():
            self.assertRegex(value, r"^\d+\.\d+(e-\d+)?$", name)
        self.assertEqual(shown["bloomery_map_promised_error"], "1.0e-06")
        self.assertEqual(shown["bloomery_filter_promised_error"], "0.01")

    def test_six_digits_of_what_is_computed(self):
        self.client("MAP.CREATE", "m", "ERROR", "0.00012345678901", "SEED", 1)
        self.client("MAP.SET", "m", *range(100))
        self.client("INDEX.CREATE", "i", "SEED", 1)
        self.client("INDEX.ADD", "i", 1, *range(100))
        self.client("WINDOW.CREATE", "w", "WINDOW", 60000, "SEED", 1)
        self.client("WINDOW.ADD", "w", "a")
        self.client("COUNTER.CREATE", "c", "WINDOW", 60000, "SEED", 1)
        self.client("COUNTER.INCRBY", "c", "a", 1, "x")
        self.client("ONCE.CREATE", "g", "WINDOW", 60000, "SEED", 1)
        for command, last in ((("MAP.INFO", "m"), b"bytes_values"), (("INDEX.INFO", "i"), b"bytes"),
                              (("INDEX.INFO", "i", 1), b"estimated_error"),
                              (("WINDOW.INFO", "w"), b"bytes"), (("ONCE.INFO", "g"), b"bytes"),
                              (("COUNTER.INFO", "c"), b"bytes_counters")):
            with self.subTest(command=command):
                shown = self.client(*command)
                self.assertEqual(list(pairs(shown))[-1], last)  # the reply counts its pairs
                for name, value in pairs(shown).items():
                    if name.endswith((b"error", b"positive", b"negative", b"incorrect", b"lost",
                                      b"load", b"fill")) and value != b"0.00012345678901":
                        self.assertEqual(value, b"%.6g" % float(value), name)
                received = self.raw(3, *command, until=last)
                self.assertEqual(int(re.search(rb"%(\d+)\r\n", received).group(1)), len(shown) // 2)
                for number in re.findall(rb",(\S+)\r\n", received):
                    if number != b"0.00012345678901":  # as given
                        self.assertEqual(float(number), float(b"%.6g" % float(number)))


class Memory(Case):
    # The same on servers that free in another thread.
    SETTINGS = {f"lazyfree-lazy-{what}": "no" for what in
                ("user-del", "user-flush", "eviction", "expire", "server-del")}
    FAMILIES = {  # how to create a key, and the words of its i-th item
        "map": (["MAP.CREATE"], "MAP.SET", lambda i: (i, i % 99)),
        "window": (["WINDOW.CREATE", "WINDOW", "1h"], "WINDOW.ADD", lambda i: (i,)),
        "counter": (["COUNTER.CREATE", "WINDOW", "1h"], "COUNTER.INCRBY",
                    lambda i: (i % 999, 1, i)),
        "index": (["INDEX.CREATE", "CAPACITY", 2000], "INDEX.ADD", lambda i: (i,))}
    BATCH = 20

    def add(self, family, key, n):
        """Adds n items, in batches; returns the replies."""
        (create, *options), command, words = self.FAMILIES[family]
        self.client.ask(create, key, *options, "SEED", 1)
        return self.client.pipeline(
            [command, key, *([start // 2000] if family == "index" else []),
             *(word for i in range(start, min(start + self.BATCH, n)) for word in words(i))]
            for start in range(0, n, self.BATCH))

    def used(self):
        return self.client.info("memory")["used_memory"]

    def told(self, family, what="bytes"):
        return self.client.info("bloomery")[f"bloomery_{family}_{what}"]

    def limit(self, maxmemory, policy="noeviction"):
        self.client("CONFIG", "SET", "maxmemory-policy", policy, "maxmemory", maxmemory)

    def test_usage_is_what_the_server_gets_back(self):
        """Exact, except for the server's overhead per key; tried a few times, because the server's
        own buffers vary."""
        for family in self.FAMILIES:
            for n in (1, 8000):
                differences = []
                for _ in range(5):
                    self.add(family, "k", n)
                    self.used()
                    usage, before = self.client("MEMORY", "USAGE", "k"), self.used()
                    self.assertTrue(0 <= usage - self.told(family) < 200, (usage, family))
                    self.client("DEL", "k")
                    differences.append(abs(before - self.used() - usage))
                    self.assertEqual(self.told(family), 0)
                self.assertLess(min(differences), 200, (family, n, differences))

    def test_memory_of_an_id(self):
        """At most 3 bytes per id at an error of 10^-3, and 6 at 10^-9."""
        n = 100_000
        for create, add, words in (("WINDOW.CREATE", "WINDOW.ADD", ()),
                                   ("COUNTER.CREATE", "COUNTER.INCRBY", ("c", 1))):
            for error, most in (("1e-3", 3), ("1e-9", 6)):
                self.client("DEL", "k")
                self.client(create, "k", "WINDOW", "1h", "ERROR", error, "CAPACITY", n, "SEED", 5)
                for start in range(0, n, 1000):
                    self.client(add, "k", *(word for i in range(start, start + 1000)
                                            for word in (*words, i)))
                self.assertLess(self.client("MEMORY", "USAGE", "k"), most * n, (add, error))

    def test_totals_are_the_sum_of_all_keys(self):
        """After growth, deletions and copies; the server's overhead is the same for all names of
        one length."""
        around = {}
        for family in self.FAMILIES:
            self.add(family, "k0", 1)
            around[family] = self.client("MEMORY", "USAGE", "k0") - self.told(family)
            for i in range(1, 9):
                self.add(family, f"k{i}", 700 * i)
            self.client("DEL", "k3")
            self.client("COPY", "k8", "k3")
            if family == "map":
                self.client("MAP.DEL", "k7", *range(4000))
                self.client("MAP.COMPRESS", "k7")
            self.client("DEBUG", "RELOAD")
            total = sum(self.client("MEMORY", "USAGE", f"k{i}", "SAMPLES", 0) for i in range(9))
            self.assertEqual(total - 9 * around[family], self.told(family))
            self.client("DEL", *(f"k{i}" for i in range(9)))
            self.assertEqual([self.told(family, what) for what in ("keys", "items", "bytes")],
                             [0, 0, 0])

    def test_only_what_is_large_is_freed_aside(self):
        def aside():
            return self.client.info("memory")["lazyfreed_objects"]
        for family in self.FAMILIES:
            for n, large in ((1, False), (60_000, True)):
                self.add(family, "k", n)
                before = aside()
                self.client("UNLINK", "k")
                self.wait_until(lambda f=family: self.told(f) == 0, "it is freed")
                self.wait_until(lambda b=before, more=large: aside() == b + more,
                                f"{family} of {n}: freed aside is {large}")

    # Keys that are small until the first item, which then takes megabytes; and that item.
    LEAPS = {
        "INDEX.CREATE k ENGINE dba UNITS 16 CAPACITY 2000000": "INDEX.ADD k 1 a",
        "WINDOW.CREATE k WINDOW 1h ENGINE fbf CAPACITY 8000000": "WINDOW.ADD k a",
        "MAP.CREATE k ENGINE kbf CAPACITY 8000000": "MAP.SET k a 1",
    }

    def test_one_item_does_not_pass_the_limit_of_a_key(self):
        """However small the key was. The limit is lowered after the key was made, because the key
        could not be made under it."""
        leaps = 0
        for create, add in self.LEAPS.items():
            self.client("FLUSHALL")
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "256mb")
            self.client(*create.split())
            empty = self.client("MEMORY", "USAGE", "k")
            self.client("COPY", "k", "other")
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", max(65536, 2 * empty))
            digest = self.client("DEBUG", "DIGEST")
            reply = self.client.ask(*add.split())
            self.client("CONFIG", "SET", "bloomery.max-key-bytes", "256mb")
            self.client(*add.replace(" k ", " other ").split())
            leap = self.client("MEMORY", "USAGE", "other") - empty
            if leap < 1.2 * max(65536, 2 * empty):
                continue
            leaps += 1
            self.assertIsInstance(reply, Error, (add, leap))
            self.assertEqual(reply.word, "FULL", reply)
            self.client("DEL", "other")
            self.client("COPY", "k", "other")
            if not add.startswith("WINDOW"):  # whose time moved to make room
                self.assertEqual(self.client("DEBUG", "DIGEST"), digest, add)
        self.assertGreaterEqual(leaps, 2)

    def test_one_item_does_not_pass_maxmemory(self):
        """By megabytes: the server checks before a command and not while it runs. It may if the
        server evicts."""
        leaps = 0
        for create, add in self.LEAPS.items():
            for policy in ("noeviction", "allkeys-random"):
                self.client("CONFIG", "SET", "maxmemory", 0)
                self.client("FLUSHALL")
                self.client(*create.split())
                self.client("COPY", "k", "other")
                before = self.used()
                self.client(*add.replace(" k ", " other ").split())
                leap = self.used() - before
                self.client("DEL", "other")
                if leap < 3 << 20:
                    continue
                leaps += 1
                digest = self.client("DEBUG", "DIGEST")
                self.limit(self.used() + (2 << 20), policy)
                reply = self.client.ask(*add.split())
                if policy == "noeviction":
                    self.assertIsInstance(reply, Error, (add, leap))
                    self.assertEqual(reply.word, "NOMEM", reply)
                    self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
                else:
                    self.assertNotIsInstance(reply, Error)
        self.assertGreaterEqual(leaps, 2)

    def test_noeviction(self):
        """At the limit the server refuses commands that may add memory, and nothing else."""
        for family in self.FAMILIES:
            self.add(family, family, 5000)
        self.limit(self.used() - 100_000)
        digest = self.client("DEBUG", "DIGEST")
        flags = {info[0].upper(): info[2] for info in self.client(
            "COMMAND", "INFO", *self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery"))}
        for command in (["MAP.CREATE", "new"], ["MAP.SET", "map", "a", "1"],
                        ["MAP.SET", "new", "a", "1"], ["MAP.INSERT", "new", "FIELDS", "a", "1"],
                        ["MAP.INSERT", "map", "XX", "FIELDS", 1, "1"],
                        ["MAP.MERGE", "new", "map"], ["BLOOMERY.MAP.LOAD", "new", 0, "x"],
                        ["WINDOW.CREATE", "new", "WINDOW", 1], ["WINDOW.ADD", "window", "a"],
                        ["WINDOW.INSERT", "window", "ITEMS", "a"], ["WINDOW.MERGE", "window", "w"],
                        ["WINDOW.MERGE", "new", "window"],
                        ["BLOOMERY.WINDOW.LOAD", "new", 0, "x"], ["COUNTER.CREATE", "new", "WINDOW", 1],
                        ["COUNTER.INCRBY", "counter", "c", 1, "new"],
                        ["BLOOMERY.COUNTER.LOAD", "new", 0, "x"],
                        ["INDEX.CREATE", "new"], ["INDEX.ADD", "index", 1, "new"],
                        ["INDEX.IMPORT", "index", 2, "x"],
                        ["BLOOMERY.INDEX.LOAD", "new", 0, "x"]):
            self.assertEqual(self.client.ask(*command).word, "OOM", command)
            self.assertIn(b"denyoom", flags.pop(command[0].encode(), [b"denyoom"]), command)
        for name, its_flags in flags.items():
            if name.startswith((b"MAP.", b"WINDOW.", b"COUNTER.", b"INDEX.")):
                self.assertNotIn(b"denyoom", its_flags, f"{name} is not tried here")
        self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
        self.assertEqual(self.client("MAP.GET", "map", 1, "none"), [b"1", None])
        self.assertEqual(self.client("WINDOW.EXISTS", "window", 1), [1])
        self.assertEqual(self.client("COUNTER.GET", "counter", 1), [6])
        self.assertEqual(self.client("MAP.DEL", "map", 1, 2), [1, 1])
        self.assertEqual(self.client("WINDOW.DEL", "window", 1), [1])
        self.assertEqual(self.client("COUNTER.DEL", "counter", 1), [1])
        self.assertEqual(self.client("INDEX.LOCATE", "index", 1), [[0]])
        for command, *words in (["DEL", 1], ["SEAL"], ["DROP"]):
            self.assertEqual(self.client(f"INDEX.{command}", "index", 0, *words),
                             [1] if words else 1)
        for name in self.FAMILIES:
            self.client(f"{name}.INFO", name)
        self.client("MAP.COMPRESS", "map")
        self.client("DEL", *self.FAMILIES)
        self.client("CONFIG", "SET", "maxmemory", self.used() + 1_000_000)
        self.assertEqual(self.client("MAP.SET", "map", "a", "1"), [1])

    def test_eviction(self):
        """Keys of ours are evicted as a whole when others need the room, and the totals follow."""
        for family in self.FAMILIES:
            self.client("CONFIG", "RESETSTAT")
            limit = self.used() + 650_000
            self.limit(limit, "allkeys-lru")
            for i in range(80):
                for reply in self.add(family, f"{i:03}", 1000 * (i % 7)):
                    if isinstance(reply, Error):  # this key itself may have been evicted
                        self.assertIn("no such key", str(reply))
            self.assertGreater(self.client.info("stats")["evicted_keys"], 5)
            self.assertLess(self.used(), limit + 200_000)
            self.client("CONFIG", "SET", "maxmemory", 0)  # otherwise it continues while we look
            keys = self.client("KEYS", "*")
            self.assertEqual(self.told(family, "keys"), len(keys))
            self.assertGreater(len(keys), 5)  # of counters there are 10 to 12
            items = sum(pairs(self.client(f"{family}.INFO", key))
                        [b"counters" if family == "counter" else b"items"] for key in keys)
            self.assertEqual(self.told(family, "items"), items)
            usages = [self.client("MEMORY", "USAGE", key) for key in keys]
            around = sum(usages) - self.told(family)  # Valkey 8.1 adds nothing to what modules say
            self.assertTrue(0 <= around < 200 * len(keys), around)
            self.client("FLUSHALL")
            self.assertEqual([self.told(family, what) for what in ("keys", "items", "bytes")],
                             [0, 0, 0])


class Errors(Case):
    """INFO's estimate compared with what happens. The promise is 1 %; half of it is used."""

    N = 100_000

    def figures(self, family):
        info = self.client.info("bloomery")
        return [float(info[f"bloomery_{family}_{what}_error"]) for what in ("promised", "estimated")]

    def assertNear(self, seen, asked, share):
        """Within five standard deviations, and half of the last digit, of the expectation."""
        expected = asked * share
        self.assertLess(abs(seen - expected), 5 * expected**0.5 + expected * 0.005, (seen, expected))

    def loaded_again(self):
        """The same data, with the totals starting at zero."""
        self.addCleanup(lambda: (self.client("FLUSHALL"), self.save()))
        self.save()
        self.server.restart()

    def test_maps(self):
        for capacity, n in ((1000, 30_000), (50_000, 20_000)):
            self.client("FLUSHALL")
            self.loaded_again()
            self.client("MAP.CREATE", "m", "CAPACITY", capacity, "ERROR", "1%", "SEED", 5)
            self.client.pipeline(["MAP.SET", "m", i, "v"] for i in range(n))
            promised, mean = self.figures("map")  # averaged from empty on
            now = float(pairs(self.client("MAP.INFO", "m"))[b"estimated_false_positive"])
            self.assertEqual(promised, 0.01)
            self.assertTrue(0 < mean < now <= promised, (mean, now))
            self.loaded_again()
            seen = 0
            for start in range(0, self.N, 1000):
                seen += sum(self.client("MAP.EXISTS", "m",
                                        *(f"none {i}" for i in range(start, start + 1000))))
            promised, mean = self.figures("map")
            self.assertEqual(promised, 0.01)
            self.assertNear(seen, self.N, mean)
            self.assertGreater(seen, 100)

    def test_maps_of_engine_kbf(self):
        """Here, present fields are not found: UNSURE."""
        n = 20_000
        self.client("MAP.CREATE", "m", "ENGINE", "kbf", "CAPACITY", n, "ERROR", "5%", "SEED", 5)
        self.client.pipeline(["MAP.SET", "m", i, i % 9] for i in range(n))
        self.loaded_again()
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
        """Operations that are lost because another id is taken for theirs."""
        self.loaded_again()
        self.client("COUNTER.CREATE", "t", "WINDOW", "1h", "CAPACITY", 200_000, "ERROR", "1%",
                    "SEED", 5)
        applied = 0
        for start in range(0, self.N, 500):
            applied += sum(new for _, new in self.client(
                "COUNTER.INCRBY", "t", *(x for i in range(start, start + 500) for x in ("c", 1, i))))
        promised, mean = self.figures("counter")
        self.assertEqual(promised, 0.01)
        self.assertNear(self.N - applied, self.N, mean)
        self.assertLess(mean, promised)
        self.assertEqual(self.client.info("bloomery")["bloomery_counter_operations"], self.N)


server_runner.main()

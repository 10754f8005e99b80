"""The clients of distributed maps: each reads what the others wrote, and their documentation."""

import base64
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest.mock
import zlib

import cluster_runner
import map_agents
import server_runner
from cluster_runner import PATIENCE, Server
from map_agents import ROOT, UNSURE, Failed, NodeAgent, PythonAgent, within


class Clients(map_agents.MapCase):
    # The example of each README prints what the README says.

    def example(self, agent, language):
        why = agent.missing()
        if why:
            self.skipTest(why)
        text = (ROOT / "clients" / agent.name / "README.md").read_text()
        code, printed = re.search(rf"```{language}\n(.*?)```\n\n```text\n(.*?)```", text,
                                  re.S).groups()
        return code.replace("127.0.0.1:7000", self.cluster.nodes[0].address), printed

    def run_example(self, program, **environment):
        done = subprocess.run(program, capture_output=True, text=True, timeout=PATIENCE,
                              env=os.environ | environment)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_readme_python(self):
        code, printed = self.example(PythonAgent, "python")
        self.assertEqual(self.run_example([sys.executable, "-B", "-c", code],
                                          PYTHONPATH=str(ROOT / "clients" / "python")), printed)
        self.assertTrue(all(key.startswith(b"{routes") for key in self.cluster.keys()))

    def test_readme_node(self):
        code, printed = self.example(NodeAgent, "js")
        with tempfile.TemporaryDirectory(dir=map_agents.NODE) as directory:
            map_agents.copy_node_client(directory)
            program = pathlib.Path(directory) / "example.mjs"
            program.write_text(code)
            self.assertEqual(self.run_example(["node", str(program)]), printed)

    def check(self, agent, expected, error):
        """The agent's answers for a dict of pairs; None: absent."""
        got = agent.get_many(list(expected))
        self.assertEqual(len(got), len(expected))
        wrong = sum(answer is not UNSURE and answer != value
                    for answer, value in zip(got, expected.values()))
        unsure = sum(answer is UNSURE for answer in got)
        self.assertTrue(within(wrong, len(got), error), f"{agent.name}: {wrong} wrong answers")
        self.assertTrue(within(unsure, len(got), error), f"{agent.name}: {unsure} unsure")

    def every_direction(self, engine, value, first=0, **options):
        """One client creates the map. Each client writes keys of its own; all read all of them; another
        updates half, a third deletes a quarter. The last one reads nothing that is not there."""
        error, count = 0.001, 2000
        there = {}
        self.agents[first % len(self.agents)].create(
            self.url + engine, engine=engine, error=error, capacity=20000, seed=17, **options)
        for agent in self.agents:
            agent.open(self.url + engine)
        for i, (writer, changer, remover) in enumerate(
                zip(*(itertools.islice(itertools.cycle(self.agents), start,
                                       start + len(self.agents)) for start in range(3)))):
            mine = {f"{writer.name} {n}".encode(): value(i, n) for n in range(count)}
            new = writer.set_many(list(mine.items()))
            self.assertTrue(within(len(new) - sum(map(bool, (a is True for a in new))), count,
                                   2 * error))
            for n, key in enumerate(list(mine)[:count // 2]):
                mine[key] = value(i + 1, n)
            changer.update_many([(key, mine[key]) for key in list(mine)[:count // 2]])
            gone = list(mine)[::4]
            self.assertTrue(within(count // 4 - remover.delete_many(gone).count(True), count,
                                   2 * error))
            mine |= dict.fromkeys(gone)
            there |= mine
            self.assertEqual(writer.update_many([(b"no such key", value(0, 0))]), [False])
        for agent in self.agents:
            self.check(agent, there, 3 * error)  # keys that were deleted took others with them
            self.check(agent, {f"absent {n}".encode(): None for n in range(count)}, error)
        totals = [agent.info() for agent in self.agents]
        for total in totals[1:]:
            total["seed"] = totals[0]["seed"]  # a number or a string
            for field in set(total) & set(totals[0]) - {"queries"}:
                self.assertEqual(total[field], totals[0][field], field)
        self.agents[-1].drop()
        self.assertEqual(self.cluster.keys(), [])

    def test_numbers(self):
        for first, (engine, options) in enumerate((("compact", {}), ("kbf", {"keyed": True}))):
            self.every_direction(engine, lambda i, n: (7 * n + i) % 4096, first, raw=12, **options)

    def test_bytes(self):
        for first, (engine, options) in enumerate((("compact", {"keyed": True}), ("kbf", {})), 1):
            self.every_direction(engine, lambda i, n: b"value \xff\x00 %d" % ((7 * n + i) % 500),
                                 first, values=500, **options)

    def command(self, *words, lines=(), code=0):
        """Runs `bloomery map`; returns the lines of its output."""
        done = subprocess.run([map_agents.PROGRAM, "map", *words], capture_output=True,
                              input=b"".join(line + b"\n" for line in lines), timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout.splitlines()

    def command_get(self, url, keys):
        """What `map get` prints: {key: value}."""
        found = {}
        for line in self.command("get", url, "--json", lines=keys, code=1):
            answer = json.loads(line)
            if answer["answer"] == "present":
                found[answer["key"].encode()] = (
                    base64.b64decode(answer["value_base64"]) if "value_base64" in answer else
                    answer["value"].encode() if isinstance(answer["value"], str) else
                    answer["value"])
        return found

    def test_command_line(self):
        """The command line reads what the clients wrote, and they what it wrote."""
        if not os.environ.get("MAP_AGENT"):
            self.skipTest("the program was built without clusters")
        url, count = self.url + "shared", 1000
        for engine, kind, value in (
                ("compact", ["--raw", "12"], lambda n: 7 * n % 4096),
                ("kbf", ["--raw", "12"], lambda n: 7 * n % 4096),
                ("compact", ["--values", "500"], lambda n: b"value \xff %d" % (n % 500)),
                ("kbf", ["--values", "500", "--keyed"], lambda n: b"value %d" % (n % 500))):
            with self.subTest(engine=engine, kind=kind):
                def text(n):
                    return value(n) if kind[0] == "--values" else b"%d" % value(n)
                there = {b"line %d" % n: value(n) for n in range(count)}
                self.command("build", url, "--engine", engine, "--capacity", "20k", "--seed", "17",
                             *kind, lines=[b"line %d\t%s" % (n, text(n)) for n in range(count)])
                for agent in self.agents:
                    agent.open(url)
                    mine = {b"%s %d" % (agent.name.encode(), n): value(n + 1)
                            for n in range(count)}
                    agent.set_many(list(mine.items()))
                    there |= mine
                gone = list(there)[::5]
                self.command("put", url, lines=[b"line 1\t%s" % text(9)])
                there[b"line 1"] = value(9)
                self.command("del", url, lines=[*gone, b"none"], code=1)
                there |= dict.fromkeys(gone)
                for agent in self.agents:
                    self.check(agent, there, 0.003)
                found = self.command_get(url, list(there))
                wrong = sum(found.get(key) != value for key, value in there.items())
                self.assertTrue(within(wrong, len(there), 0.003), wrong)
                info = json.loads(b"".join(self.command("info", url, "--json")))
                self.assertEqual(info["items"], self.agents[0].info()["items"])
                self.assertEqual(self.command("ls", self.url), [b"shared"])
                self.command("drop", url)
                self.assertEqual(self.cluster.keys(), [])

    def test_odd_bytes(self):
        keys = [b"", b"\x00", b"{a}", "ü€".encode(), b"\r\n", b"\xff" * 10000]
        values = [b"", b"\x00", b"\r\n$5\r\n", b"{}", "ü€".encode(), b"\xfe" * 65535]
        for writer in self.agents:
            writer.create(self.url + "odd")
            writer.set_many(list(zip(keys, values)))
            for reader in self.agents:
                with self.subTest(writer=writer.name, reader=reader.name):
                    reader.open(self.url + "odd")
                    self.assertEqual(reader.get_many(keys + [b"{b}"]), values + [None])
            self.assertEqual(writer.delete_many(keys), [True] * len(keys))
            # The last of equal keys wins.
            writer.set_many([(b"k", value) for value in values])
            self.assertEqual(self.agents[0].get_many([b"k"]), values[-1:])
            writer.drop()
            self.assertEqual(self.cluster.keys(), [])

    def test_create(self):
        """A second creation adopts what its caller does not say, and refuses what differs."""
        for first, second in itertools.permutations(self.agents, 2):
            url = self.url + f"made%20by {first.name}".replace(" ", "%20")
            first.create(url, capacity=5000, raw=12, error=0.01, seed=7)
            second.create(url)
            second.create(url, capacity=5000, raw=12, error=0.01, seed=7, slabs=96, keyed=False)
            for different in ({"capacity": 5001}, {"raw": 11}, {"values": 100}, {"error": 0.02},
                              {"engine": "kbf"}, {"slabs": 97}, {"keyed": True}, {"seed": 8}):
                with self.subTest(client=second.name, different=different):
                    with self.assertRaises(Failed) as caught:
                        second.create(url, **different)
                    self.assertEqual(caught.exception.kind, "Mismatch")
                    if "seed" in different:  # the seed that it has is a secret
                        self.assertRegex(str(caught.exception), "exists with another seed$")
            self.assertIn(f"made by {first.name}", second.names(self.url))

    def test_options(self):
        """Options that no server accepts, or that no client could read again, are refused before
        the record is stored."""
        wrong = [({"raw": 33}, "1 to 32"), ({"raw": 14, "engine": "kbf"}, "kbf: 13"),
                 ({"error": 2}, "error is"), ({"error": 1e-12}, "error is"),
                 ({"error": -0.1}, "error is"), ({"capacity": 2**40 + 1}, "capacity is"),
                 ({"slabs": 2**24 + 1}, "slabs is"), ({"values": 2**24 + 1}, "values is"),
                 ({"values": 2**13 + 1, "engine": "kbf"}, "values is")]
        for agent in self.agents:
            some = wrong if agent.name == "c" else wrong + [  # there 0 is the default
                ({"raw": -1}, "raw is"), ({"raw": 0}, "raw is"), ({"slabs": 0}, "slabs is"),
                ({"seed": -1}, "seed is"), ({"seed": 2**64}, "seed is"),
                ({"capacity": "1M"}, "capacity is a number"), ({"capacity": 1.5}, "capacity is")]
            for options, message in some:
                with self.subTest(client=agent.name, options=options):
                    with self.assertRaisesRegex(Exception, message):
                        agent.create(self.url + "m", **options)
                    self.assertEqual(self.cluster.keys(), [])

    def test_values_that_do_not_fit(self):
        """Not one of a batch is sent."""
        for agent in self.agents:
            with self.subTest(client=agent.name):
                agent.create(self.url + agent.name, raw=12, slabs=96)
                with self.assertRaises(Exception):
                    agent.set_many([(b"a", 1), (b"b", 4096)])
                self.assertEqual(agent.get_many([b"a", b"b"]), [None, None])

    def test_names_for_a_user(self):
        """names() and `map ls` leave out what the user may not read."""
        user, password = "ann", "word"
        for node in self.cluster.nodes:
            node.client("ACL", "SETUSER", user, "on", ">" + password, "~{mine}*", "~{mine:*",
                        "+@all")
        for agent in self.agents:
            agent.create(self.url + "mine")
            agent.create(self.url + "others")
            url = self.url.replace("//", f"//{user}:{password}@")
            with self.subTest(client=agent.name):
                self.assertEqual(agent.names(url), ["mine"])
        self.assertEqual(self.command("ls", url.rstrip("/")), [b"mine"])

    def test_records(self):
        """The record, the names of keys and the options of a slab are the same in all clients."""
        for agent in self.agents:
            with self.subTest(client=agent.name):
                agent.create(self.url + "m", capacity=10**6, raw=12, seed=2**64 - 1)
                agent.set_many([(b"k", 1)])
                record = self.cluster.ask("GET", "{m}:map").decode()
                found = re.fullmatch(
                    "bloomery-map 1 slabs=96 epoch=([0-9a-f]{16}) pick=crc32 values=raw:12 "
                    "engine=compact capacity=1000000 error=0.001 seed=18446744073709551615",
                    record)
                self.assertTrue(found, record)
                slab = f"{{m:{zlib.crc32(b'k') % 96}}}:{found[1]}"
                self.assertEqual(self.cluster.keys(), sorted([slab.encode(), b"{m}:map"]))
                info = server_runner.pairs(self.cluster.ask("MAP.INFO", slab))
                self.assertEqual((info[b"capacity"], info[b"seed"], info[b"value_bits"]),
                                 (10825, b"18446744073709551615", 12))
                agent.delete_many([b"k"])
                self.assertEqual(self.cluster.keys(), [b"{m}:map"])
                agent.drop()

                self.cluster.ask("SET", "{m}:map", record + " more=1")
                with self.assertRaises(Exception) as caught:
                    agent.open(self.url + "m")
                self.assertIn("newer Bloomery", str(caught.exception))
                self.assertIn("DEL {m}:map", str(caught.exception))
                self.cluster.ask("DEL", "{m}:map")

    def test_dropped(self):
        """A map that this client has dropped is missing, not writable."""
        for agent in self.agents:
            if agent.name == "c":  # whose map is closed by dropping it
                continue
            with self.subTest(client=agent.name):
                agent.create(self.url + agent.name, raw=12)
                agent.set_many([(b"k", 1)])
                agent.drop()
                for call in (lambda: agent.set_many([(b"k", 2)]), lambda: agent.get_many([b"k"]),
                             agent.drop):
                    with self.assertRaises(Failed) as caught:
                        call()
                    self.assertEqual(caught.exception.kind, "Missing")
                self.assertEqual(self.cluster.keys(), [])

    def test_python_types(self):
        """What is neither text nor bytes is refused: bytes(5) would be five zeros."""
        for options in ({}, {"raw": 12}):
            one = map_agents.bloomery_map.create(self.url + "types", **options)
            value = 7 if options else "x"
            for call in (lambda: one.set(5, value), lambda: one.get(5), lambda: one.delete_many("abc"),
                         lambda: one.get_many(b"abc"), lambda: one.set([65], value)):
                self.assertRaises(TypeError, call)
            for wrong in (True, [65, 66], 1.5, None) + (() if options else (5,)):
                self.assertRaises((TypeError, ValueError), one.set, "k", wrong)
            self.assertTrue(one.set(bytearray(b"k"), value))
            self.assertEqual(one.get("k"), 7 if options else b"x")
            one.drop()

    def test_made_again(self):
        """A client whose map was dropped and created again with other options notices on writing."""
        for agent, other in itertools.permutations(self.agents, 2):
            agent.create(self.url + "m", raw=12)
            agent.set_many([(b"k", 1)])
            other.open(self.url + "m")
            other.drop()
            self.assertEqual(agent.get_many([b"k"]), [None])
            other.create(self.url + "m", raw=8)
            other.set_many([(b"k", 2)])
            # Within 60 seconds it may still write to the map that is gone, never to the new one.
            agent.set_many([(b"k", 3)])
            self.assertEqual(other.get_many([b"k"]), [2])
            if agent.name != "c":  # whose clock cannot be changed from outside
                agent.age()
                self.assertEqual(agent.get_many([b"k"]), [2])
                agent.set_many([(b"k", 4)])
                self.assertEqual(other.get_many([b"k"]), [4])
                other.drop()
                agent.age()
                with self.assertRaises(Failed) as caught:
                    agent.get_many([b"k"])
                self.assertEqual(caught.exception.kind, "Missing")
            for key in self.cluster.keys():
                self.cluster.ask("DEL", key)

    def test_codes_run_out(self):
        for agent in self.agents:
            with self.subTest(client=agent.name):
                agent.create(self.url + agent.name, values=1)
                agent.set_many([(b"k%d" % i, b"%d" % i) for i in range(256)])
                with self.assertRaises(Failed) as caught:
                    agent.set_many([(b"more", b"256")])
                self.assertEqual(caught.exception.kind, "Full")
                agent.set_many([(b"more", b"255")])
                self.assertEqual(agent.get_many([b"more", b"k0"]), [b"255", b"0"])

    def test_list_is_missing(self):
        """As after a failover while the slot of the list was moving: nobody begins a new list,
        whose codes would mean other values."""
        for agent in self.agents:
            with self.subTest(client=agent.name):
                url = self.url + agent.name
                agent.create(url, values=100)
                agent.set_many([(b"a", b"first"), (b"b", b"second")])
                values = next(key for key in self.cluster.keys() if b":values:" in key)
                saved = self.cluster.ask("DUMP", values)
                self.cluster.ask("DEL", values)
                for how in (agent.use, agent.open):  # with what it knows, and without
                    how(url)
                    with self.assertRaises(Failed) as caught:
                        agent.set_many([(b"c", b"third")])
                    self.assertIn("list", str(caught.exception))
                self.assertEqual(self.cluster.ask("EXISTS", values), 0)
                self.cluster.ask("RESTORE", values, 0, saved)
                agent.set_many([(b"c", b"third")])
                self.assertEqual(agent.get_many([b"a", b"b", b"c"]),
                                 [b"first", b"second", b"third"])

    def test_wait(self):
        for agent in self.agents:
            with self.subTest(client=agent.name):
                agent.create(self.url + agent.name, raw=12)
                agent.wait_for(0.05)
                pairs = [(b"%d" % i, i) for i in range(1000)]
                self.assertEqual(agent.set_many(pairs, wait=1), [True] * 1000)
                with self.assertRaises(Failed) as caught:
                    agent.set_many(pairs, wait=2)
                self.assertEqual(caught.exception.kind, "NotConfirmed")

    def test_wait_is_refused(self):
        """An error reply to WAIT does not count as a confirmation."""
        user, password = "bob", "word"
        for node in self.cluster.nodes:
            node.client("ACL", "SETUSER", user, "on", ">" + password, "~*", "+@all", "-wait")
        for agent in self.agents:
            with self.subTest(client=agent.name):
                agent.create(self.url.replace("//", f"//{user}:{password}@") + agent.name, raw=12)
                agent.set_many([(b"a", 1)])
                with self.assertRaises(Failed):
                    agent.set_many([(b"b", 1)], wait=1)

    def test_single_server(self):
        with Server() as server:
            url = f"redis://127.0.0.1:{server.port}/one"
            self.agents[0].create(url, values=100)
            self.agents[0].set_many([(b"k", b"value")])
            for agent in self.agents:
                agent.open(url)
                self.assertEqual(agent.get_many([b"k", b"none"]), [b"value", None])
            self.assertEqual(self.agents[-1].info()["slabs"], 32)

    def test_interrupted_python(self):
        """After Ctrl-C the reply that was not read is not taken for that to the next command."""
        if PythonAgent.missing():
            self.skipTest(PythonAgent.missing())
        nodes = map_agents.bloomery_map.Nodes
        with Server() as server:
            one = map_agents.bloomery_map.create(f"redis://127.0.0.1:{server.port}/one", raw=4)
            one.set_many({"a": 1, "b": 2})
            server.client("CLIENT", "PAUSE", 300, "ALL")
            with unittest.mock.patch.object(nodes, "_read", side_effect=KeyboardInterrupt), \
                    self.assertRaises(KeyboardInterrupt):
                one.get("a")
            self.assertEqual(one.get("b"), 2)

    def test_permissions(self):
        """The commands and keys that doc/cluster.md names are enough."""
        text = (ROOT / "doc" / "cluster.md").read_text()
        text = text[text.index("A user of distributed maps needs"):].split("\n\n")[0]
        words = [word for word in re.findall(r"`([A-Z. *]+)`", text) if word != "MAP.*"]
        words = [word.lower().replace(" ", "|") for word in words]
        ours = self.cluster.nodes[0].client("COMMAND", "LIST", "FILTERBY", "PATTERN", "map.*")
        for node in self.cluster.nodes:
            node.client("ACL", "SETUSER", "few", "on", ">x", "~{m}*", "~{m:*",
                        *("+" + word for word in words), *(b"+" + word for word in ours))
            self.addCleanup(node.client, "ACL", "DELUSER", "few")
        url = f"redis://few:x@{self.cluster.nodes[0].address}/m"
        for agent in self.agents:
            with self.subTest(client=agent.name):
                agent.create(url, values=10)
                agent.set_many([(b"a", b"x")])
                self.assertEqual(agent.get_many([b"a"]), [b"x"])
                self.assertEqual(agent.info()["items"], 1)
                self.assertIn("m", agent.names(url))
                agent.delete_many([b"a"])
                agent.drop()

    def test_user(self):
        self.cluster.require_password("ann", "p@ss:w/rd")
        self.addCleanup(self.cluster.forget_password)
        place = f"{self.cluster.nodes[0].address}/m"
        for agent in self.agents:
            getattr(agent, "clients", {}).clear()  # whose connections are open
            with self.subTest(client=agent.name):
                agent.create(f"redis://ann:p%40ss%3Aw%2Frd@{place}", raw=12)
                agent.set_many([(b"%d" % i, i) for i in range(1000)])
                self.assertEqual(agent.get_many([b"7", b"x"]), [7, None])
                for wrong in ("", "ann:wrong@", "ben:p%40ss%3Aw%2Frd@"):
                    with self.assertRaises(Exception):
                        agent.open(f"redis://{wrong}{place}")


cluster_runner.main()

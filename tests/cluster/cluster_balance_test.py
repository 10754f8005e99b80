"""bloomery cluster balance on a running cluster: it moves slots while clients read and write, and mends what
was interrupted.

BLOOMERY_BALANCE_ROUNDS: how often balance is killed and nodes fail over.
"""

import json
import os
import random
import re
import signal
import subprocess
import threading
import time
import unittest.mock
import zlib

import cluster_runner
from cluster_runner import ClusterCase, Error, slot_of, wait_until
from map_agents import PROGRAM, bloomery_map
from server_runner import version_of

ROUNDS = int(os.environ.get("BLOOMERY_BALANCE_ROUNDS", 2))
SEED = int(os.environ.get("BLOOMERY_BALANCE_SEED", 1))
PAIRS = 6000


class Reader(threading.Thread):
    """Reads and writes until it is stopped; remembers answers that are wrong."""

    def __init__(self, url, pairs):
        super().__init__(daemon=True)
        self.map, self.pairs = bloomery_map.open(url), pairs
        self.wrong, self.rounds, self.stopping = [], 0, False

    def run(self):
        keys = list(self.pairs)
        try:
            while not self.stopping:
                some = random.sample(keys, 200)
                self.wrong += [(key, got) for key, got in zip(some, self.map.get_many(some))
                               if got != self.pairs[key]]
                self.map.set_many({key: self.pairs[key] for key in some[:20]})
                self.rounds += 1
        except Exception as error:  # pylint: disable=broad-except
            self.wrong.append(error)

    def stop(self):
        self.stopping = True
        self.join()


class Balance(ClusterCase):
    REPLICAS = 1
    taken = []  # nodes that became primaries
    SETTINGS = {"cluster-node-timeout": "4000"}  # twice that must pass between two failovers

    def setUp(self):
        super().setUp()
        self.wait_replicas()
        self.url = f"redis://{self.cluster.nodes[0].address}/m"

    def wait_replicas(self):
        """Every primary has a replica in sync, also after another test has killed one: otherwise
        nothing moves to it or from it."""
        wait_until(lambda: all(re.search(r"state=online,.*lag=[01]\b",
                                         node.client("INFO", "replication").decode())
                               for node in self.cluster.primaries()), "all replicas are in sync")

    def run_balance(self, *options, code=0):
        done = subprocess.run([PROGRAM, "cluster", "balance", self.cluster.nodes[0].address, *options],
                              capture_output=True, text=True, timeout=cluster_runner.PATIENCE,
                              check=False)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.was_interrupted = "the slot was closed" in done.stderr
        return done.stdout

    def balance(self, *options):
        return json.loads(self.run_balance("--json", *options))

    def fill(self, engine="compact", slabs=48):
        """A map whose slabs are mostly on the first primary."""
        self.map = bloomery_map.create(self.url, capacity=PAIRS, raw=12, engine=engine, slabs=slabs,
                                       error=1e-6, seed=5)
        self.pairs = {f"k{i}": i % 4096 for i in range(PAIRS)}
        self.map.set_many(self.pairs, wait=1)
        self.slab_keys = self.slabs()
        self.assertEqual(len(self.slab_keys), slabs)

    def slabs(self):
        """The keys of all slabs, as often as they exist, and of halves."""
        return [key for key in self.cluster.keys() if b"}:" in key and key.startswith(b"{m:")]

    def crowd(self, node, share=4):
        """Moves all but every share-th slab to one node."""
        self.cluster.move_slots([slot_of(key) for i, key in enumerate(self.slab_keys) if i % share],
                                node)

    def open_slots(self):
        return [line for node in self.cluster.primaries()
                for line in node.client("CLUSTER", "NODES").decode().splitlines()
                if "myself" in line and "[" in line]

    def check(self, said=""):
        """Every slab exists once, no slot is open, and every pair answers."""
        self.cluster.wait_ok()
        self.assertEqual(self.open_slots(), [])
        self.assertEqual(self.slabs(), self.slab_keys)
        got = self.map.get_many(list(self.pairs))
        wrong = [(key, value) for key, value in zip(self.pairs, got) if value != self.pairs[key]]
        self.assertEqual(wrong, [], said)

    def test_under_load(self):
        self.fill()
        first = self.cluster.primaries()[0]
        self.crowd(first)
        planned = self.balance("--dry-run", "--max-moves", "40")
        self.assertGreater(planned["rho"], 0.4)
        self.assertLess(planned["rho_planned"], 0.1)
        self.assertEqual(planned["keys_moved"], 0)
        reader = Reader(self.url, self.pairs)
        reader.start()
        done = self.balance("--max-moves", "40")
        reader.stop()
        self.assertEqual(reader.wrong, [])
        self.assertGreater(reader.rounds, 0)
        if not self.was_interrupted:  # by a replica that lags; then it has planned again
            self.assertEqual([step["slot"] for step in done["steps"]],
                             [step["slot"] for step in planned["steps"]])
        self.assertTrue(all(step["done"] for step in done["steps"]))
        self.assertAlmostEqual(done["rho_after"], planned["rho_planned"], delta=0.005)
        self.assertEqual(self.balance("--dry-run")["steps"], [])
        self.check()
        self.assertIn("Nothing to move.", self.run_balance())

    def test_with_other_nodes(self):
        """A replica that does not answer; a new, empty node; users and passwords. It runs after the
        others, because it changes the cluster."""
        self.fill()
        first, second, third = self.cluster.primaries()
        self.cluster.wait_ok(roles=True)
        replica = self.cluster.replicas_of(second)[0].process
        self.crowd(first)
        replica.send_signal(signal.SIGSTOP)
        planned = self.balance("--dry-run", "--max-moves", "40")
        replica.send_signal(signal.SIGCONT)
        self.assertEqual([node["node"] for node in planned["nodes"] if "closed" in node],
                         [second.address])
        self.assertEqual({node for step in planned["steps"] for node in (step["from"], step["to"])},
                         {first.address, third.address})

        new = self.cluster.add_primary()
        self.cluster.add_replica(new)
        self.cluster.require_password("mover", "p@ss word")
        login = {"BLOOMERY_USER": "mover", "BLOOMERY_PASSWORD": "p@ss word"}
        with unittest.mock.patch.dict(os.environ, login):
            process = subprocess.Popen([PROGRAM, "cluster", "balance", first.address, "--max-moves", "15", "--watch",
                                        "50ms"], stdout=subprocess.PIPE, text=True)
            wait_until(lambda: "Nothing to move." in process.stdout.readline(), "all is balanced")
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(), 0)
            process.stdout.close()
            process = subprocess.Popen([PROGRAM, "cluster", "balance", first.address, "--watch", "50ms"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            process.stdout.readline()
            process.stdout.close()  # a watch that nobody reads ends
            self.assertEqual((process.wait(timeout=60), process.stderr.read()), (-signal.SIGPIPE, b""))
            process.stderr.close()
            after = self.balance("--dry-run")
        self.assertLess(after["rho"], 0.1)
        self.assertEqual(len(after["nodes"]), 4)
        self.assertEqual(self.open_slots(), [])
        self.assertEqual(self.slabs(), self.slab_keys)

    # ---- interrupted -------------------------------------------------------------------------

    def test_left_open(self):
        """Every state in which a run may be killed; the next run closes the slot."""
        self.fill()
        cluster = self.cluster
        states = ("importing", "open", "some", "all", "given")
        for state, key in zip(states, self.slab_keys):
            slot, source = slot_of(key), cluster.owner(key)
            target = next(node for node in cluster.primaries() if node is not source)
            tag = key.split(b"}")[0] + b"}"
            source.client("MAP.SET", tag + b"another", "a", "b")
            source.client("SET", tag + b"text", "c")
            target.client("CLUSTER", "SETSLOT", slot, "IMPORTING", source.id)
            if state != "importing":
                source.client("CLUSTER", "SETSLOT", slot, "MIGRATING", target.id)
            if state in ("some", "all", "given"):
                cluster.move_keys(source, slot, target, most=1 if state == "some" else None)
            if state == "given":
                target.client("CLUSTER", "SETSLOT", slot, "NODE", target.id)
        self.balance("--max-moves", "1")
        self.check()
        for state, key in zip(states, self.slab_keys):
            tag = key.split(b"}")[0] + b"}"
            self.assertEqual(cluster.ask("MAP.GET", tag + b"another", "a"), [b"b"])
            self.assertEqual(cluster.ask("GET", tag + b"text"), b"c")

    def test_halves(self):
        """A source that failed over has forgotten that a slab has moved, and creates it again."""
        for engine in ("compact", "kbf"):
            self.fill(engine, slabs=12)
            cluster = self.cluster
            source = self.steady()
            key = next(key for key in self.slab_keys if cluster.owner(key) is source)
            slot = slot_of(key)
            target = next(node for node in cluster.primaries() if node is not source)
            cluster.wait_ok(roles=True)
            tag = key.split(b"}")[0] + b"}"
            first_texts = {b":map": b"bloomery-map 1", b"text": b"text"}
            for name, text in first_texts.items():
                source.client("SET", tag + name, text)
            source.client("RPUSH", tag + b":values:0", "a", "b")
            cluster.open_slots([slot], target)
            cluster.move_keys(source, slot, target)
            source = self.fail_over(source)
            if version_of(source.client)[0] == "valkey":
                source.client("CLUSTER", "SETSLOT", slot, "STABLE")  # Valkey 8 tells its replicas
            # Old fields seem to be gone; some are set again, and there are new ones.
            options = self.map.record.slab_options()
            old = [name for name in self.pairs if self.slab_of(name) == key]
            again = {} if engine == "kbf" else {name: 4095 for name in old[:30]}
            new = {f"new{i}": 7 for i in range(20)}
            fields = again | new
            source.client("MAP.INSERT", key, *options, "FIELDS",
                          *(word for pair in fields.items() for word in pair))
            self.assertEqual(source.client("MAP.GET", key, old[-1]), [None])
            for name, text in first_texts.items():
                source.client("SET", tag + name, text + b" again")
            source.client("RPUSH", tag + b":values:0", "x")
            self.balance("--repair")
            # Records do not change; the longer list has what slabs refer to; other keys are kept.
            self.assertEqual(cluster.ask("GET", tag + b":map"), first_texts[b":map"])
            self.assertEqual(cluster.ask("LRANGE", tag + b":values:0", 0, -1), [b"a", b"b"])
            self.assertEqual(cluster.ask("GET", tag + b"text"), b"text again")
            half = cluster.ask("GET", tag + b"text:bloomery-half")
            self.assertEqual(half, b"text")
            self.assertEqual(self.open_slots(), [])
            wanted = {name: self.pairs[name] for name in old} | fields
            got = dict(zip(wanted, cluster.ask("MAP.GET", key, *wanted)))
            self.assertEqual(got, wanted)
            self.pairs |= again
            cluster.ask("MAP.DEL", key, *new)
            for name in (b":map", b":values:0"):
                cluster.ask("DEL", tag + name)
            self.check()
            self.map.drop()

    def fail_over(self, primary, kill=False):
        """As Cluster.failover(), but the nodes cannot agree afterwards: a node that is importing a
        slot does not believe that the slot has a new owner."""
        replica = self.cluster.replicas_of(primary)[0]
        if kill:
            primary.stop(kill=True)
        asked = 0.0

        def taken():
            nonlocal asked
            if time.monotonic() > asked + 6:
                replica.client.ask("CLUSTER", "FAILOVER", *(["FORCE"] if kill else []))
                asked = time.monotonic()
            return replica.role == "master"
        wait_until(taken, "a replica has taken over")
        self.taken[:] = [node for node in self.taken if node not in (primary, replica)] + [replica]
        return replica

    def steady(self):
        """The primary whose last failover is longest ago: a shard has to wait between two."""
        return min(self.cluster.primaries(), key=lambda node:
                   self.taken.index(node) if node in self.taken else -1)

    def slab_of(self, name):
        slab = zlib.crc32(name.encode()) % len(self.slab_keys)
        return next(key for key in self.slab_keys if key.startswith(b"{m:%d}" % slab))

    EVENTS = ("kill", "source", "target", "source dies", "target dies")

    def test_killed_and_failed_over(self):
        """balance is killed, or a node fails over, while a slot is open."""
        rng = random.Random(SEED)
        self.fill(slabs=96)
        self.more()
        for number in range(ROUNDS):
            event = ("kill", "source dies")[number] if ROUNDS == 2 else rng.choice(self.EVENTS)
            with self.subTest(round=number, event=event):
                self.one_round(rng, number, event)

    def more(self):
        """Other keys in the slots of the slabs, so that a slot takes several steps."""
        self.others = [key.split(b"}")[0] + b"}%d" % i for key in self.slab_keys for i in range(5)]
        for key in self.others:
            self.cluster.ask("SET", key, key)

    def one_round(self, rng, number, event):
        cluster = self.cluster
        first = self.steady()
        self.crowd(first)
        cluster.wait_ok(roles=True)
        self.wait_replicas()
        process = subprocess.Popen([PROGRAM, "cluster", "balance", first.address, "--max-moves", "99"],
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        slot, source, target = self.stop_in_the_middle(rng, process)
        if event == "kill":
            process.send_signal(signal.SIGKILL)
        else:
            side = source if event.startswith("source") else target
            taken = self.fail_over(side, kill=event.endswith("dies"))
            if side is source:  # clients create slabs that have moved again
                self.write_at(taken, slot, number)
            if not side.alive:
                self.start_again(side, taken)
            process.send_signal(signal.SIGCONT)
        out = process.communicate()[0].decode()
        if event != "kill":
            self.assertIn("the slot was closed", out)
            self.assertEqual(process.returncode, 0, out)
        said = f"{event} of slot {slot} from {source} to {target}\n{out}"
        said += self.run_balance("--repair")
        self.balance("--max-moves", "99")
        self.check(said)
        self.assertEqual([key for key in self.others if cluster.ask("GET", key) != key], [])

    @staticmethod
    def start_again(node, primary):
        """Starts a primary that died, as a replica of its successor: without it the shard has no
        replica, and nothing moves. Without cluster-allow-replica-migration a server may stay an
        empty primary if it learns of its successor in two parts, one of them without the slot that
        is open; then it has to be told."""
        node.start()
        wait_until(lambda: node.role == "slave" or not node.view()[node.id][1], "it has no slots")
        if node.role == "master":
            wait_until(lambda: node.client.ask("CLUSTER", "REPLICATE", primary.id) == b"OK",
                       "it follows")

    def stop_in_the_middle(self, rng, process):
        """Stops the process while a slot is open; returns the slot, its source and its target."""
        steps = rng.randrange(1, 20)
        for line in process.stdout:
            if re.match(rb" +\d+\.", line):
                steps -= 1
            if steps > 0:
                continue
            time.sleep(rng.random() * 0.01)
            process.send_signal(signal.SIGSTOP)
            os.waitpid(process.pid, os.WUNTRACED)
            time.sleep(0.02)  # what it has sent is done
            for owner in self.cluster.primaries():
                open_slot = re.search(rb"myself.*\[(\d+)->-(\w+)\]", owner.client("CLUSTER", "NODES"))
                target = open_slot and self.cluster.by_id(open_slot[2].decode())
                if open_slot and b"[%b-<-" % open_slot[1] in target.client("CLUSTER", "NODES"):
                    return (int(open_slot[1]), owner, target)
            process.send_signal(signal.SIGCONT)
        self.fail("no slot was open whenever the process was stopped")
        return None

    def write_at(self, node, slot, value):
        """Sets the fields of the slabs in this slot to a new value, as clients do."""
        for key in self.slab_keys:
            if slot_of(key) != slot:
                continue
            pairs = {name: value for name in self.pairs if self.slab_of(name) == key}
            reply = node.client.ask("MAP.INSERT", key, *self.map.record.slab_options(), "FIELDS",
                                    *(word for pair in pairs.items() for word in pair))
            if not isinstance(reply, Error):
                self.pairs |= pairs
            else:  # the target has just got the slot; or Valkey, whose replicas know of open slots
                self.assertIn(reply.word, ("MOVED", "ASK"))


if __name__ == "__main__":
    random.seed(SEED)
    cluster_runner.main()

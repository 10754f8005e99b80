"""The C client's connection to a cluster: redirections, lost nodes, passwords, single servers."""

import os
import re
import subprocess
import threading

import cluster_runner
from cluster_runner import ClusterCase, slot_of

TALK = os.environ["CLUSTER_TALK"]


class Talk:
    """The C client in a process of its own: cluster_talk.c says how to talk to it."""

    def __init__(self, address, program=TALK, **environment):
        self.process = subprocess.Popen([program, address], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, env=os.environ | environment)
        self.opened = self._until_status()[1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        self.code = self.process.wait()

    def _until_status(self):
        lines = []
        while not (line := self.process.stdout.readline()).startswith("= "):
            if not line:
                raise EOFError("cluster_talk has ended")
            lines.append(line.rstrip("\n"))
        return lines, line[2:].strip()

    def send(self, commands):
        """[reply, …] of all commands, each "STATUS reply", and the status of the batch."""
        def write():
            self.process.stdin.write("".join(command + "\n" for command in commands) + "\n")
            self.process.stdin.flush()
        writer = threading.Thread(target=write)
        writer.start()
        answer = self._until_status()
        writer.join()
        return answer

    def tell(self, word):
        self.process.stdin.write(word + "\n")
        self.process.stdin.flush()

    def map(self, line):
        self.tell(line)
        return self._until_status()

    def nodes(self):
        self.tell("nodes")
        return self._until_status()[0]


class Client(ClusterCase):
    REPLICAS = 1
    KEYS = [f"k{i}" for i in range(3000)]

    def url(self, name):
        return f"redis://{self.cluster.nodes[0].address}/{name}"

    def talk(self, **environment):
        return Talk(self.url("name"), **environment)

    def set_all(self, talk, value):
        replies, status = talk.send([f"1 SET {key} {value}" for key in self.KEYS])
        self.assertEqual(status, "OK")
        self.assertEqual(set(replies), {"OK OK"})

    def check_all(self, talk, value):
        replies, status = talk.send([f"1 GET {key}" for key in self.KEYS])
        self.assertEqual(status, "OK")
        self.assertEqual(set(replies), {f"OK {value}"})

    def test_batches(self):
        with self.talk() as talk:
            self.assertEqual(talk.opened, "OK")
            self.set_all(talk, 1)
            self.check_all(talk, 1)
            replies, status = talk.send(["1 GET k1", "1 LPUSH k1 x", "1 GET k2", "1 NONSENSE k"])
            self.assertEqual(replies[0:3:2], ["OK 1", "OK 1"])
            self.assertTrue(replies[1].startswith("WRONGTYPE WRONGTYPE "), replies)
            self.assertTrue(replies[3].startswith("IO ERR unknown command"), replies)
            self.assertTrue(status.startswith("WRONGTYPE LPUSH: WRONGTYPE"), status)
            self.assertEqual(talk.send(["0 PING"])[1], "RANGE command 0 has no key or no node")
            # To one node, without following redirections.
            replies, _ = talk.send([f"@{i} GET k1" for i in range(len(talk.nodes()))])
            self.assertEqual(sum(reply == "OK 1" for reply in replies), 1, replies)
            self.assertEqual(sum("MOVED" in reply for reply in replies), len(replies) - 1, replies)
        self.assertEqual(talk.code, 0)

    def test_slots_move(self):
        cluster = self.cluster
        first, second, _ = cluster.primaries()
        with self.talk() as talk:
            self.set_all(talk, 1)
            slots = sorted({slot_of(key) for key in self.KEYS} & set(cluster.slots_of(first)))[:400]
            cluster.open_slots(slots, second)
            for slot in slots[::2]:
                cluster.move_keys(first, slot, second)
            self.check_all(talk, 1)  # ASK
            self.set_all(talk, 2)
            for slot in slots:
                cluster.move_keys(first, slot, second)
            self.check_all(talk, 2)
            cluster.close_slots(slots, second)
            self.check_all(talk, 2)  # MOVED
            cluster.move_slots(slots, first)
            self.check_all(talk, 2)
            # A command with two keys, of which one has moved: TRYAGAIN until the slot is complete.
            slot = slot_of("{t}a")
            source = cluster.owner(slot)
            target = first if source is not first else second
            talk.send(["1 SET {t}a 1", "1 SET {t}b 2"])
            cluster.open_slots([slot], target)
            cluster.move_keys(source, slot, target, most=1)
            later = threading.Timer(0.4, lambda: (cluster.move_keys(source, slot, target),
                                                  cluster.close_slots([slot], target)))
            later.start()
            self.assertEqual(talk.send(["1 MGET {t}a {t}b"]), (["OK 1,2"], "OK"))
            later.join()
            cluster.move_slots([slot], source)

    def test_lost_nodes(self):
        cluster = self.cluster
        cluster.wait_ok(roles=True)
        primary = cluster.primaries()[0]
        with Talk(f"redis://{primary.address}") as talk:
            self.set_all(talk, 1)
            for node in cluster.primaries():
                node.client("WAIT", 1, 10000)
                node.client("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            self.check_all(talk, 1)
            # The node of the address dies; its replica takes over while a batch waits.
            later = threading.Timer(0.3, lambda: cluster.failover(primary, kill=True))
            primary.client("WAIT", 1, 10000)
            primary.stop(kill=True)
            later.start()
            self.check_all(talk, 1)
            later.join()
            self.set_all(talk, 2)
            cluster.restart(primary)
            self.check_all(talk, 2)
            # The connections of a child process are its own.
            talk.tell("fork")
            self.check_all(talk, 2)
        self.assertEqual(talk.code, 0)

    def test_readme(self):
        directory = cluster_runner.TESTS.parent / "clients" / "c"
        readme = (directory / "README.md").read_text()
        code, printed = (re.search(rf"```{kind}\n(.*?)```", readme, re.S)[1]
                         for kind in ("c", "text"))
        self.assertEqual(code, (directory / "map_example.c").read_text())
        done = subprocess.run([os.environ["MAP_EXAMPLE"], self.url("racks")], text=True,
                              capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", printed))

    def test_addresses(self):
        port = self.cluster.nodes[0].port
        for address, problem in (
                ("http://127.0.0.1", "RANGE an address begins with redis://"),
                ("redis://", "RANGE missing host"),
                (f"redis://me@127.0.0.1:{port}", "RANGE a user without a password"),
                (f"redis://me:wrong@127.0.0.1:{port}", f"IO 127.0.0.1:{port}: WRONGPASS"),
                ("redis://127.0.0.1:1", "IO 127.0.0.1:1: Connection refused")):
            with Talk(address) as talk:
                self.assertTrue(talk.opened.startswith(problem), talk.opened)


class Passwords(ClusterCase):
    PRIMARIES = 3

    def test_password(self):
        self.cluster.require_password("us@er", "p/w:d%")
        address = self.cluster.nodes[0].address
        with Talk(f"redis://us%40er:p%2Fw:d%25@{address}/x") as talk:
            self.assertEqual(talk.send([f"1 SET k{i} {i}" for i in range(50)])[1], "OK")
        with Talk(f"redis://us%40er@{address}/x", BLOOMERY_PASSWORD="p/w:d%") as talk:
            self.assertEqual(talk.send(["1 GET k7"]), (["OK 7"], "OK"))
        with Talk(f"redis://{address}/x") as talk:
            self.assertIn("NOAUTH", talk.opened)


class Single(cluster_runner.server_runner.Case):
    def test_single(self):
        with Talk(f"redis://127.0.0.1:{self.server.port}/x") as talk:
            self.assertEqual(talk.nodes(), [f"127.0.0.1:{self.server.port} 16384"])
            self.assertEqual(talk.send(["1 SET a 1", "1 GET a"]), (["OK OK", "OK 1"], "OK"))
            self.client("REPLICAOF", "127.0.0.1", "1")
            replies, status = talk.send(["1 GET a", "1 SET a 2"])
            self.assertEqual(replies[0], "OK 1")
            self.assertTrue(status.startswith("IO SET: READONLY"), status)
            self.client("REPLICAOF", "NO", "ONE")
            self.assertEqual(talk.send(["1 SET a 2"]), (["OK OK"], "OK"))


if __name__ == "__main__":
    cluster_runner.main()

"""The counter client: parts, hot counters, ids, the outbox, and what it says if it does not know."""

import os
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

import cluster_runner
from cluster_runner import TESTS, ClusterCase

sys.path.insert(0, str(TESTS.parent / "clients" / "python"))
import bloomery_counter  # noqa: E402
from bloomery_counter import CounterError, Refused, Unknown  # noqa: E402
from bloomery_nodes import Mismatch, Missing  # noqa: E402


class CounterCase(ClusterCase):
    def url(self, name="sales"):
        return f"redis://127.0.0.1:{self.cluster.nodes[0].port}/{name}"

    def create(self, **options):
        return bloomery_counter.create(self.url(), **{"wait": 0, "parts": 8} | options)


class Counters(CounterCase):
    def test_counting(self):
        sales = self.create()
        self.assertEqual(sales.add("tea", 3), (3, True))
        self.assertEqual(sales.add("tea"), (4, True))
        self.assertEqual(sales.add(b"\xff milk", -2), (-2, True))
        self.assertEqual(sales.get_many(["tea", b"\xff milk", "none"]), [4, -2, None])
        self.assertEqual(sales.add_many({"{till7}tea": 1, "{till7}milk": 2}), [(1, True), (2, True)])
        with self.assertRaisesRegex(ValueError, "same {tag}"):
            sales.add_many([(f"c{i}", 1) for i in range(20)])
        with self.assertRaisesRegex(ValueError, "twice"):
            sales.add_many([("tea", 1), ("tea", 2)])
        with self.assertRaisesRegex(Refused, "overflow"):
            sales.add("tea", 2**63 - 1)
        info = sales.info()
        self.assertEqual((info["counters"], info["applied"], info["parts"]), (4, 5, 8))
        sales.drop()
        self.assertEqual(self.cluster.keys(), [])

    def test_a_retry_is_a_repeat(self):
        sales = self.create()
        operation = bloomery_counter.Operation("id", int(time.time() * 1000), ((b"tea", 3),))
        self.assertEqual(sales.repeat(operation, first=True), [(3, True)])
        self.assertEqual(sales.repeat(operation), [(3, False)])

    def test_late(self):
        """Too late for a retry that might have been counted: unknown. Else it is refused."""
        sales = self.create(window=10)
        late = bloomery_counter.Operation("id", int(time.time() * 1000) - 9500, ((b"tea", 3),))
        with self.assertRaisesRegex(Unknown, "EXPIRED"):
            sales.repeat(late)
        with self.assertRaisesRegex(Refused, "EXPIRED"):
            sales.repeat(late, first=True)
        self.assertEqual(sales.get("tea"), None)
        with self.assertRaisesRegex(ValueError, "longer than the table's window"):
            self.create(window=10, retry_for=9.5)

    def test_no_replica(self):
        """Without a replica nothing is confirmed, and add() says so."""
        sales = self.create(wait=1, wait_for=0.05, retry_for=0.3)
        with self.assertRaisesRegex(Unknown, "0 of 1 replicas") as caught:
            sales.add("tea")
        self.assertEqual(sales.get("tea"), 1)  # it was counted, once
        sales.wait = 0
        self.assertEqual(sales.repeat(caught.exception.operation), [(1, False)])

    def test_hot(self):
        sales = self.create(hot=["all"], parts=5)
        for _ in range(40):
            sales.add("all", 2)
        self.assertEqual(sales.get("all"), 80)
        self.assertEqual(sales.info()["counters"], 5)  # in every part
        with self.assertRaisesRegex(ValueError, "by itself"):
            sales.add_many({"all": 1, "tea": 1})

    def test_creating(self):
        first = self.create(window=60, engine="fbf", hot=["a", "b"])
        again = bloomery_counter.create(self.url())
        self.assertEqual(again.record, first.record)
        self.assertEqual(bloomery_counter.open(self.url()).record, first.record)
        for options in ({"window": 61}, {"engine": "compact"}, {"parts": 9}, {"hot": ["a"]},
                        {"error": 0.1}, {"seed": 5}, {"capacity": 7}, {"skew": 2}):
            with self.assertRaises(Mismatch, msg=options):
                bloomery_counter.create(self.url(), **options)
        with self.assertRaises(Missing):
            bloomery_counter.open(self.url("other"))
        for options in ({"window": 0}, {"skew": 700}, {"error": 1}, {"capacity": -1}, {"seed": -1},
                        {"parts": 2**20 + 1}, {"engine": "kbf"}):
            with self.assertRaises(ValueError, msg=options):
                bloomery_counter.create(self.url("other"), **options)
        with self.assertRaisesRegex(TypeError, "capacity is a number, not '1M'"):
            bloomery_counter.create(self.url("other"), capacity="1M")
        with self.assertRaises(Missing):
            bloomery_counter.open(self.url("other"))
        for name in ("", "a{b", "x" * 201):
            with self.assertRaises(ValueError):
                bloomery_counter.open(self.url(name))

    def test_several_create(self):
        """Only one table comes of it, and nothing is left of the others."""
        made = []
        threads = [threading.Thread(target=lambda: made.append(self.create())) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len({table.record for table in made}), 1)
        self.assertEqual(len(self.cluster.keys()), 8 + 1)

    def test_ids(self):
        """Different in every process, also after a fork."""
        mine = {bloomery_counter._ids.next() for _ in range(100)}
        self.assertEqual(len({one.rpartition("-")[0] for one in mine}), 1)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, bloomery_counter._ids.next().encode())
            os._exit(0)
        os.waitpid(child, 0)
        theirs = os.read(reading, 100).decode()
        self.assertNotIn(theirs.rpartition("-")[0], {one.rpartition("-")[0] for one in mine})
        os.close(reading)
        os.close(writing)


class Outboxes(CounterCase):
    def setUp(self):
        super().setUp()
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.path = os.path.join(directory.name, "outbox")

    def test_a_crash_between(self):
        """What was sent and not finished is repeated with its id, and is counted once."""
        sales = self.create(outbox=self.path)
        sales.add("tea", 3)
        for part in ("before", "after"):  # the crash comes before it is sent, or after
            real = sales._until_counted

            def crash(*arguments, real=real, part=part):
                if part == "after":
                    real(*arguments)
                raise KeyboardInterrupt
            with unittest.mock.patch.object(sales, "_until_counted", crash), \
                    self.assertRaises(KeyboardInterrupt):
                sales.add(part, 5)
        with self.assertRaisesRegex(CounterError, "another process"):
            self.create(outbox=self.path)
        sales.outbox.close()
        with open(self.path, "a", encoding="ascii") as file:
            file.write('{"id": "incompl')
        again = self.create(outbox=self.path)
        self.addCleanup(again.outbox.close)
        self.assertEqual([added for _, added in again.recover()], [[(5, True)], [(5, False)]])
        self.assertEqual(again.get_many(["tea", "before", "after"]), [3, 5, 5])
        self.assertEqual(again.recover(), [])

    def test_damage(self):
        with open(self.path, "w", encoding="ascii") as file:
            file.write('{"id": 1}\n')
        with self.assertRaisesRegex(CounterError, "line 1 of the outbox"):
            self.create(outbox=self.path)


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    cluster_runner.main()

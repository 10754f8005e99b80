"""A server is killed under load, with an append-only file that is synced before each reply: after the
restart no acknowledged increment is lost, and none is counted twice, however often it is retried.

    PROGRAM SERVER MODULE [PRELOAD]      3 rounds; more with BLOOMERY_CRASH_ROUNDS=n
"""

import os
import random
import threading

import server_runner
from server_runner import Case, Client, encode

ROUNDS = int(os.environ.get("BLOOMERY_CRASH_ROUNDS", "3"))
WRITERS = 4
PIPELINE = 6


class Writer:
    """A client with two counters of its own. It sends commands of one or two increments, several at
    once, sometimes one twice, and always knows what was acknowledged."""

    def __init__(self, number):
        self.source = random.Random(number)
        self.names = (f"writer {number} a", f"writer {number} b")
        self.sums = [0, 0]  # acknowledged
        self.next = 0
        self.acknowledged = []  # commands, each a list of (index of its counter, delta, id)
        self.open = []  # sent without a reply yet
        self.retries = self.problems = 0

    def command(self, operations):
        words = [x for place, delta, number in operations
                 for x in (self.names[place], delta, number)]
        return ["COUNTER.INCRBY", "t", *words]

    def fresh(self):
        operations = []
        for place in self.source.choice(((0,), (1,), (0, 1))):
            operations.append((place, self.source.randrange(-50, 1000), f"op {self.next}"))
            self.next += 1
        return operations

    def settle(self, operations, reply, new=True):
        """Counts the increments of a reply if they are new, and checks the reply."""
        for (place, delta, _), (value, applied) in zip(operations, reply):
            self.sums[place] += delta if new else 0
            self.problems += (value, applied) != (self.sums[place], int(new))

    def run(self, port, stop, acknowledged):
        client = Client(port)
        try:
            while not stop.is_set():
                self.open = [self.fresh() for _ in range(PIPELINE)]
                client.socket.sendall(b"".join(encode(self.command(c)) for c in self.open))
                while self.open:
                    reply = client._read()
                    self.settle(self.open[0], reply)
                    self.acknowledged.append(self.open.pop(0))
                    acknowledged()
                if self.source.random() < 0.3:
                    known = self.source.choice(self.acknowledged)
                    self.settle(known, client(*self.command(known)), new=False)
                    self.retries += 1
        except (OSError, ConnectionError):
            pass
        finally:
            client.close()


class Crash(Case):
    SETTINGS = {"appendonly": "yes", "appendfsync": "always"}
    writer = Writer

    # Tests of other commands override this.

    def create(self):
        self.client("COUNTER.CREATE", "t", "WINDOW", "7d", "SEED", 1)

    def values(self, names):
        return self.client("COUNTER.GET", "t", *names)

    def load(self, writers, kills_after, rewrite_after):
        """Lets them write, and kills the server meanwhile."""
        stop, lock, count = threading.Event(), threading.Lock(), [0]
        enough, rewrite = threading.Event(), threading.Event()

        def acknowledged():
            with lock:
                count[0] += 1
                if count[0] == rewrite_after:
                    rewrite.set()
                if count[0] == kills_after:
                    enough.set()
        threads = [threading.Thread(target=writer.run, args=(self.server.port, stop, acknowledged))
                   for writer in writers]
        for thread in threads:
            thread.start()
        if rewrite_after < kills_after:
            self.assertTrue(rewrite.wait(server_runner.PATIENCE))
            self.client("BGREWRITEAOF")
        self.assertTrue(enough.wait(server_runner.PATIENCE))
        self.server.stop(kill=True)
        stop.set()
        for thread in threads:
            thread.join()

    def check(self, writer):
        """Everything acknowledged is present, and a prefix of what was sent without a reply."""
        possible = [list(writer.sums)]
        for operations in writer.open:
            after = list(possible[-1])
            for place, delta, _ in operations:
                after[place] += delta
            possible.append(after)
        values = [value or 0 for value in self.values(writer.names)]
        self.assertIn(values, possible, writer.names)

    def retry(self, writer, recent):
        """Retries what had no reply, then that and recently acknowledged commands once more."""
        for operations in writer.open:
            for place, delta, _ in operations:
                writer.sums[place] += delta
        self.client.pipeline([writer.command(operations) for operations in writer.open])
        writer.acknowledged += writer.open
        writer.open = []
        known = writer.acknowledged[-recent:]
        replies = self.client.pipeline([writer.command(operations) for operations in known])
        for operations, reply in zip(known, replies):
            writer.settle(operations, reply, new=False)
        self.assertEqual(self.values(writer.names), writer.sums)
        self.assertEqual(writer.problems, 0)

    def test_rounds(self):
        self.create()
        source = random.Random(11)
        writers = [self.writer(number) for number in range(WRITERS)]
        for number in range(ROUNDS):
            kills_after = source.randrange(200, 1500)
            rewrite_after = kills_after - source.randrange(100) if number % 2 else kills_after
            with self.subTest(round=number):
                self.load(writers, kills_after, rewrite_after)
                self.server.start()
                for writer in writers:
                    self.check(writer)
                for writer in writers:
                    self.retry(writer, 100)
        for writer in writers:  # and the whole history once more
            self.retry(writer, len(writer.acknowledged))
        self.assertGreater(sum(writer.retries for writer in writers), 0)


if __name__ == "__main__":
    server_runner.main()

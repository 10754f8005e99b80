"""How long single commands take while things grow, and when they go: the slowest, by the server's
own clock. Nothing here fails for time, since that is the machine's as well; wrong answers do.

    PROGRAM SERVER MODULE [PRELOAD]      5,000,000 items; other numbers with BLOOMERY_LATENCY_ITEMS=n

PRELOAD is cpu_clock.c as a library, which makes it the time that the server worked.
"""

import os
import sys

import server_runner
from server_runner import Case, encode, pairs

ITEMS = int(os.environ.get("BLOOMERY_LATENCY_ITEMS", "5000000"))
AT_ONCE = 4096  # commands in flight
SLOW = 500  # microseconds; what takes less is not looked at


class Latency(Case):
    SETTINGS = {"slowlog-log-slower-than": str(SLOW), "slowlog-max-len": "100000"}

    def setUp(self):
        super().setUp()
        self.client("SLOWLOG", "RESET")

    def tell(self, what):
        """Prints the slowest commands since the last time."""
        entries = self.client("SLOWLOG", "GET", -1)
        count = {line.split(b":")[0]: line for line in self.client("INFO", "commandstats").split()}
        self.client("CONFIG", "RESETSTAT")
        self.client("SLOWLOG", "RESET")
        mine = (b"SET", b"UNLINK", b"FLUSHALL")
        ours = sorted((entry[2] for entry in entries
                       if b"." in entry[3][0] or entry[3][0].upper() in mine), reverse=True)
        names = sorted(line.decode() for name, line in count.items()
                       if b"." in name or name == b"cmdstat_set")
        print(f"{what}: {len(ours)} commands above {SLOW} us, the slowest: "
              f"{', '.join(map(str, ours[:10])) or 'none'} us")
        for line in names:
            print(f"    {line.split(',rejected')[0]}")
        sys.stdout.flush()

    def send(self, commands):
        """Sends them in portions; the sum of the integers in their replies."""
        total, portion = 0, []
        for command in commands:
            portion.append(encode(command))
            if len(portion) == AT_ONCE:
                total += self.flush(portion)
                portion = []
        return total + self.flush(portion)

    def flush(self, portion):
        self.client.socket.sendall(b"".join(portion))
        total = 0
        for _ in portion:
            reply = self.client._read()
            total += sum(reply) if isinstance(reply, list) else reply
        return total

    def freed(self, family):
        self.wait_until(lambda: self.client.info("bloomery")[f"bloomery_{family}_bytes"] == 0,
                        "all is freed")

    def grow_map(self, at_once, values):
        new = self.send(["MAP.SET", "m", *(word for j in range(i, i + at_once)
                                           for word in (f"f{j}", f"v{j % values}"))]
                        for i in range(0, ITEMS, at_once))
        self.tell(f"a map of {ITEMS} fields, {at_once} a command, {min(values, ITEMS)} values")
        self.assertGreater(new, ITEMS * 0.998)
        self.assertEqual(self.client("DBSIZE"), 1)
        for i in range(0, ITEMS, ITEMS // 997):
            wanted = f"v{i % values}".encode()
            there = self.client("MAP.GET", "m", f"f{i}")[0]
            self.wrong += there != wanted

    def test_a_plain_server(self):
        """What this machine makes of commands that are known to be short."""
        items = ITEMS // 5
        for start in range(0, items, AT_ONCE):
            self.client.pipeline(["SET", f"k{j}", "v"] for j in
                                 range(start, min(items, start + AT_ONCE)))
        self.tell(f"for comparison, SET of {items} keys")

    def test_map(self):
        for at_once, values in ((1, 1000), (64, 1000), (1, ITEMS)):
            self.wrong = 0
            self.grow_map(at_once, values)
            self.assertLess(self.wrong, 20)  # one expected
            self.client("SLOWLOG", "RESET")
            self.client(*(["UNLINK", "m"] if at_once == 1 else ["FLUSHALL", "ASYNC"]))
            self.freed("map")
            self.tell("it goes, in another thread")

    def test_map_replaced(self):
        """Each field gets another value, which no other has."""
        items = ITEMS // 5
        for turn in range(2):
            self.send(["MAP.SET", "m", f"f{j}", f"{turn} {j}"] for j in range(items))
            self.tell(f"turn {turn + 1} of {items} fields, each with a value of its own")
        info = pairs(self.client("MAP.INFO", "m"))
        self.assertLess(info[b"values"], info[b"items"] * 1.1)

    def test_window(self):
        self.client("WINDOW.CREATE", "w", "WINDOW", "1h")
        new = self.send(["WINDOW.ADD", "w", f"i{j}"] for j in range(ITEMS))
        self.tell(f"a window of {ITEMS} ids")
        self.assertGreater(new, ITEMS * 0.998)
        self.client("UNLINK", "w")
        self.freed("window")
        self.tell("it goes, in another thread")

    def test_window_that_forgets(self):
        """Ids that go as fast as they come."""
        self.client("WINDOW.CREATE", "w", "WINDOW", "2s")
        items = ITEMS // 5
        new = self.send(["WINDOW.ADD", "w", f"i{j}"] for j in range(items))
        self.tell(f"a window of 2 s that {items} ids go through")
        self.assertGreater(new, items * 0.998)

    def test_counter(self):
        self.client("COUNTER.CREATE", "t", "WINDOW", "1h")
        items = ITEMS // 5
        for names in (1000, items):
            self.send(["COUNTER.INCRBY", "t", f"c{j % names}", 0, f"{names} {j}"]
                      for j in range(items))
            self.tell(f"a table to which {items} ids came, with {names} counters")
        self.assertEqual(pairs(self.client("COUNTER.INFO", "t"))[b"counters"], items)
        self.client("UNLINK", "t")
        self.freed("counter")
        self.tell("it goes, in another thread")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()

"""Maps survive restarts, replication and copies, with equal digests."""

import server_runner
from persist_cases import Kept
from server_runner import Case, pairs


def fill(client, scale=1):
    """Maps of every kind, with a history: grown, updated, deleted from, refused, compressed."""
    client("MAP.CREATE", "grown", "CAPACITY", 200, "SEED", 1)
    client("MAP.SET", "grown", *(x for i in range(3000 * scale) for x in (f"k{i}", f"v{i % 77}")))
    client("MAP.DEL", "grown", *(f"k{i}" for i in range(0, 900, 7)))
    client("MAP.INSERT", "grown", "XX", "FIELDS", *(x for i in range(1, 900, 7) for x in (f"k{i}", f"u{i}")))
    client("MAP.CREATE", "raw", "RAW", 20, "CAPACITY", 5000, "ERROR", 1e-6)
    client("MAP.SET", "raw", *(x for i in range(5000) for x in (i, i * 200)))
    client("MAP.CREATE", "kbf", "ENGINE", "kbf", "CAPACITY", 400, "ERROR", 0.05, "SEED", 3)
    for start in range(0, 1000, 50):
        client("MAP.SET", "kbf", *(x for i in range(start, start + 50) for x in (i, i % 30)))
    client("MAP.DEL", "kbf", *range(100, 160))
    client("MAP.CREATE", "fixed", "NOGROW", "CAPACITY", 10)
    for i in range(14):
        client.ask("MAP.SET", "fixed", f"f{i}", f"x{i}")
    client("MAP.SET", "made", "a", "1")  # with this server's defaults and a random seed
    client("MAP.CREATE", "like", "LIKE", "kbf")
    client("MAP.SET", "like", "only", "5")
    client("MAP.CREATE", "empty")
    client("MAP.MERGE", "joined", "grown", "none")
    client("MAP.COMPRESS", "joined")
    client("EXPIRE", "joined", 10000)
    client("EVAL", "redis.call('MAP.SET', KEYS[1], 'a', '1'); redis.call('MAP.DEL', KEYS[2], 'k3')",
           2, "script", "grown")
    client("MAP.INSERT", "inserted", "CAPACITY", 50, "ERROR", "2%", "RAW", 12, "FIELDS",
           *(x for i in range(200) for x in (i, i)))  # with a random seed
    client("MAP.INSERT", "inserted", "ERROR", 0.02, "FIELDS", "a", 7)
    client("MAP.REMOVE", "inserted", "DROPEMPTY", "FIELDS", *range(50), "none")
    for i in range(14):
        client.ask("MAP.INSERT", "fully", "NOGROW", "CAPACITY", 10, "FIELDS", f"f{i}", f"x{i}")
    client("MAP.INSERT", "gone", "FIELDS", "a", 7)
    client("MAP.REMOVE", "gone", "DROPEMPTY", "FIELDS", "a")
    client("MULTI")
    client("MAP.SET", "queued", "a", "1")
    client("MAP.SET", "queued", "a", "2", "b", "3")
    client("EXEC")


KEYS = ("grown", "raw", "kbf", "fixed", "made", "like", "empty", "joined", "script",
        "queued", "inserted", "fully")


def answers(client):
    """All query results, and the dump of each map; not the allocated bytes, which depend on the
    history, nor the queries, which each node counts for itself."""
    infos = [pairs(client("MAP.INFO", key)) for key in KEYS]
    for info in infos:
        for name in (b"bytes", b"bytes_keys", b"bytes_values", b"queries"):
            info.pop(name)
    return ([client("MAP.GET", key, *(f"k{i}" for i in range(300)), *range(300),
                    *(f"f{i}" for i in range(20)), "a", "only") for key in KEYS]
            + infos + [client("DEBUG", "DIGEST-VALUE", *KEYS)])


def go_on(client):
    """Later changes must give the same bytes wherever they are applied."""
    for key in ("grown", "kbf", "joined"):
        for start in range(0, 3000, 100):
            client("MAP.SET", key, *(x for i in range(start, start + 100)
                                     for x in (f"later {i}", f"v{i % 200}")))
    client("MAP.DEL", "grown", *(f"later {i}" for i in range(0, 3000, 2)))
    client.ask("MAP.SET", "fixed", "one", "more")
    client.ask("MAP.INSERT", "fully", "NOGROW", "FIELDS", "one", "more")
    client("MAP.INSERT", "inserted", "RAW", 12, "FIELDS", *(x for i in range(900) for x in (f"l{i}", i)))
    client("MAP.REMOVE", "inserted", "DROPEMPTY", "FIELDS", *range(100))
    client("MAP.COMPRESS", "grown")


class Maps(Kept, Case):
    family, load = "map", "BLOOMERY.MAP.LOAD"
    keys, lasting = KEYS, "joined"
    fill, go_on, answers = staticmethod(fill), staticmethod(go_on), staticmethod(answers)
    new = (["MAP.SET", "k", "a", "1"],)
    asked, absent = ["MAP.GET", "k", "a"], [None]
    others = {"bloomery.map-error": "10%", "bloomery.map-capacity": "77"}

    def change(self, key):
        self.client("MAP.DEL", key, 1, "k1")
        self.client("MAP.INSERT", key, "XX", "FIELDS", "a", "5")

    def large(self):
        self.client("MAP.SET", "of the primary's settings", "a", "1")
        self.client("MAP.SET", "large", *(x for i in range(30000) for x in (i, i)))
        return ["large"]

    def test_effects_are_logged(self):
        """Of MAP.INSERT and MAP.REMOVE only effects that every node repeats in the same way."""
        start = len(self.log())
        self.client("MAP.INSERT", "i", "SEED", 5, "FIELDS", "a", "1")
        self.client("MAP.REMOVE", "i", "DROPEMPTY", "FIELDS", "a")
        said = self.log()[start:]
        for word, times in ((b"MAP.CREATE", 1), (b"MAP.SET", 1), (b"MAP.DEL", 1), (b"\r\nDEL\r\n", 1),
                            (b"MAP.INSERT", 0), (b"MAP.REMOVE", 0)):
            self.assertEqual(said.count(word), times, word)

    def test_existing_only_is_logged_as_it_is(self):
        self.client("MAP.SET", "m", "a", "1")
        start = len(self.log())
        self.client("MAP.INSERT", "m", "XX", "FIELDS", "x", "2")  # changes nothing
        self.assertEqual(len(self.log()), start)
        self.client("MAP.INSERT", "m", "XX", "FIELDS", "a", "2", "x", "2")
        self.assertEqual(self.log()[start:].count(b"MAP.INSERT\r\n$1\r\nm\r\n$2\r\nXX\r\n"), 1)
        self.restarts_as_it_is()
        self.assertEqual(self.client("MAP.GET", "m", "a", "x"), [b"2", None])


server_runner.main()

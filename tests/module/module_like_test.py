"""CREATE … LIKE other, for every family that has it: the other key is declared like the first, so
that the server routes by it and access control checks it."""

import server_runner
from cluster_case import ClusterCase
from server_runner import Case, Error

# How to make an object that another can be LIKE.
FAMILIES = {"MAP": [], "WINDOW": ["WINDOW", "1h"], "INDEX": []}


class Like(Case):
    def test_keys_are_declared(self):
        for family in FAMILIES:
            for keys, words in (
                ("z q", ["LIKE", "q"]), ("z q", ["like", "q"]), ("z LIKE", ["LIKE", "LIKE"]),
                ("z q", ["CAPACITY", 5, "LIKE", "q"]), ("z q", ["LIKE", "q", "CAPACITY", 5]),
                ("z", ["CAPACITY", 5]),
                # Incomplete commands; nothing beyond the last word may be read.
                ("z", ["CAPACITY", "LIKE"]), ("z", ["ENGINE", "auto", "LIKE"]),
                ("z q", ["ENGINE", "LIKE", "q"]), ("z q", ["LIKE", "q", "LIKE", "r"]),
                ("z q", ["LIKE", "q", "LIKE"]), ("z LIKE", ["LIKE", "LIKE", "q"]),
            ):
                command = [f"{family}.CREATE", "z", *words]
                expected = [key.encode() for key in keys.split()]
                self.assertEqual(self.client("COMMAND", "GETKEYS", *command), expected, command)
                flags = [[b"OW", b"insert"], [b"RO", b"access"]]
                self.assertEqual(self.client("COMMAND", "GETKEYSANDFLAGS", *command),
                                 [list(pair) for pair in zip(expected, flags)], command)
                if words != ["CAPACITY", 5]:
                    self.assertIsInstance(self.client.ask(*command), Error)
        for family in ("MAP", "INDEX"):  # a window needs more arguments
            self.assertEqual(self.client("COMMAND", "GETKEYS", f"{family}.CREATE", "z"), [b"z"])
            self.assertEqual(self.client("COMMAND", "GETKEYS", f"{family}.CREATE", "z", "LIKE"),
                             [b"z"])

    def test_users(self):
        """The creator must be allowed to write the new key and to read the other."""
        self.client("ACL", "SETUSER", "maker", "reset", "on", "nopass", "%W~new:*", "%R~old:*",
                    "~guard", "+@all")
        self.addCleanup(self.client, "ACL", "DELUSER", "maker")
        maker = self.connect()
        maker("AUTH", "maker", "x")
        self.client("ONCE.CREATE", "guard", "WINDOW", "1h")
        for family, options in FAMILIES.items():
            create = f"{family}.CREATE"
            for key in ("old:", "secret:"):
                self.client(create, key + family, *options)
            old, new = f"old:{family}", f"new:{family}"
            self.assertEqual(maker(create, new, "LIKE", old), b"OK")
            for key, like in ((f"new:2{family}", f"secret:{family}"), (f"new:2{family}", new),
                              (f"old:2{family}", old), (f"secret:2{family}", old)):
                for before in ([], ["ONCE", "guard", f"{key} {like}"]):
                    reply = maker.ask(*before, create, key, "LIKE", like)
                    self.assertIsInstance(reply, Error, (key, like))
                    self.assertEqual(reply.word, "NOPERM")
                self.assertEqual(self.client("EXISTS", key), 0)
            self.assertEqual(maker("ONCE", "guard", family, create, f"new:3{family}", "LIKE", old),
                             [1, b"OK"])


class LikeInCluster(ClusterCase):
    def test_slots(self):
        for family, options in FAMILIES.items():
            create, old = f"{family}.CREATE", f"{{a}}{family}"
            self.client(create, old, *options)
            self.assertEqual(self.client(create, f"{old}2", "LIKE", old), b"OK")
            self.refused("CROSSSLOT", create, "{b}z", "LIKE", old)
            self.refused("CROSSSLOT", create, "{a}z", "LIKE", "{b}none")
            self.refused("CROSSSLOT", "ONCE", "{a}guard", 1, create, "{a}z", "LIKE", "{b}none")


server_runner.main()

"""Commands at random, with odd arguments, on every family: the server must live, an error must leave
the data as it is, and a replica and a restart must come to the same data.

    PROGRAM SERVER MODULE [PRELOAD]      4,000 commands; more with BLOOMERY_FUZZ_COMMANDS=n
"""

import os
import random
import sys

import server_runner
from server_runner import Case, Client, Error, Server, pairs

COMMANDS = int(os.environ.get("BLOOMERY_FUZZ_COMMANDS", "4000"))
SEED = int(os.environ.get("BLOOMERY_FUZZ_SEED", "1"))

KEYS = ["m1", "m2", "m3", "m4", "text", "none", b"\0", ""]
ODD = ["", "0", "-1", "1", "2", "7", "100", "1e3", "0.01", "1%", "1.5", "nan", "inf", "-0", "1e999",
       "9223372036854775807", "18446744073709551615", "18446744073709551616", "2^20", "60s", "1h",
       "64mb", "x", "\r\n", b"\xff\xfe", b"\0", "a" * 300, b"v" * 66000, "auto", "kbf", "compact"]
# Errors after which an object may differ: the library counts these, or a restore is given up.
COUNTED = {"FULL", "UNSURE", "BADDATA"}


def tokens_of(arguments):
    """The words that a command's documentation names."""
    for argument in map(pairs, arguments):
        if b"token" in argument:
            yield argument[b"token"]
        yield from tokens_of(argument.get(b"arguments", []))


class Fuzz(Case):
    SETTINGS = {"appendonly": "yes", "appendfsync": "no"}

    def vocabulary(self):
        commands = {}
        for name in sorted(self.client("COMMAND", "LIST", "FILTERBY", "MODULE", "bloomery")):
            docs = pairs(pairs(self.client("COMMAND", "DOCS", name))[name])
            commands[name] = list(tokens_of(docs.get(b"arguments", [])))
        return commands

    def command(self, source, commands):
        name = source.choice(list(commands))
        words = [source.choice(KEYS)] if source.random() < 0.98 else []
        for _ in range(source.choice((0, 1, 1, 2, 2, 2, 3, 4, 5, 6, 8, 130))):
            kind = source.random()
            if kind < 0.3 and commands[name]:
                words.append(source.choice(commands[name]))
            elif kind < 0.6:
                words.append(f"field {source.randrange(300)}")
            elif kind < 0.7:
                words.append(source.choice(KEYS))
            elif kind < 0.8:
                words.append(source.randrange(-3, 300))
            else:
                words.append(source.choice(ODD))
        return [name, *words]

    def test_random_commands(self):
        source = random.Random(SEED)
        commands = self.vocabulary()
        self.assertGreater(len(commands), 9)
        self.client("SET", "text", "not ours")
        with Server(**{"bloomery.map-capacity": "50"}) as other:
            other.client("REPLICAOF", "127.0.0.1", self.server.port)
            refused = done = 0
            for number in range(COMMANDS):
                if source.random() < 0.01:
                    self.client("DEL", source.choice(KEYS[:4]))
                command = self.command(source, commands)
                before = self.client("DEBUG", "DIGEST")
                reply = self.client.ask(*command)
                if isinstance(reply, Error):
                    refused += 1
                    self.assertNotIn(reply.word, ("", "UNKNOWN"), command)
                    if reply.word not in COUNTED and "would pass 64 bits" not in str(reply):
                        self.assertEqual(self.client("DEBUG", "DIGEST"), before,
                                         (number, command, str(reply)))
                else:
                    done += 1
            self.assertGreater(min(refused, done), COMMANDS // 20)
            self.wait_until(
                lambda: other.client.info("replication")["master_link_status"] == "up",
                "the replica is connected")
            self.assertEqual(self.client("WAIT", 1, server_runner.PATIENCE * 1000), 1)
            digest = self.client("DEBUG", "DIGEST")
            self.assertEqual(other.client("DEBUG", "DIGEST"), digest)
            self.assertEqual(other.complaints(), "")
            self.server.restart()
            self.assertEqual(self.client("DEBUG", "DIGEST"), digest)
            connection = Client(self.server.port)
            self.assertEqual(connection("PING"), b"PONG")
            connection.close()


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    server_runner.main()
